// Who reads what, layer by layer: tokens as readers, a graph as what is read. Everything is built
// from the JSON in the page; texts enter as text, never as markup.
"use strict";

const showReading = (place) => {
  const data = JSON.parse(document.getElementById(place.dataset.from).textContent);
  const SVG = "http://www.w3.org/2000/svg", DRAWN = new Set(["svg", "circle", "path", "text"]);
  const WIDE = 360, HIGH = 230, EDGE = 34, RADIUS = 14, LEAST = 0.02, MOST = 3;
  const make = (tag, attributes = {}, ...children) => {
    const made = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const option = (text, value) => make("option", { value }, text);
  const octets = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const items = data.items.map((item) => ({
    ...item, attention: octets(item.attention), pairs: item.pairs && octets(item.pairs),
  }));
  const state = { item: 0, layer: 0, head: -1, reader: 0, playing: null };
  const item = () => items[state.item];

  // Shares of attention, from 0 to 1; head -1 is the mean of all.
  const share = (reader, node) => {
    const { attention, heads, readers, names } = item();
    const at = (head) => attention[
      ((state.layer * heads + head) * readers.length + reader) * names.length + node];
    if (state.head >= 0) return at(state.head) / data.levels;
    let sum = 0;
    for (let head = 0; head < heads; head++) sum += at(head);
    return sum / heads / data.levels;
  };
  const pairShare = (reader, a, b) => {
    const { pairs, readers, names } = item(), n = names.length;
    return pairs ? pairs[((state.layer * readers.length + reader) * n + a) * n + b] / data.levels : 0;
  };
  // The pairs that are read most, in words.
  const readPairs = (reader) => {
    const { pairs, names } = item();
    if (!pairs) return [];
    const all = names.flatMap((one, a) => names.map((other, b) => [pairShare(reader, a, b), one, other]));
    const most = all.sort(([one], [other]) => other - one).slice(0, MOST);
    return [`pairs read most: ${most.map(([own, a, b]) => `${a} → ${b} ${own.toFixed(2)}`).join(", ")}`];
  };
  const short = (value) => (value >= 0.995 ? "1" : value.toFixed(2).slice(1));

  const problems = make("select", { "aria-label": "problem" },
    ...items.map((one, index) => option(one.title, index)));
  const heads = make("select", { "aria-label": "head" });
  const play = make("button", { type: "button", class: "play" }, "▶ Play");
  const back = make("button", { type: "button", "aria-label": "one layer back" }, "←");
  const forth = make("button", { type: "button", "aria-label": "one layer on" }, "→");
  const slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "layer" });
  const where = make("span", { class: "step", role: "status" });
  const tokens = make("div", { class: "tokens", role: "group", "aria-label": "answer, token by token" });
  const rows = make("div", { class: "readers" });
  const table = make("table", { class: "variables" });
  place.append(
    make("div", { class: "controls" }, ...(items.length > 1 ? [problems] : []), heads,
      play, back, slider, forth, where),
    ...(data.choose ? [tokens] : []), rows,
    make("details", {}, make("summary", {}, "The same as a table"),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "shares of attention" },
        table)));

  const spot = (node) => {
    const [x, y] = item().places[node];
    return [EDGE + x * (WIDE - 2 * EDGE), EDGE + y * (HIGH - 2 * EDGE)];
  };
  const arrow = (a, b, bent) => {
    const [[ax, ay], [bx, by]] = [spot(a), spot(b)];
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length], bend = bent ? 10 + 0.22 * length : 0;
    const [sx, sy] = [ax + ux * RADIUS, ay + uy * RADIUS];
    const [ex, ey] = [bx - ux * (RADIUS + 2), by - uy * (RADIUS + 2)];
    const [mx, my] = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
    const tip = item().directed || bend ? `M${ex - ux * 6 - uy * 3.5} ${ey - uy * 6 + ux * 3.5}` +
      `L${ex} ${ey}L${ex - ux * 6 + uy * 3.5} ${ey - uy * 6 - ux * 3.5}` : "";
    return `M${sx} ${sy}Q${mx} ${my} ${ex} ${ey}${tip}`;
  };

  const panel = ({ title, nodes }, reader) => {
    const { names, roles, edges, marked } = item();
    const inside = new Set(nodes), parts = [];
    for (const [a, b] of edges) {
      if (inside.has(a) && inside.has(b) && a !== b) parts.push(make("path", { class: "edge", d: arrow(a, b, false) }));
    }
    for (const a of nodes) for (const b of nodes) {
      const own = pairShare(reader, a, b);
      if (a === b || own < LEAST) continue;
      parts.push(make("path", { class: "read", d: arrow(a, b, true), "stroke-opacity": Math.min(1, 0.25 + own),
        "stroke-width": 0.8 + 3 * own }));
    }
    let total = 0;
    for (const node of nodes) {
      const [cx, cy] = spot(node), own = share(reader, node), role = roles[node];
      total += own;
      if (marked[state.layer]?.includes(node)) {
        parts.push(make("circle", { class: "mark", cx, cy, r: RADIUS + 5 }));
      }
      parts.push(
        make("circle", { class: role ? "node special" : "node", cx, cy, r: RADIUS }),
        make("circle", { class: "amount", cx, cy, r: RADIUS, "fill-opacity": own }));
      const value = own >= 0.005 ? short(own) : "";
      parts.push(make("text", { class: own > 0.5 ? "share full" : "share", x: cx, y: cy + 4 }, value),
        make("text", { class: "name", x: cx, y: cy < HIGH / 3 ? cy - RADIUS - 7 : cy + RADIUS + 14 }, role ? `${names[node]} (${role})` : names[node]));
    }
    // All that a hybrid's token reads of nodes is in its one panel.
    const summary = item().gates.length ? title : `${title}: ${total.toFixed(2)}`;
    const graph = make("svg", { class: "graph", role: "img", viewBox: `0 0 ${WIDE} ${HIGH}`,
      "aria-label": `${summary} of the attention of ${item().readers[reader].name}` }, ...parts);
    return make("div", { class: "side" }, graph, make("p", {}, summary));
  };

  const shownReaders = () => (data.choose ? [state.reader] : item().readers.map((_, index) => index));

  const draw = () => {
    const { layers, panels, names, roles, readers, gates, marked } = item();
    slider.value = state.layer;
    // Counted from 0, as in figures and tables.
    where.textContent = `layer ${state.layer}, last ${layers - 1}`;
    slider.setAttribute("aria-valuetext", where.textContent);
    rows.replaceChildren(...shownReaders().map((reader) => {
      const rest = Math.max(0, 1 - names.reduce((sum, _, node) => sum + share(reader, node), 0));
      const facts = gates.length
        ? [`gate of this layer: ${gates[state.layer].toFixed(2)}`, ...readPairs(reader)]
        : [`“${readers[reader].text}” reads`, `rest of the prompt: ${rest.toFixed(2)}`];
      return make("section", { class: "reader", "aria-label": readers[reader].name },
        make("h3", {}, readers[reader].name), make("p", { class: "muted small" }, facts.join("; ")),
        make("div", { class: panels.length > 1 ? "sides" : "sides single" },
          ...panels.map((one) => panel(one, reader))));
    }));
    if (data.mark && marked[state.layer]?.length) {
      rows.append(make("p", { class: "muted small" }, `Dashed rings: ${data.mark}.`));
    }
    const shown = shownReaders();
    const head = make("tr", {}, make("th", { scope: "col" }, "node"),
      ...shown.map((reader) => make("th", { scope: "col", class: "number" }, readers[reader].name)));
    table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...names.map((name, node) =>
      make("tr", {}, make("th", { scope: "row" }, roles[node] ? `${name} (${roles[node]})` : name),
        ...shown.map((reader) => make("td", { class: "number" }, share(reader, node).toFixed(3)))))));
    [...tokens.children].forEach((token, index) =>
      token.setAttribute("aria-pressed", String(index === state.reader)));
  };

  const rebuild = () => {
    const { layers, heads: count, readers } = item();
    slider.max = layers - 1;
    state.layer = Math.max(0, item().marked.findIndex((nodes) => nodes.length));
    // Of an answer, the first number.
    state.reader = Math.max(0, data.choose ? readers.findIndex(({ text }) => /\d/.test(text)) : 0);
    heads.replaceChildren(option("mean of heads", -1),
      ...[...Array(count).keys()].map((head) => option(`head ${head + 1}`, head)));
    heads.hidden = count < 2;
    state.head = -1;
    tokens.replaceChildren(...readers.map(({ text, name }, index) => {
      const token = make("button", { type: "button", title: name }, text);
      token.addEventListener("click", () => { state.reader = index; draw(); });
      return token;
    }));
    draw();
  };

  const go = (layer) => {
    state.layer = Math.max(0, Math.min(item().layers - 1, layer));
    draw();
  };
  const toggle = () => {
    if (state.playing !== null) {
      clearInterval(state.playing);
      state.playing = null;
    } else {
      state.playing = setInterval(() => go((state.layer + 1) % item().layers), 900);
    }
    play.textContent = state.playing === null ? "▶ Play" : "❚❚ Pause";
  };
  problems.addEventListener("change", () => { state.item = Number(problems.value); rebuild(); });
  heads.addEventListener("change", () => { state.head = Number(heads.value); draw(); });
  slider.addEventListener("input", () => go(Number(slider.value)));
  play.addEventListener("click", toggle);
  back.addEventListener("click", () => go(state.layer - 1));
  forth.addEventListener("click", () => go(state.layer + 1));
  place.tabIndex = 0;
  place.addEventListener("keydown", (event) => {
    const { tagName } = event.target;
    if (tagName === "SELECT" || (tagName === "BUTTON" && event.key === " ")) return;
    const act = {
      ArrowRight: () => go(state.layer + 1), ArrowLeft: () => go(state.layer - 1),
      Home: () => go(0), End: () => go(item().layers - 1), " ": toggle,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  rebuild();
  place.dataset.ready = "true";
};

document.querySelectorAll(".explorer.reading").forEach(showReading);
