// The explorer: two subjects on one problem, step by step. Everything is built from the JSON in the
// page; texts enter as text, never as markup.
"use strict";

const explore = (place) => {
  const data = JSON.parse(document.getElementById(place.dataset.from).textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const SIZE = 320, EDGE = 26, RADIUS = 11, CELL = 12, LEAST = 0.03;

  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "g", "line", "path", "circle", "rect", "text", "title"].includes(tag);
    const made = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const options = (texts, chosen) => texts.map((text, index) => {
    const option = make("option", { value: index }, text);
    option.selected = index === chosen;
    return option;
  });
  const unpacked = new Map();
  const octets = (text) => {
    if (!unpacked.has(text)) unpacked.set(text, Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
    return unpacked.get(text);
  };

  const trained = data.subjects.findIndex((subject) => !subject.compiled);
  const state = {
    sample: 0, step: 0, head: 0, chosen: null, playing: null,
    sides: data.subjects.length > 1 ? [0, Math.max(trained, 1)] : [0],
  };
  const sample = () => data.samples[state.sample];
  const subject = (side) => data.subjects[state.sides[side]];
  const run = (side) => subject(side).runs[state.sample];

  // What a subject reads: a function of receiver and sender, from 0 to 1.
  const attention = (side) => {
    const { nodes } = sample(), { heads } = subject(side);
    const all = octets(run(side).attention), area = nodes * nodes;
    const start = (head) => (state.step * heads + head) * area;
    const at = (head, receiver, sender) => all[start(head) + receiver * nodes + sender];
    return (receiver, sender) => {
      if (state.head < heads) return at(state.head, receiver, sender) / data.levels;
      let sum = 0;
      for (let head = 0; head < heads; head++) sum += at(head, receiver, sender);
      return heads ? sum / heads / data.levels : 0;
    };
  };

  // Controls
  const problems = make("select", { class: "problem", "aria-label": "problem" },
    ...options(data.samples.map((one) => one.title), 0));
  const most = Math.max(...data.subjects.map((one) => one.heads));
  const heads = make("select", { "aria-label": "head" }, ...options(
    [...Array(most).keys()].map((head) => `head ${head + 1}`).concat("mean of heads"), 0));
  const play = make("button", { type: "button", class: "play" }, "▶ Play");
  const back = make("button", { type: "button", "aria-label": "one step back" }, "←");
  const forth = make("button", { type: "button", "aria-label": "one step on" }, "→");
  const slider = make("input", { type: "range", min: 0, value: 0, step: 1, "aria-label": "step" });
  const where = make("span", { class: "step", role: "status" });
  place.append(make("div", { class: "controls" },
    make("label", {}, "Problem", problems), ...(most > 1 ? [heads] : []),
    play, back, slider, forth, where));

  const sides = state.sides.map((chosen, side) => {
    const who = make("select", { "aria-label": side ? "right" : "left" },
      ...options(data.subjects.map((one) =>
        one.verdict ? `${one.name} – ${one.verdict}` : one.name), chosen));
    who.addEventListener("change", () => { state.sides[side] = Number(who.value); rebuild(); });
    const graph = make("svg", { class: "graph", role: "img", viewBox: `0 0 ${SIZE} ${SIZE}` });
    const matrix = make("svg", { class: "matrix", role: "img" });
    const said = make("p", {});
    const box = make("div", { class: "side" }, who, graph, matrix, said);
    return { box, graph, matrix, said, cells: [], reads: new Map() };
  });
  place.append(make("div", { class: "sides" }, ...sides.map((side) => side.box)));
  const table = make("table", { class: "variables" });
  place.append(make("div", { class: "scroll" }, table));

  const spot = (node) => sample().places[node].map((part) => EDGE + part * (SIZE - 2 * EDGE));

  // From the sender to the receiver, bent a little, so that both directions are seen.
  const curve = (sender, receiver) => {
    const [ax, ay] = spot(sender), [bx, by] = spot(receiver);
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const bend = Math.min(18, length * 0.12);
    const [mx, my] = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
    const [ex, ey] = [bx - ux * (RADIUS + 2) - uy * 3, by - uy * (RADIUS + 2) + ux * 3];
    const tip = 5, wing = 3;
    return `M${ax} ${ay}Q${mx} ${my} ${ex} ${ey}` +
      `M${ex - ux * tip - uy * wing} ${ey - uy * tip + ux * wing}L${ex} ${ey}` +
      `L${ex - ux * tip + uy * wing} ${ey - uy * tip - ux * wing}`;
  };

  const choose = (node) => { state.chosen = state.chosen === node ? null : node; update(); };

  const rebuild = () => {
    const { nodes, edges, steps } = sample();
    state.step = Math.min(state.step, steps - 1);
    if (state.chosen !== null && state.chosen >= nodes) state.chosen = null;
    slider.max = steps - 1;
    sides.forEach((side, index) => {
      side.box.classList.toggle("compiled", subject(index).compiled);
      side.reads = new Map();
      side.layer = make("g");
      side.selves = [...Array(nodes).keys()].map((node) => {
        const [x, y] = spot(node);
        return make("circle", { class: "self", cx: x, cy: y, r: RADIUS + 3 });
      });
      side.nodes = [...Array(nodes).keys()].map((node) => {
        const [x, y] = spot(node);
        const circle = make("circle", { class: "node", cx: x, cy: y, r: RADIUS });
        circle.addEventListener("click", () => choose(node));
        const text = make("text", { x, y: y + 4 }, String(node));
        const cross = make("text", { class: "cross", x: x + RADIUS + 3, y: y - RADIUS + 3 });
        return { circle, text, cross };
      });
      side.graph.replaceChildren(
        ...edges.map(([a, b]) => {
          const [[x1, y1], [x2, y2]] = [spot(a), spot(b)];
          return make("line", { class: "edge", x1, y1, x2, y2 });
        }),
        side.layer, ...side.selves,
        ...side.nodes.flatMap(({ circle, text, cross }) => [circle, text, cross]));
      const size = nodes * CELL;
      side.matrix.setAttribute("viewBox", `-16 -14 ${size + 17} ${size + 15}`);
      side.cells = [];
      const drawn = [];
      for (let receiver = 0; receiver < nodes; receiver++) {
        for (let sender = 0; sender < nodes; sender++) {
          const cell = make("rect", { class: "cell", x: sender * CELL, y: receiver * CELL,
            width: CELL - 0.6, height: CELL - 0.6, "data-receiver": receiver, "data-sender": sender });
          cell.addEventListener("pointerenter", () => tell(index, receiver, sender));
          cell.addEventListener("click", () => choose(receiver));
          side.cells.push(cell);
          drawn.push(cell);
        }
      }
      side.row = make("rect", { class: "row", x: -0.5, width: size, height: CELL });
      const numbers = [...Array(nodes).keys()].flatMap((node) => [
        make("text", { x: -4, y: node * CELL + 9, "text-anchor": "end" }, String(node)),
        make("text", { x: node * CELL + CELL / 2, y: -4, "text-anchor": "middle" }, String(node))]);
      side.matrix.replaceChildren(
        make("rect", { class: "frame", x: -0.5, y: -0.5, width: size, height: size }),
        ...drawn, side.row, ...numbers);
      side.graph.setAttribute("aria-label", `graph: what ${subject(index).name} reads`);
      side.matrix.setAttribute("aria-label", `attention of ${subject(index).name}, reader by read`);
    });
    buildTable();
    update();
  };

  const tell = (side, receiver, sender) => {
    const weight = attention(side)(receiver, sender);
    sides[side].said.textContent = `node ${receiver} reads node ${sender}: ${weight.toFixed(2)}`;
  };

  const SIGNS = { mask: ["·", "●"], mask_one: ["·", "●"] };
  const shown = (variable, value) => SIGNS[variable.kind]?.[value] ?? String(value);
  const atNodes = data.variables.filter((variable) => variable.where === "node");
  const atGraph = data.variables.filter((variable) => variable.where === "graph");

  const buildTable = () => {
    const names = ["reference", ...sides.map((_, side) => subject(side).name)];
    const inputs = Object.entries(sample().inputs);
    const top = make("tr", {}, make("th", { scope: "col" }, "node"));
    const below = make("tr", {}, make("th"));
    for (const [name] of inputs) {
      top.append(make("th", { class: "group", scope: "col" }, name));
      below.append(make("th", { scope: "col" }, "input"));
    }
    for (const variable of atNodes) {
      top.append(make("th", { class: "group", scope: "colgroup", colspan: names.length },
        variable.name));
      below.append(...names.map((name) => make("th", { scope: "col" }, name)));
    }
    const body = make("tbody");
    for (let node = 0; node < sample().nodes; node++) {
      const row = make("tr", {}, make("td", {}, String(node)));
      row.append(...inputs.map(([, values]) => make("td", {}, String(values[node]))));
      for (let cell = 0; cell < names.length * atNodes.length; cell++) row.append(make("td"));
      row.addEventListener("click", () => choose(node));
      body.append(row);
    }
    for (const variable of atGraph) {
      const row = make("tr", { class: "whole" }, make("td", {}, variable.name));
      row.append(...inputs.map(() => make("td")), ...names.map(() => make("td")));
      body.append(row);
    }
    table.replaceChildren(make("thead", {}, top, below), body);
  };

  const fill = (cell, text, wrong) => {
    cell.textContent = text;
    cell.classList.toggle("wrong", Boolean(wrong));
  };

  const update = () => {
    const { nodes, steps, truth } = sample(), step = state.step;
    slider.value = step;
    where.textContent = `step ${step + 1} of ${steps}`;
    slider.setAttribute("aria-valuetext", where.textContent);
    const mask = atNodes.find((variable) => variable.kind === "mask");
    sides.forEach((side, index) => {
      const weight = attention(index), { said, wrong } = run(index);
      const used = new Set();
      side.cells.forEach((cell) => {
        const [receiver, sender] = [Number(cell.dataset.receiver), Number(cell.dataset.sender)];
        const own = weight(receiver, sender), faded = state.chosen ?? receiver;
        cell.dataset.weight = own.toFixed(4);
        cell.setAttribute("fill-opacity", own);
        if (receiver === sender || own < LEAST) return;
        const name = `${sender}-${receiver}`;
        used.add(name);
        if (!side.reads.has(name)) {
          const path = make("path", { class: "read", d: curve(sender, receiver) });
          side.reads.set(name, path);
          side.layer.append(path);
        }
        const path = side.reads.get(name);
        path.setAttribute("stroke-opacity", faded === receiver ? own : own * 0.08);
        path.setAttribute("stroke-width", 0.6 + 2.6 * own);
      });
      for (const [name, path] of side.reads) {
        if (!used.has(name)) path.setAttribute("stroke-opacity", 0);
      }
      for (let node = 0; node < nodes; node++) {
        const self = weight(node, node), { circle, text, cross } = side.nodes[node];
        const fade = (state.chosen ?? node) === node ? 1 : 0.08;
        side.selves[node].setAttribute("stroke-opacity", self * fade);
        side.selves[node].setAttribute("stroke-width", 0.6 + 3 * self);
        const off = atNodes.some((variable) => wrong[variable.name][step][node]);
        const on = mask ? said[mask.name][step][node] === 1 : false;
        circle.classList.toggle("marked", on);
        text.classList.toggle("marked", on);
        circle.classList.toggle("wrong", off);
        circle.classList.toggle("chosen", state.chosen === node);
        cross.textContent = off ? "✗" : "";
      }
      side.row.setAttribute("visibility", state.chosen === null ? "hidden" : "visible");
      side.row.setAttribute("y", (state.chosen ?? 0) * CELL - 0.5);
      const count = atNodes.reduce((sum, variable) =>
        sum + wrong[variable.name][step].reduce((a, b) => a + b, 0), 0);
      side.said.textContent = !atNodes.length ? "" : count ? `✗ ${count} of ${nodes * atNodes.length} variables wrong`
        : "all variables as in the trace";
    });
    const rows = [...table.tBodies[0].rows];
    const first = 1 + Object.keys(sample().inputs).length, each = 1 + sides.length;
    for (let node = 0; node < nodes; node++) {
      rows[node].classList.toggle("chosen", state.chosen === node);
      atNodes.forEach((variable, at) => {
        const cells = rows[node].cells, name = variable.name;
        fill(cells[first + each * at], shown(variable, truth[name][step][node]), false);
        sides.forEach((_, side) => fill(cells[first + each * at + 1 + side],
          shown(variable, run(side).said[name][step][node]), run(side).wrong[name][step][node]));
      });
    }
    atGraph.forEach((variable, at) => {
      const cells = rows[nodes + at].cells, name = variable.name;
      fill(cells[first], shown(variable, truth[name][step][0]), false);
      sides.forEach((_, side) => fill(cells[first + 1 + side],
        shown(variable, run(side).said[name][step][0]), run(side).wrong[name][step][0]));
    });
  };

  const go = (step) => {
    state.step = Math.max(0, Math.min(sample().steps - 1, step));
    update();
  };
  const stop = () => {
    clearInterval(state.playing);
    state.playing = null;
    play.textContent = "▶ Play";
  };
  const toggle = () => {
    if (state.playing !== null) { stop(); return; }
    play.textContent = "❚❚ Pause";
    state.playing = setInterval(() => go((state.step + 1) % sample().steps), 900);
  };
  problems.addEventListener("change", () => {
    state.sample = Number(problems.value);
    state.step = 0;
    rebuild();
  });
  heads.addEventListener("change", () => { state.head = Number(heads.value); update(); });
  slider.addEventListener("input", () => go(Number(slider.value)));
  play.addEventListener("click", toggle);
  back.addEventListener("click", () => go(state.step - 1));
  forth.addEventListener("click", () => go(state.step + 1));
  place.tabIndex = 0;
  place.addEventListener("keydown", (event) => {
    const tag = event.target.tagName;
    if (tag === "SELECT" || (tag === "BUTTON" && event.key === " ")) return;
    const act = {
      ArrowRight: () => go(state.step + 1), ArrowLeft: () => go(state.step - 1),
      Home: () => go(0), End: () => go(sample().steps - 1), " ": toggle,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  rebuild();
  place.dataset.ready = "true";
};

document.querySelectorAll(".explorer").forEach(explore);
