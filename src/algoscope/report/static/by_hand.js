// The form for interventions by hand: heads off, pinned readings, states from another run.
"use strict";

const ByHand = (changed, keep) => {
  const { make, button, labelled, range } = Dom;
  const off = new Map();
  let pins = [], exchanges = [], size = 0, subjects = [];

  const numbers = (label) => make("select", { "aria-label": label });
  const heads = make("div", { class: "heads" });
  const [pinned, sender] = [numbers("node whose reading is pinned"), numbers("node that it reads")];
  const [node, step, donor] = [numbers("node whose state is exchanged"), numbers("step"),
    numbers("the other run")];
  const list = make("ul", { class: "active" }), effect = make("div", { class: "effect", role: "status" });
  const preview = make("svg", { class: "preview", role: "img", viewBox: "0 0 120 84" });
  const exchange = make("div", { class: "tools" });
  let donors = [];

  const part = (title, text, ...content) => make("fieldset", {}, make("legend", {}, title),
    make("p", { class: "muted small" }, text), ...content);
  const summary = make("summary", {}, "Intervene by hand");
  const box = make("details", { class: "hands" }, summary,
    make("div", { class: "parts" },
      part("Switch heads off", "A head that is off reads nothing.", heads),
      part("Pin a reading", "In every head, and in the compiled program as well.",
        make("div", { class: "tools" }, labelled("node", pinned), labelled("reads only node", sender),
          button("Pin", () => {
            const [receiver, from] = [Number(pinned.value), Number(sender.value)];
            pins = [...pins.filter((pin) => pin.receiver !== receiver), { receiver, sender: from }];
            change();
          }))),
      part("Exchange a state", "What a node keeps, taken from another run: its hidden state and the " +
        "hints that were fed back.", exchange, preview)),
    list, effect);

  const change = () => { drawHeads(); drawList(); changed(); };
  const clear = () => {
    off.clear();
    [pins, exchanges] = [[], []];
    change();
  };

  const drawList = () => {
    const one = (text, remove) => make("li", {}, text, button("Remove", () => { remove(); change(); },
      { "aria-label": `Remove: ${text}` }));
    const items = [
      ...[...off].flatMap(([name, which]) => [...which].map((head) =>
        one(`${name} without head ${head + 1}`, () => which.delete(head)))),
      ...pins.map((pin) => one(`node ${pin.receiver} reads only node ${pin.sender}`, () => {
        pins = pins.filter((other) => other !== pin);
      })),
      ...exchanges.map((given) => one(`before step ${given.step + 1}, node ${given.node} has its state in ${
        given.donor.title}`, () => { exchanges = exchanges.filter((other) => other !== given); })),
    ];
    if (items.length > 1) items.push(make("li", {}, button("Remove all", clear)));
    Dom.keepingFocus(list, () => list.querySelector("button") ?? summary, () => list.replaceChildren(...items));
  };

  const drawHeads = () => Dom.keepingFocus(heads, () => summary, () => heads.replaceChildren(
    ...subjects.map(({ name, count, attends }) => {
      if (!attends) {
        return make("p", {}, `${name} has no heads: it takes the strongest message in each channel.`);
      }
      const which = off.get(name) ?? new Set();
      const toggles = range(count).map((head) => button(`head ${head + 1}`, () => {
        if (!which.delete(head)) which.add(head);
        off.set(name, which);
        change();
      }, { "aria-pressed": String(!which.has(head)), "aria-label": `head ${head + 1} of ${name}` }));
      return make("div", { class: "tools" }, make("span", {}, name), ...toggles);
    })));

  const drawPreview = () => {
    const { graph } = donors[Number(donor.value)] ?? {};
    preview.toggleAttribute("hidden", !graph);
    if (!graph) return;
    const at = (place) => [10 + place[0] * 100, 10 + place[1] * 64];
    preview.setAttribute("aria-label", `the other run's graph: ${donors[Number(donor.value)].title}`);
    preview.replaceChildren(
      ...Graph.joined(graph).map(([a, b]) => {
        const [[x1, y1], [x2, y2]] = [at(graph.places[a]), at(graph.places[b])];
        return make("line", { class: "edge", x1, y1, x2, y2 });
      }),
      ...graph.places.map((place, each) => {
        const [cx, cy] = at(place);
        return make("circle", { class: each === Number(node.value) ? "node chosen" : "node", cx, cy, r: 4.5 });
      }));
  };
  node.addEventListener("change", drawPreview);
  donor.addEventListener("change", drawPreview);

  const choose = (select, texts, first = 0) => {
    const before = select.value;
    select.replaceChildren(...texts.map((text, index) => make("option", { value: index + first }, text)));
    if (Number(before) - first < texts.length && before !== "") select.value = before;
  };

  const keepThis = button("Keep this graph as another run", keep);
  const doExchange = button("Exchange", () => {
    const given = { step: Number(step.value), node: Number(node.value), donor: donors[Number(donor.value)] };
    exchanges = [...exchanges.filter((other) => other.step !== given.step || other.node !== given.node), given];
    change();
  });

  // For a problem of n nodes and these steps, with runs of the same size to take states from.
  const rebuild = ({ n, steps, runs, subjects: given }) => {
    if (size && size !== n) [pins, exchanges] = [[], []];
    exchanges = exchanges.filter((given) => given.step < steps);
    size = n;
    const before = donors[Number(donor.value)];
    donors = runs;
    for (const select of [pinned, sender, node]) choose(select, range(n).map(String));
    choose(step, range(steps - 1).map((each) => String(each + 2)), 1);
    donor.replaceChildren(...Dom.options(donors.map(({ title }) => title), donors.indexOf(before)));
    const why = steps < 2 ? "This run has a single step, before which nobody keeps anything."
      : donors.length ? "" : "There is no other run of this size to take a state from.";
    const controls = why ? [make("span", {}, why)] : [
      labelled("node", node), labelled("before step", step), labelled("as in", donor), doExchange];
    Dom.keepingFocus(exchange, () => summary, () => exchange.replaceChildren(...controls, keepThis));
    subjects = given;
    drawHeads();
    drawList();
    drawPreview();
  };

  return {
    box, rebuild,
    tell: (sentences) => effect.replaceChildren(...sentences.map((text) => make("p", {}, text))),
    headsOff: (name) => off.get(name) ?? new Set(),
    // Whether the algorithm itself would go another way.
    isChanged: () => pins.length + exchanges.length > 0,
    isActive: (name) => pins.length + exchanges.length + (off.get(name)?.size ?? 0) > 0,
    pins: () => pins, exchanges: () => exchanges,
  };
};
