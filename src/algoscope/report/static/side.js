// One side of the explorer: what a subject reads, as arrows over the graph and as a matrix, its
// hidden states, and the steps at which it is not the algorithm.
//
// A scene is a problem to look at: { nodes, steps, edges [[a, b]], places, inputs, truth }. An
// account is what a subject did on it: { heads, steps, attention(step, head, receiver, sender),
// said and wrong by name as [step][entry], hidden(step) if known, first if known }.
"use strict";

const Side = (label, { choose, go, changed }) => {
  const { make, button, range } = Dom;
  const SIZE = 320, EDGE = 26, RADIUS = 11, CELL = 12, LEAST = 0.03;
  let scene, account, subject;
  const parts = {};

  const who = make("select", { "aria-label": label });
  who.addEventListener("change", () => changed(Number(who.value)));
  const graph = make("svg", { class: "graph", role: "img", viewBox: `0 0 ${SIZE} ${SIZE}` });
  const matrix = make("svg", { class: "matrix", role: "img" });
  const hidden = make("canvas", { class: "hidden", role: "img", hidden: "" });
  const said = make("p", {});
  const inWords = make("div", { class: "in-words" });
  const timeline = make("div", { class: "timeline", role: "img" });
  const verdict = make("div", { class: "differs" });
  const box = make("div", { class: "side" }, who, graph, said, timeline, verdict, inWords, matrix,
    hidden);

  const spot = (node) => scene.places[node].map((part) => EDGE + part * (SIZE - 2 * EDGE));

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

  // What the subject reads at a step: a function of receiver and sender, from 0 to 1.
  const reading = ({ step, head }) => {
    const { heads, attention } = account;
    if (step >= account.steps) return () => 0;
    if (head < heads) return (receiver, sender) => attention(step, head, receiver, sender);
    return (receiver, sender) => {
      let sum = 0;
      for (let each = 0; each < heads; each++) sum += attention(step, each, receiver, sender);
      return heads ? sum / heads : 0;
    };
  };

  const names = (texts, chosen, isOff) => {
    Dom.choices(who, texts, chosen);
    [...who.options].forEach((option, index) => { option.disabled = isOff(index); });
  };

  // Draws what does not depend on the step, as far as it is other than before.
  const rebuild = (nextScene, nextSubject) => {
    const before = scene;
    [scene, subject] = [nextScene, nextSubject];
    box.classList.toggle("compiled", subject.compiled);
    if (before?.nodes !== scene.nodes) buildMatrix();
    if (before?.edges !== scene.edges || before.places !== scene.places) buildGraph();
    if (timeline.childElementCount !== scene.steps) {
      timeline.replaceChildren(...range(scene.steps).map((step) => make("span", { "data-step": step })));
    }
    graph.setAttribute("aria-label", `graph: what ${subject.name} reads`);
    matrix.setAttribute("aria-label", `attention of ${subject.name}, reader by read`);
  };

  const buildGraph = () => {
    parts.knots = range(scene.nodes).map((node) => {
      const [x, y] = spot(node);
      return {
        self: make("circle", { class: "self", cx: x, cy: y, r: RADIUS + 3 }),
        circle: make("circle", { class: "node", cx: x, cy: y, r: RADIUS, "data-node": node }),
        text: make("text", { x, y: y + 4 }, String(node)),
        cross: make("text", { class: "cross", x: x + RADIUS + 3, y: y - RADIUS + 3 }),
      };
    });
    [parts.layer, parts.reads] = [make("g"), new Map()];
    graph.replaceChildren(
      ...scene.edges.filter(([a, b]) => a !== b).map(([a, b]) => {
        const [[x1, y1], [x2, y2]] = [spot(a), spot(b)];
        return make("line", { class: "edge", x1, y1, x2, y2 });
      }),
      parts.layer, ...parts.knots.map(({ self }) => self),
      ...parts.knots.flatMap(({ circle, text, cross }) => [circle, text, cross]));
  };

  const buildMatrix = () => {
    const { nodes } = scene, size = nodes * CELL;
    matrix.setAttribute("viewBox", `-16 -14 ${size + 17} ${size + 15}`);
    matrix.style.maxWidth = `min(19rem, ${2 * (size + 17)}px)`;
    parts.row = make("rect", { class: "row", x: -0.5, width: size, height: CELL });
    parts.cells = range(nodes * nodes).map((pair) => make("rect", { class: "cell",
      x: (pair % nodes) * CELL, y: Math.floor(pair / nodes) * CELL, width: CELL - 0.6,
      height: CELL - 0.6, "data-receiver": Math.floor(pair / nodes), "data-sender": pair % nodes }));
    const numbers = range(nodes).flatMap((node) => [
      make("text", { x: -4, y: node * CELL + 9, "text-anchor": "end" }, String(node)),
      make("text", { x: node * CELL + CELL / 2, y: -4, "text-anchor": "middle" }, String(node))]);
    matrix.replaceChildren(
      make("rect", { class: "frame", x: -0.5, y: -0.5, width: size, height: size }),
      ...parts.cells, parts.row, ...numbers);
  };

  matrix.addEventListener("pointerover", ({ target }) => {
    if (target.dataset.receiver === undefined) return;
    const { receiver, sender, weight } = target.dataset;
    said.textContent = `node ${receiver} reads node ${sender}: ${Number(weight).toFixed(2)}`;
  });
  matrix.addEventListener("click", ({ target }) => {
    if (target.dataset.receiver !== undefined) choose(Number(target.dataset.receiver));
  });
  graph.addEventListener("click", ({ target }) => {
    if (target.dataset.node !== undefined) choose(Number(target.dataset.node));
  });
  timeline.addEventListener("click", ({ target }) => {
    if (target.dataset.step !== undefined) go(Number(target.dataset.step));
  });

  const drawReading = (view) => {
    const { nodes } = scene, weight = reading(view), used = new Set();
    parts.cells.forEach((cell, pair) => {
      const receiver = Math.floor(pair / nodes), sender = pair % nodes;
      const own = weight(receiver, sender) || 0;
      const shown = own.toFixed(4);
      if (cell.dataset.weight !== shown) {
        cell.dataset.weight = shown;
        cell.setAttribute("fill-opacity", shown);
      }
      if (receiver === sender || own < LEAST) return;
      used.add(pair);
      if (!parts.reads.has(pair)) {
        const path = make("path", { class: "read", d: curve(sender, receiver) });
        parts.reads.set(pair, path);
        parts.layer.append(path);
      }
      const path = parts.reads.get(pair);
      path.setAttribute("stroke-opacity", (view.chosen ?? receiver) === receiver ? own : own * 0.08);
      path.setAttribute("stroke-width", 0.6 + 2.6 * own);
    });
    for (const [pair, path] of parts.reads) if (!used.has(pair)) path.setAttribute("stroke-opacity", 0);
    parts.knots.forEach(({ self }, node) => {
      const own = weight(node, node) || 0;
      self.setAttribute("stroke-opacity", own * ((view.chosen ?? node) === node ? 1 : 0.08));
      self.setAttribute("stroke-width", 0.6 + 3 * own);
    });
  };

  // Wrong entries of variables at a step; at a node, if one is given.
  const wrongAt = (variables, step, node = null) => variables.reduce((sum, { name }) => {
    const row = account.wrong[name]?.[step] ?? [];
    return sum + (node === null ? row.reduce((a, b) => a + b, 0) : row[node] ?? 0);
  }, 0);

  const drawNodes = ({ step, chosen }, variables) => {
    const mark = Accounts.marker(variables);
    parts.knots.forEach(({ circle, text, cross }, node) => {
      const off = wrongAt(variables, step, node) > 0;
      const own = mark(account.said, step, node);
      circle.classList.toggle("marked", own === "marked");
      circle.classList.toggle("half", own === "half");
      text.classList.toggle("marked", own === "marked");
      circle.classList.toggle("wrong", off);
      circle.classList.toggle("chosen", chosen === node);
      circle.classList.toggle("touched", Boolean(scene.touched?.has(node)));
      cross.textContent = off ? "✗" : "";
    });
    parts.row.setAttribute("visibility", chosen === null ? "hidden" : "visible");
    parts.row.setAttribute("y", (chosen ?? 0) * CELL - 0.5);
    const count = wrongAt(variables, step);
    if (account.reason) said.textContent = account.reason;
    else if (step >= account.steps) said.textContent = "computing …";
    else if (!variables.length) said.textContent = "";
    else {
      said.textContent = count ? `✗ ${count} of ${scene.nodes * variables.length} variables wrong`
        : `all variables as in the ${scene.isChanged ? "changed " : ""}trace`;
    }
  };

  // A cell a step: outlined the one that is shown, with a cross those with something wrong.
  const drawTimeline = ({ step }) => {
    const rows = Object.values(account.wrong);
    const wrong = range(account.steps).filter((each) => rows.some((row) => row[each]?.includes(1)));
    [...timeline.children].forEach((cell, each) => {
      cell.classList.toggle("now", each === step);
      cell.classList.toggle("wrong", wrong.includes(each));
      cell.classList.toggle("waiting", each >= account.steps && !account.reason);
    });
    timeline.setAttribute("aria-label", wrong.length
      ? `wrong at step ${wrong.map((each) => each + 1).join(", ")} of ${scene.steps}`
      : `wrong at none of ${scene.steps} steps`);
    const { first } = account;
    const told = first ? Accounts.told(first)
      : account.reason || !account.done ? "" : `does as the ${scene.isChanged ? "changed " : ""}algorithm, to the end`;
    if (verdict.dataset.told === `${subject.name}: ${told}`) return;
    verdict.dataset.told = `${subject.name}: ${told}`;
    verdict.classList.toggle("wrong", Boolean(first));
    verdict.replaceChildren(...(first ? [
      make("span", {}, `First differs: ${told}.`),
      ...(first.step === null ? [] : [button("Go there", () => go(account.first?.step ?? 0))])]
      : told ? [`✓ ${subject.name} ${told}.`] : []));
  };

  // Rows are nodes, columns the entries of the state: of both signs, by two colours.
  const drawHidden = ({ step }) => {
    const state = step < account.steps ? account.hidden?.(step) : null;
    hidden.hidden = !state;
    if (!state) return;
    const { nodes } = scene, width = state.length / nodes;
    hidden.width = width;
    hidden.height = nodes;
    hidden.style.height = `${Math.max(4, Math.min(9, 120 / nodes)) * nodes}px`;
    hidden.setAttribute("aria-label",
      `hidden states of ${subject.name}: ${nodes} nodes by ${width} numbers, the stronger the larger`);
    const style = getComputedStyle(hidden);
    const colours = [style.color, style.outlineColor].map((colour) =>
      colour.match(/[\d.]+/g).slice(0, 3).map(Number));
    let most = 1e-9;
    for (const value of state) most = Math.max(most, Math.abs(value));
    const context = hidden.getContext("2d"), image = context.createImageData(width, nodes);
    for (let at = 0; at < state.length; at++) {
      const [red, green, blue] = colours[state[at] > 0 ? 0 : 1], to = 4 * at;
      image.data[to] = red;
      image.data[to + 1] = green;
      image.data[to + 2] = blue;
      image.data[to + 3] = 255 * Math.abs(state[at]) / most;
    }
    context.putImageData(image, 0, 0);
  };

  // What the chosen node reads, and its state, as numbers.
  const drawInWords = (view) => {
    const { step, chosen } = view, parts = [], isOpen = inWords.querySelector("details")?.open;
    if (chosen !== null && step < account.steps) {
      const weight = reading(view);
      const read = range(scene.nodes).map((sender) => [sender, weight(chosen, sender) || 0])
        .filter(([, own]) => own >= LEAST).sort((a, b) => b[1] - a[1])
        .map(([sender, own]) => `node ${sender} (${own.toFixed(2)})`);
      parts.push(make("div", {}, `node ${chosen} reads ${read.join(", ") || "nobody"}`));
      const state = account.hidden?.(step);
      if (state) {
        const width = state.length / scene.nodes;
        const numbers = Array.from(state.subarray(chosen * width, (chosen + 1) * width), (value) => value.toFixed(2));
        parts.push(make("details", isOpen ? { open: "" } : {}, make("summary", {}, `its state, ${width} numbers`),
          make("div", { class: "numbers" }, numbers.join(" "))));
      }
    }
    inWords.replaceChildren(...parts);
  };

  const update = (view, nextAccount, variables) => {
    account = nextAccount;
    drawReading(view);
    drawInWords(view);
    drawNodes(view, variables);
    drawTimeline(view);
    drawHidden(view);
  };

  return { box, names, rebuild, update };
};
