// The library: every program on a small problem, step by step. Everything is built from the JSON in
// the page; texts enter as text, never as markup.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("library-data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const WIDE = 360, RADIUS = 14, TIP = 6, WING = 3.4;
  const svg = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const html = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const range = (count) => [...Array(count).keys()];

  // Steps that change nothing are null in the data.
  const filled = (steps) => {
    let last = null;
    return steps.map((step) => (last = step ?? last));
  };
  const load = (name) => {
    const problem = data.problems[name], run = data.programs[name];
    const said = Object.fromEntries(
      Object.entries(run.said).map(([hint, steps]) => [hint, filled(steps)]));
    const hints = problem.hints.map((hint) => {
      const truth = filled(hint.values);
      const shown = said[hint.name] ? [truth[0], ...said[hint.name]] : truth;
      return { ...hint, truth, values: shown };
    });
    return {
      scene: problem.scene, given: problem.given, steps: problem.steps, hints,
      named: Object.fromEntries(hints.map((hint) => [hint.name, hint])),
      selections: run.selections.map((one, at) => ({ ...one, senders: filled(run.reads[at]) })),
      rounds: run.rounds,
      kept: run.kept.map((one) => ({ ...one, values: filled(one.values) })),
    };
  };

  // An arrow from a to b that ends before b, bent to the left of its way.
  const arrow = ([ax, ay], [bx, by], radius, bend) => {
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const [mx, my] = [(ax + bx) / 2 + uy * bend, (ay + by) / 2 - ux * bend];
    const back = Math.hypot(bx - mx, by - my) || 1;
    const [vx, vy] = [(bx - mx) / back, (by - my) / back];
    const [ex, ey] = [bx - vx * (radius + 2), by - vy * (radius + 2)];
    const start = Math.hypot(mx - ax, my - ay) || 1;
    const [sx, sy] = [ax + (mx - ax) / start * radius, ay + (my - ay) / start * radius];
    const point = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    return `M${point(sx, sy)}Q${point(mx, my)} ${point(ex, ey)}` +
      `M${point(ex - vx * TIP - vy * WING, ey - vy * TIP + vx * WING)}L${point(ex, ey)}` +
      `L${point(ex - vx * TIP + vy * WING, ey - vy * TIP - vx * WING)}`;
  };

  // Kinds of drawings: how high, what a node looks like, where it stands, where arrows touch it.
  const inSquare = (scene, high) => ({
    high,
    node: (node) => [svg("circle", { class: "shape", r: RADIUS }),
      svg("text", { class: "name", y: 4.5 }, String(node))],
    place: (node) => {
      const side = high - 68;
      const [x, y] = scene.places[node];
      return [WIDE / 2 + (x - 0.5) * Math.min(side * 1.35, WIDE - 60), 34 + y * side];
    },
    touch: ([x, y]) => [x, y], radius: RADIUS,
    bend: (length) => Math.min(20, length * 0.13), cursor: [0, -RADIUS - 5],
  });
  const KINDS = {
    graph: (scene) => inSquare(scene, 270),
    plane: (scene) => inSquare(scene, 270),
    bars: (scene) => {
      const pitch = Math.min(44, (WIDE - 20) / scene.nodes), wide = pitch * 0.7;
      const negative = scene.heights.some((height) => height < 0);
      const tall = negative ? 44 : 88, base = negative ? 116 : 152;
      return {
        high: negative ? 204 : 190,
        node: (node) => {
          const height = scene.heights[node] * tall, low = negative ? tall : 0;
          return [
            svg("rect", { class: "shape", x: -wide / 2, width: wide, y: -Math.max(height, 0),
              height: Math.max(Math.abs(height), 1.5), rx: 3 }),
            svg("text", { class: "value", y: (height < 0 ? 0 : -height) - 4 }, scene.labels[node]),
            svg("text", { class: "index", y: low + 14 }, String(node))];
        },
        place: (node, order) => [WIDE / 2 + (order[node] - (scene.nodes - 1) / 2) * pitch, base],
        touch: ([x]) => [x, 46], radius: 0, bend: (length) => Math.min(78, 16 + length * 0.35),
        cursor: [0, (negative ? tall : 0) + 28], arcs: 42,
      };
    },
    cells: (scene) => {
      const longest = Math.max(scene.rows.filter((row) => !row).length, scene.rows.filter(Boolean).length);
      const pitch = Math.min(36, (WIDE - 20) / longest), wide = pitch - 4;
      const start = (row) => scene.rows.indexOf(row);
      return {
        high: 200,
        node: (node) => [
          svg("rect", { class: "shape", x: -wide / 2, y: -wide / 2, width: wide, height: wide, rx: 4 }),
          svg("text", { class: "name", y: 5 }, scene.letters[node]),
          svg("text", { class: "index", y: wide / 2 + 12 }, String(node))],
        place: (node) => {
          const row = scene.rows[node];
          return [WIDE / 2 + (node - start(row) - (longest - 1) / 2) * pitch, row ? 150 : 66];
        },
        // From row to row straight, within a row over the cells.
        touch: ([x, y], other) => [x, other[1] > y ? y + wide / 2 + 14 : y - wide / 2 - 2], radius: 0,
        bend: (length, straight) => (straight ? 0 : Math.min(52, 12 + length * 0.3)), cursor: [0, wide / 2 + 24], arcs: 20,
      };
    },
    intervals: (scene) => ({
      high: 24 * scene.nodes + 24,
      node: (node) => {
        const [low, high] = scene.ends[node].map((end) => end * (WIDE - 130));
        return [
          svg("rect", { class: "shape", x: 18 + low, y: -8, width: Math.max(high - low, 3), height: 16, rx: 4 }),
          svg("text", { class: "index", y: 4 }, String(node))];
      },
      place: (node, order) => [58, 24 + order[node] * 24],
      touch: ([x, y]) => [x - 8, y], radius: 0, bend: (length) => Math.min(60, 12 + length * 0.3),
      cursor: [WIDE - 88, 4],
    }),
  };

  class Picture {
    constructor(subject, cropped = false) {
      this.subject = subject;
      const { scene } = subject;
      this.kind = KINDS[scene.kind](scene);
      const top = cropped ? this.kind.arcs ?? 0 : 0;
      this.edges = svg("g"), this.lines = svg("g"), this.reads = svg("g");
      this.nodes = range(scene.nodes).map((node) => {
        const cursor = svg("text", { class: "cursor", x: this.kind.cursor[0], y: this.kind.cursor[1] });
        const group = svg("g", { class: "node" }, ...this.kind.node(node), cursor);
        return { group, cursor };
      });
      this.element = svg("svg", { class: `scene in-${scene.kind}`, role: "img",
        viewBox: `0 ${top} ${WIDE} ${this.kind.high - top}` },
      this.edges, this.lines, ...this.nodes.map(({ group }) => group), this.reads);
    }

    value(name, step) { return this.subject.named[name]?.values[step]; }

    // The place of each node in the line that the pointers form.
    order(step) {
      const { scene } = this.subject, before = this.value(scene.line, step);
      const places = range(scene.nodes);
      if (!before) return places;
      let node = before.findIndex((other, own) => other === own);
      for (let place = 0; place < scene.nodes && node >= 0; place++) {
        places[node] = place;
        const own = node;
        node = before.findIndex((other, next) => other === own && next !== own);
      }
      return places;
    }

    path(from, to, name, bent = true) {
      const [a, b] = [this.kind.touch(from, to), this.kind.touch(to, from)];
      const length = Math.hypot(a[0] - b[0], a[1] - b[1]);
      let bend = bent ? this.kind.bend(length, from[1] !== to[1]) : 0;
      if (this.kind.radius === 0 && (b[0] < a[0] || (b[0] === a[0] && b[1] > a[1]))) bend = -bend;
      return svg("path", { class: name, d: arrow(a, b, this.kind.radius, bend) });
    }

    show(step, senders) {
      const { scene } = this.subject, order = this.order(step);
      const spots = range(scene.nodes).map((node) => this.kind.place(node, order));
      const [fill, ring] = [scene.fill, scene.ring].map((name) => this.value(name, step));
      const most = Math.max(1, ...(scene.fill ? this.subject.named[scene.fill].values.flat() : []));
      const cursors = scene.cursors.map((name) => [name, this.value(name, step)?.[0]]);
      this.nodes.forEach(({ group, cursor }, node) => {
        group.style.transform = `translate(${spots[node].map((part) => `${part.toFixed(1)}px`)})`;
        const level = Math.max(0, fill?.[node] ?? 0) / most;
        group.style.setProperty("--level", level.toFixed(2));
        group.classList.toggle("full", level > 0.4);
        group.classList.toggle("ringed", ring?.[node] > 0);
        group.classList.toggle("source", scene.source === node);
        const here = cursors.filter(([, at]) => at === node).map(([name]) => name);
        cursor.textContent = here.join(" ");
      });
      this.drawEdges(spots, step);
      const lines = [], pointers = this.value(scene.pointer, step);
      pointers?.forEach((to, from) => {
        if (to !== from && to >= 0) lines.push(this.path(spots[from], spots[to], "pointer", this.kind.radius === 0));
      });
      this.lines.replaceChildren(...lines);
      const reads = [];
      senders?.forEach((sender, receiver) => {
        if (sender !== receiver) reads.push(this.path(spots[sender], spots[receiver], "read"));
      });
      this.reads.replaceChildren(...reads);
    }

    drawEdges(spots, step) {
      const { scene } = this.subject, bold = this.value(scene.bold, step);
      this.edges.replaceChildren(...(scene.edges ?? []).flatMap(([a, b, weight]) => {
        const strong = bold && (bold[a * scene.nodes + b] > 0 || bold[b * scene.nodes + a] > 0);
        const class_ = strong ? "edge bold" : "edge";
        const [[x1, y1], [x2, y2]] = [spots[a], spots[b]];
        const line = scene.directed
          ? svg("path", { class: class_, d: arrow(spots[a], spots[b], RADIUS, 7) })
          : svg("line", { class: class_, x1, y1, x2, y2 });
        const text = svg("text", { class: "weight", x: x1 * 0.56 + x2 * 0.44, y: y1 * 0.56 + y2 * 0.44 + 3 }, weight);
        return weight ? [line, text] : [line];
      }));
    }
  }

  const sign = (kind, value) => {
    if (value === undefined || value === null) return "";
    if (kind === "mask" || kind === "Bool") return value === 1 ? "●" : value === 0 ? "·" : String(value);
    if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(0);
    return String(value).replace(/^(-?)0\./, "$1.");
  };

  class States {
    constructor(subject) {
      this.subject = subject;
      const { nodes } = subject.scene;
      const head = html("tr", {}, html("th", { scope: "col" }, "node"),
        ...range(nodes).map((node) => html("th", { scope: "col" }, String(node))));
      const body = html("tbody");
      this.rows = [];
      const group = (title, variables, offset) => {
        if (!variables.length) return;
        body.append(html("tr", { class: "group" },
          html("th", { colspan: nodes + 1, scope: "colgroup" }, title)));
        for (const variable of variables) {
          const wide = variable.where === "graph";
          const cells = range(wide ? 1 : nodes).map(() => html("td", wide ? { colspan: nodes } : {}));
          body.append(html("tr", {}, 
            html("th", { scope: "row", title: variable.meaning ?? "" }, variable.name), ...cells));
          this.rows.push({ variable, cells, offset });
        }
      };
      const narrow = subject.hints.filter((hint) => hint.where !== "edge");
      group("given", subject.given.map((one) => ({ ...one, values: null, fixed: one.values })), 0);
      group("the algorithm's variables", narrow, 0);
      group("what the program keeps", subject.kept.map((one) => ({ ...one, kind: one.type, where: "node" })), 1);
      const table = html("table", {}, html("thead", {}, head), body);
      this.element = html("div", { class: "states", tabindex: 0, role: "region", "aria-label": "variables" }, table);
      this.matrices = subject.hints.filter((hint) => hint.where === "edge" && hint.name !== subject.scene.bold);
      this.grids = this.matrices.map((hint) => {
        const cells = range(nodes * nodes).map(() => html("td"));
        const rows = range(nodes).map((row) => html("tr", {}, ...cells.slice(row * nodes, (row + 1) * nodes)));
        return { hint, cells, box: html("figure", { class: "grid" }, html("table", {}, html("tbody", {}, ...rows)),
          html("figcaption", {}, hint.name)) };
      });
      this.grid = html("div", { class: "grids" }, ...this.grids.map(({ box }) => box));
    }

    show(step) {
      const cell = (place, kind, value, before, truth) => {
        const wrong = truth !== undefined && truth !== value;
        place.textContent = sign(kind, value);
        place.classList.toggle("new", before !== undefined && before !== value);
        place.classList.toggle("wrong", wrong);
        place.title = wrong ? `the algorithm has ${sign(kind, truth)}` : "";
      };
      const spread = (variable, values) => variable.kind !== "mask_one" || !values ? values
        : range(this.subject.scene.nodes).map((node) => (node === values[0] ? 1 : 0));
      for (const { variable, cells, offset } of this.rows) {
        const kind = variable.kind === "mask_one" ? "mask" : variable.kind;
        const at = (list, index) => spread(variable, list?.[index - offset]);
        const values = variable.fixed ? spread(variable, variable.fixed) : at(variable.values, step);
        const before = variable.fixed ? undefined : at(variable.values, step - 1);
        const truth = at(variable.truth, step);
        cells.forEach((place, node) => cell(place, kind, values?.[node], before?.[node], truth?.[node]));
      }
      for (const { hint, cells } of this.grids) {
        cells.forEach((place, pair) => cell(place, hint.kind, hint.values[step]?.[pair],
          hint.values[step - 1]?.[pair], hint.truth[step]?.[pair]));
      }
    }
  }

  const legend = (scene) => {
    const entries = [["fill", scene.fill], ["ring", scene.ring], ["pointer", scene.pointer],
      ["bold", scene.bold], ["order", scene.line]].filter(([, name]) => name);
    return html("p", { class: `legend in-${scene.kind}` }, ...entries.map(([kind, name]) =>
      html("span", { class: `key ${kind}` }, name)));
  };

  const stepper = (place) => {
    const subject = load(place.dataset.program);
    const picture = new Picture(subject), states = new States(subject);
    const last = Math.max(1, subject.steps - 1);
    const state = { step: Math.ceil(last / 2), playing: null };
    const play = html("button", { type: "button", class: "play" }, "▶ Play");
    const back = html("button", { type: "button", "aria-label": "one step back" }, "←");
    const forth = html("button", { type: "button", "aria-label": "one step on" }, "→");
    const slider = html("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "step" });
    const where = html("span", { class: "step", role: "status" });
    const reads = html("select", { "aria-label": "selection whose reads are drawn" },
      ...subject.selections.map(({ round, name }, index) => html("option", { value: index },
        subject.rounds > 1 ? `${name}, round ${round}` : name)), html("option", { value: -1 }, "nobody"));
    reads.value = subject.selections.length - 1;
    const key = legend(subject.scene);
    key.append(html("label", { class: "key reads" }, "reads ", reads));
    place.append(
      html("div", { class: "controls" }, play, back, slider, forth, where),
      picture.element, key, states.grid, states.element);
    const go = (step) => {
      state.step = Math.max(0, Math.min(last, step));
      slider.value = state.step;
      where.textContent = `step ${state.step} of ${last}`;
      slider.setAttribute("aria-valuetext", where.textContent);
      picture.show(state.step, subject.selections[reads.value]?.senders[state.step - 1]);
      states.show(state.step);
      picture.element.setAttribute("aria-label", `${place.dataset.program}, ${where.textContent}`);
    };
    const stop = () => {
      clearInterval(state.playing);
      state.playing = null;
      play.textContent = "▶ Play";
    };
    play.addEventListener("click", () => {
      if (state.playing !== null) { stop(); return; }
      play.textContent = "❚❚ Pause";
      state.playing = setInterval(() => go(state.step < last ? state.step + 1 : 0), 900);
    });
    slider.addEventListener("input", () => go(Number(slider.value)));
    back.addEventListener("click", () => go(state.step - 1));
    forth.addEventListener("click", () => go(state.step + 1));
    reads.addEventListener("change", () => go(state.step));
    go(state.step);
    place.dataset.ready = "true";
  };

  const preview = (place) => {
    const subject = load(place.dataset.program);
    const picture = new Picture(subject, true);
    picture.element.setAttribute("aria-hidden", "true");
    picture.show(Math.max(0, subject.steps - 1), null);
    place.append(picture.element);
  };

  // What is not in sight yet is built when it comes near, or when the page is printed.
  const waiting = new Set(document.querySelectorAll(".stepper, .preview"));
  const build = (place) => {
    if (!waiting.delete(place)) return;
    (place.classList.contains("stepper") ? stepper : preview)(place);
  };
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) build(target);
  }, { rootMargin: "600px" });
  for (const place of waiting) near.observe(place);
  addEventListener("beforeprint", () => waiting.forEach(build));

  // A link to a program that is folded away opens it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (folded) { folded.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
