// The editor: a graph is drawn by pointer, by keyboard, by a form or as text. Each way ends in a
// change of `Graph`; what it cannot do it says in a sentence.
//
//   click on the ground   a new node, joined to the selected one
//   click on a node       selects it; with another one selected, joins or parts the two
//   drag a node           moves it
//   click on an edge      selects it
"use strict";

const Editor = (kind, recorded, changed) => {
  const { make, button, labelled, range } = Dom;
  const WIDE = 360, HIGH = 320, EDGE = 26, RADIUS = 13, FAR = 4, STEP = 0.05;
  let graph = null, shown = null, drawn = null, selected = null, drag = null, possible = null,
    weighed = null;
  const past = [];

  const canvas = make("svg", { class: "graph canvas", role: "group", viewBox: `0 0 ${WIDE} ${HIGH}`,
    "aria-label": "your graph: each node is a button, which Enter selects, arrows move, Delete deletes" });
  const said = make("p", { class: "said", role: "status" }, "Click on the ground for a node, on two " +
    "nodes to join or part them, on an edge to select it; drag to move.");
  const what = make("select", { "aria-label": "selected node or edge" });
  const actions = make("span", { class: "actions" });
  const family = make("select", { "aria-label": "family of graphs" },
    make("optgroup", { label: "families" }, ...Families.names.map((name) => make("option", {}, name))),
    make("optgroup", { label: "recorded" }, ...recorded.map(({ title }, index) =>
      make("option", { value: `recorded ${index}` }, title))));
  const size = make("input", { type: "number", min: kind.smallest, max: Graph.LARGEST, value: 9,
    "aria-label": "nodes of a new graph" });
  family.value = "grid";
  const written = make("textarea", { rows: 3, spellcheck: "false", "aria-label": "the graph as text" });

  const tell = (text, isFault = false) => {
    said.classList.toggle("fault", isFault);
    said.textContent = text;
  };

  // Does what `change` gives, or says why it cannot be.
  const attempt = (change, told = "") => {
    try {
      const next = change();
      if (!next) return;
      past.push(graph);
      set(next);
      tell(told);
      changed(graph);
    } catch (error) {
      if (!(error instanceof Graph.GraphError)) throw error;
      tell(error.message, true);
    }
  };

  const set = (next) => {
    graph = next;
    const gone = selected && (selected.node >= graph.n || (selected.edge &&
      (Math.max(...selected.edge) >= graph.n || !Graph.weight(graph, ...selected.edge))));
    if (gone) selected = null;
  };

  const select = (what_) => { selected = what_; draw(); };
  const isNode = (node) => selected?.node === node;
  const isEdge = (a, b) => selected?.edge?.[0] === a && selected.edge[1] === b;
  const arrow = kind.directed ? "→" : "–";

  // Changes
  const newWeight = () => (kind.weighted
    ? Number((kind.least + (kind.most - kind.least) * Math.max(0.1, Math.random())).toPrecision(2)) : 1);
  const join = (a, b) => {
    const gone = Graph.weight(graph, a, b) !== 0;
    attempt(() => Graph.withEdge(graph, kind, a, b, gone ? 0 : newWeight()),
      `${a} ${arrow} ${b} ${gone ? "parted" : "joined"}.`);
  };
  const addNode = (place) => attempt(() => {
    const from = selected?.node, more = Graph.withNode(graph, place), node = more.n - 1;
    if (from === undefined) return more;
    const joined = Graph.withEdge(more, kind, from, node, newWeight());
    selected = { node };
    return joined;
  }, `Node ${graph.n} added.`);
  const removeSelected = () => {
    if (selected?.node !== undefined) {
      const { node } = selected;
      attempt(() => {
        const less = Graph.withoutNode(graph, node, kind);
        selected = null;
        return less;
      }, `Node ${node} deleted; nodes after it have moved up by one.`);
    } else if (selected?.edge) {
      const [a, b] = selected.edge;
      attempt(() => Graph.withEdge(graph, kind, a, b, 0), `${a} ${arrow} ${b} parted.`);
    }
  };
  const makeSource = (node) => {
    if (kind.source) attempt(() => Graph.withSource(graph, node), `Node ${node} is the source.`);
  };
  const press = (node) => {
    if (isNode(node)) select(null);
    else if (selected?.node !== undefined) {
      const from = selected.node;
      selected = null;
      join(from, node);
    } else select({ node });
  };
  const undo = () => {
    if (!past.length) return;
    set(past.pop());
    tell("Undone.");
    changed(graph);
  };

  // Pointer
  const spot = ([x, y]) => [EDGE + x * (WIDE - 2 * EDGE), EDGE + y * (HIGH - 2 * EDGE)];
  const placeOf = ({ clientX, clientY }) => {
    const point = new DOMPoint(clientX, clientY).matrixTransform(canvas.getScreenCTM().inverse());
    return [(point.x - EDGE) / (WIDE - 2 * EDGE), (point.y - EDGE) / (HIGH - 2 * EDGE)];
  };
  const hit = (target) => {
    const { node, edge } = target.closest?.("[data-node], [data-edge]")?.dataset ?? {};
    if (node !== undefined) return { node: Number(node) };
    return edge === undefined ? null : { edge: edge.split(" ").map(Number) };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { from: [event.clientX, event.clientY], hit: hit(event.target), far: false, before: graph };
    if (drag.hit?.node !== undefined) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag?.hit?.node === undefined) return;
    const [x, y] = drag.from;
    drag.far ||= Math.hypot(event.clientX - x, event.clientY - y) > FAR;
    if (!drag.far) return;
    set(Graph.moved(graph, drag.hit.node, placeOf(event)));
    changed(graph);
  });
  canvas.addEventListener("pointerup", (event) => {
    const was = drag;
    drag = null;
    if (!was) return;
    if (was.far) past.push(was.before);
    else if (was.hit?.node !== undefined) press(was.hit.node);
    else if (was.hit) select(isEdge(...was.hit.edge) ? null : was.hit);
    else addNode(placeOf(event).map((part) => Math.min(1, Math.max(0, part))));
  });
  canvas.addEventListener("pointercancel", () => {
    if (drag?.far) past.push(drag.before);
    drag = null;
  });

  // Keyboard, on a node; the page's own keys do not get what is done here.
  const KEYS = {
    Enter: (node) => press(node), " ": (node) => press(node), s: makeSource,
    Delete: (node) => { selected = { node }; removeSelected(); },
    Backspace: (node) => KEYS.Delete(node),
    Escape: () => select(null),
    ArrowLeft: (node) => nudge(node, -STEP, 0), ArrowRight: (node) => nudge(node, STEP, 0),
    ArrowUp: (node) => nudge(node, 0, -STEP), ArrowDown: (node) => nudge(node, 0, STEP),
  };
  const nudge = (node, dx, dy) => {
    const [x, y] = graph.places[node];
    attempt(() => Graph.moved(graph, node, [x + dx, y + dy]));
  };
  canvas.addEventListener("keydown", (event) => {
    const node = hit(event.target)?.node;
    if ((event.ctrlKey || event.metaKey) && event.key === "z") undo();
    else if (node !== undefined && Object.hasOwn(KEYS, event.key)) KEYS[event.key](node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // The form: made anew where something else can be done, so that what is written, chosen or focused
  // stays while steps are played.
  const weight = make("input", { type: "number", step: "any", min: 0, "aria-label": "weight" });
  weight.addEventListener("change", () => {
    if (!selected?.edge) return; // It was parted while its weight was written.
    const [a, b] = selected.edge;
    attempt(() => Graph.withEdge(graph, kind, a, b, Graph.weightOf(weight.value)),
      `${a} ${arrow} ${b} has another weight.`);
  });
  const drawActions = () => {
    const now = JSON.stringify([selected, graph.n, kind.source && graph.s === selected?.node]);
    if (now !== possible) {
      Dom.keepingFocus(actions, () => what, makeActions);
      [possible, weighed] = [now, null];
    }
    const own = selected?.edge ? Graph.weight(graph, ...selected.edge) : null;
    if (own !== weighed) weight.value = Number(own.toPrecision(4));
    weighed = own;
  };
  const makeActions = () => {
    const parts = [];
    if (selected?.node !== undefined) {
      const { node } = selected;
      if (kind.source && graph.s !== node) parts.push(button("Make it the source", () => makeSource(node)));
      const others = range(graph.n).filter((other) => other !== node);
      if (others.length) {
        const other = make("select", { "aria-label": "the other node" },
          ...others.map((one) => make("option", { value: one }, `node ${one}`)));
        parts.push(other, button("Join or part", () => join(node, Number(other.value))));
      }
      parts.push(button("Delete node", removeSelected));
    } else if (selected?.edge) {
      if (kind.weighted) parts.push(labelled("weight", weight));
      parts.push(button("Delete edge", removeSelected));
    } else parts.push(button("Add node", () => addNode([0.1 + 0.8 * Math.random(), 0.1 + 0.8 * Math.random()])));
    actions.replaceChildren(...parts);
  };
  const drawChoice = () => {
    const choices = [null, ...range(graph.n).map((node) => ({ node })),
      ...Graph.edges(graph, kind).map(({ a, b }) => ({ edge: [a, b] }))];
    const name = (choice) => {
      if (!choice) return "nothing selected";
      if (choice.edge) return `edge ${choice.edge.join(` ${arrow} `)}`;
      return `node ${choice.node}${kind.source && graph.s === choice.node ? ", the source" : ""}`;
    };
    Dom.choices(what, choices.map(name),
      choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(selected)));
    what.onchange = () => select(choices[Number(what.value)]);
  };

  // The picture: edges, above them what the algorithm points to at this step, weights and nodes.
  const line = (a, b, { bend = 0, tip = false } = {}) => {
    const [[ax, ay], [bx, by]] = [spot(graph.places[a]), spot(graph.places[b])];
    if (a === b) return `M${ax - 7} ${ay - 9}C${ax - 22} ${ay - 36} ${ax + 22} ${ay - 36} ${ax + 7} ${ay - 9}`;
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const [mx, my] = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
    const [ex, ey] = [bx - ux * (RADIUS + 3) - uy * bend * 0.25, by - uy * (RADIUS + 3) + ux * bend * 0.25];
    const head = tip ? `M${ex - ux * 7 - uy * 4} ${ey - uy * 7 + ux * 4}L${ex} ${ey}` +
      `L${ex - ux * 7 + uy * 4} ${ey - uy * 7 - ux * 4}` : "";
    return `M${ax} ${ay}Q${mx} ${my} ${tip ? `${ex} ${ey}` : `${bx} ${by}`}${head}`;
  };
  const drawEdge = ({ a, b }) => {
    const both = kind.directed && a !== b && Graph.weight(graph, b, a) !== 0;
    const d = line(a, b, { bend: both ? 14 : 0, tip: kind.directed && a !== b });
    return make("g", { class: isEdge(a, b) ? "link selected" : "link", "data-edge": `${a} ${b}` },
      make("path", { class: "edge", d }), make("path", { class: "grip", d }));
  };
  const drawWeight = ({ a, b, weight }) => {
    const [[ax, ay], [bx, by]] = [spot(graph.places[a]), spot(graph.places[b])];
    const isBent = kind.directed && Graph.weight(graph, b, a) !== 0;
    const length = Math.hypot(bx - ax, by - ay) || 1, off = isBent ? 11 : 0;
    const [x, y] = [(ax + bx) / 2 - (by - ay) / length * off, (ay + by) / 2 + (bx - ax) / length * off];
    return make("text", { class: "weight", x, y: a === b ? ay - 28 : y + 3 },
      String(Number(weight.toPrecision(2))));
  };
  const drawNode = (node) => {
    const [x, y] = spot(graph.places[node]), isSource = kind.source && graph.s === node;
    const joined = range(graph.n).filter((other) => other !== node && Graph.weight(graph, node, other));
    const parts = [make("circle", { class: "node", cx: x, cy: y, r: RADIUS }), make("text", { x, y: y + 4 }, String(node))];
    if (isSource) parts.unshift(make("circle", { class: "source", cx: x, cy: y, r: RADIUS + 4 }));
    const mark = shown?.marks[node] ?? "";
    const label = `node ${node}${isSource ? ", the source" : ""}${mark ? `, ${mark}` : ""}, ` +
      (joined.length ? `joined to ${joined.join(", ")}` : "joined to nobody");
    return make("g", { tabindex: 0, role: "button", "data-node": node, "aria-label": label,
      "aria-pressed": String(isNode(node)),
      class: `knot ${isNode(node) ? "selected" : ""} ${mark}` }, ...parts);
  };
  const draw = () => {
    const focused = canvas.contains(document.activeElement) ? document.activeElement.dataset.node : null;
    const pointers = (shown?.pointers ?? []).filter(([a, b]) => a !== b && a < graph.n && b < graph.n);
    const edges = Graph.edges(graph, kind);
    canvas.replaceChildren(
      ...edges.map(drawEdge),
      ...pointers.map(([a, b]) => make("path", { class: "pointer", d: line(a, b, { tip: true }) })),
      ...(kind.weighted ? edges.map(drawWeight) : []),
      ...range(graph.n).map(drawNode));
    if (focused != null) canvas.querySelector(`[data-node="${Math.min(focused, graph.n - 1)}"]`)?.focus();
    drawChoice();
    drawActions();
    if (document.activeElement !== written) written.value = Graph.text(graph, kind);
    if (!past.length && document.activeElement === back) what.focus();
    back.disabled = !past.length;
    drawn = graph;
  };

  const back = button("Undo", undo, { class: "undo" });
  const fresh = button("Draw it", () => attempt(() => {
    const known = recorded[family.value.split("recorded ")[1]];
    const n = Number(size.value);
    if (!known && !(Number.isInteger(n) && n >= kind.smallest && n <= Graph.LARGEST)) {
      throw new Graph.GraphError(
        `nodes: got ${size.value || "nothing"}, needed a whole number from ${kind.smallest} to ${Graph.LARGEST}`);
    }
    selected = null;
    return known?.graph ?? Families.draw(family.value, kind, n, Families.generator(2 ** 32 * Math.random()));
  }, "Drawn."));
  const box = make("div", { class: "editor" },
    make("div", { class: "tools" }, family, labelled("nodes", size), fresh, back),
    canvas, said,
    make("div", { class: "tools" }, what, actions),
    make("details", { class: "as-text" }, make("summary", {}, "As text"), written,
      button("Use this text", () => attempt(() => {
        const read = Graph.parse(written.value, kind);
        selected = null;
        return read;
      }, "Read."))));

  return {
    box, written,
    // The graph, with how the algorithm has marked nodes at this step, and what it points to.
    show: (next, algorithm) => {
      const isDrawn = drawn === next && JSON.stringify(algorithm) === JSON.stringify(shown);
      set(next);
      shown = algorithm;
      if (!isDrawn) draw();
    },
    // As if the reader had drawn it, with a sentence on where it comes from.
    take: (next, told) => attempt(() => next, told),
  };
};
