"""What is no command: one line with what was given, what was needed, and where to read more.

tyro would answer with a box of many lines. What it found is taken from its hook, which is private:
pyproject.toml says for which version.
"""

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

from tyro import _errors as rejections

from algoscope.errors import nearest, short

Parse = Callable[[list[str]], Any]
_OPTION = re.compile(r"^[│|\s]*(?:-\w, )?(--[a-z][a-z-]*)", re.MULTILINE)
_VERB = re.compile(r"^[│|\s]*[•*] (\S+)", re.MULTILINE)
_FEW = 6
"""So many options are listed where none is near."""
_NUMBERS = {"INT": "whole number", "FLOAT": "number"}


class UsageError(ValueError):
    """The arguments are no command; the help of this one says what is."""

    def __init__(self, fault: str, command: str):
        super().__init__(f"{fault}{'' if fault.endswith('?') else ';'} see {command} --help")


class _Rejected(Exception):  # noqa: N818
    def __init__(self, event: rejections.ParseErrorEvent):
        self.event = event


def parsed(arguments: list[str], parse: Parse) -> Any:
    """What the arguments say, or a UsageError."""
    try:
        with rejections.on_parse_error(_reject):
            return parse(arguments)
    except _Rejected as rejected:
        event = rejected.event
    command = _Command(arguments, parse)
    raise UsageError(command.fault(event), command.name)


def _reject(event: rejections.ParseErrorEvent) -> None:
    raise _Rejected(event)


class _Command:
    """The verbs that the arguments begin with, and what their help lists."""

    def __init__(self, arguments: list[str], parse: Parse):
        words: list[str] = []
        self._help = _help(words, parse)
        while arguments[len(words) :] and arguments[len(words)] in self._verbs:
            words.append(arguments[len(words)])
            self._help = _help(words, parse)
        self._arguments = arguments[len(words) :]
        self.name = " ".join(("algoscope", *words))

    @property
    def _verbs(self) -> list[str]:
        return _VERB.findall(self._help)

    def fault(self, event: rejections.ParseErrorEvent) -> str:
        match event:
            case rejections.UnrecognizedArgs(tokens=tokens):
                return self._unknown(tokens)
            case rejections.MissingArgs(unrecognized_tokens=tokens) if any(
                token.startswith("-") for token in tokens
            ):
                return self._unknown(tokens)
            case rejections.MissingArgs(missing_arguments=missing):
                needed = "; ".join(f"{_name(each.arg)} ({_meaning(each.arg)})" for each in missing)
                return f"{self.name}: needed {needed}"
            case rejections.MissingSubcommand():
                return f"{self.name}: got no verb, needed {_either(self._verbs)}"
            case rejections.InvalidChoice(argument=argument, value=value, choices=choices):
                return f"{_name(argument)}: got {short(value)}, needed {_either(choices)}"
            case rejections.BadValue(argument=argument):
                return f"{_name(argument)}: got no value, needed {_needed(argument)}"
            case rejections.InstantiationFailure(argument=argument) if argument:
                given = " ".join(map(short, self._values(_name(argument))))
                return (
                    f"{_name(argument)}: got {given or 'nothing'}, needed {_needed(argument)} "
                    f"({_meaning(argument)})"
                )
        words = " ".join(map(short, self._arguments))
        return f"{self.name}: got {words}, which is no command"

    def _unknown(self, tokens: list[str]) -> str:
        option = next((token for token in tokens if token.startswith("-")), None)
        if option:
            if self._verbs:
                return f"{self.name}: got {short(option)}, needed a verb before options"
            known = _OPTION.findall(self._help)
            guess = _guess(option, known)
            if not guess and len(known) <= _FEW:
                guess = f"; there is {', '.join(known)}"
            return f"unknown option of {self.name}: {short(option)}{guess}"
        word = tokens[0]
        if self._verbs:
            guess = _guess(word, self._verbs) or f"; there is {', '.join(self._verbs)}"
            return f"unknown verb of {self.name}: {short(word)}{guess}"
        for argument in self._arguments:
            if argument.startswith("-") and argument.endswith(f"={word}"):
                option = argument.partition("=")[0]
                return f"{option}: got {short(word)}, needed no value"
        return f"{self.name}: got {short(word)}, which it does not take"

    def _values(self, option: str) -> list[str]:
        """What was given for it, as far as it can be told from the words alone."""
        values: list[str] = []
        for place, argument in enumerate(self._arguments):
            name, equals, value = argument.partition("=")
            if name.replace("_", "-") == option:
                behind = iter(self._arguments[place + 1 :])
                values = [value] if equals else [*_until_option(behind)]
        return values


def _help(words: list[str], parse: Parse) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        parse([*words, "--help"])
    return printed.getvalue()


def _until_option(words: Iterator[str]) -> Iterator[str]:
    for word in words:
        if word.startswith("--"):
            return
        yield word


def _guess(given: str, known: Any) -> str:
    names = {name.lstrip("-"): name for name in known}
    close = [names[name] for name in nearest(given.lstrip("-"), names)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _name(argument: Any) -> str:
    """As the help writes it."""
    name = argument.display_name()
    return name.rpartition(".")[2].upper() if argument.is_positional() else name


def _meaning(argument: Any) -> str:
    helptext = argument.field.helptext
    text = str((helptext() if callable(helptext) else helptext) or "")
    return " ".join(text.split()).rstrip(".")


def _needed(argument: Any) -> str:
    metavar = str(argument.lowered.metavar).removeprefix("{None}|")
    for name, words in _NUMBERS.items():
        if name in metavar:
            return f"{words}s" if "..." in metavar else f"a {words}"
    return metavar


def _either(names: Any) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
