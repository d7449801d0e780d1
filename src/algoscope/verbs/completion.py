"""`algoscope completion`: verbs and options, completed by a shell."""

import dataclasses
from typing import Literal

import tyro


@dataclasses.dataclass(frozen=True)
class Completion:
    """Print a script with which a shell completes verbs and options."""

    shell: tyro.conf.Positional[Literal["bash", "zsh", "tcsh"]]
    """bash: write it to ~/.local/share/bash-completion/completions/algoscope. zsh: to _algoscope in
    a folder of $fpath."""
