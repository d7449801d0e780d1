// Elements of the page, made from tags, attributes and texts; texts enter as text, never as markup.
"use strict";

const Dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const DRAWN = new Set(["svg", "g", "line", "path", "circle", "rect", "text"]);

  const make = (tag, attributes = {}, ...children) => {
    const made = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  // Options of a choice, by number.
  const options = (texts, chosen) => texts.map((text, index) => {
    const option = make("option", { value: index }, text);
    option.selected = index === chosen;
    return option;
  });

  // Gives a choice other options, where they are others.
  const choices = (select, texts, chosen) => {
    const isSame = select.options.length === texts.length
      && texts.every((text, index) => select.options[index].text === text);
    if (!isSame) select.replaceChildren(...options(texts, chosen));
    select.value = chosen;
  };

  const button = (text, act, attributes = {}) => {
    const made = make("button", { type: "button", ...attributes }, text);
    made.addEventListener("click", act);
    return made;
  };

  const labelled = (text, control) => make("label", {}, text, control);

  // Does what changes the controls of a box. Where the focus was in it, it is afterwards on the control
  // that has the same name, or else on that of `otherwise()`, so that who has no mouse goes on there.
  const keepingFocus = (box, otherwise, change) => {
    const name = (control) => control.ariaLabel ?? control.textContent;
    const focused = box.contains(document.activeElement) ? document.activeElement : null;
    change();
    if (!focused || focused === document.activeElement) return;
    const same = [...box.querySelectorAll("button, select, input")].find((one) => name(one) === name(focused));
    (same ?? otherwise()).focus();
  };

  const range = (count) => Array.from({ length: count }, (_, k) => k);

  return { make, options, choices, button, labelled, keepingFocus, range };
})();
