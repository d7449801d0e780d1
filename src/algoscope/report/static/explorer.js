// The explorer: two subjects on one problem, step by step. Problems are those that were recorded,
// from the JSON in the page, or a graph that the reader draws, on which the subjects run here.
"use strict";

const explore = (place) => {
  const data = JSON.parse(document.getElementById(place.dataset.from).textContent);
  const { make, options, button, range } = Dom;
  const live = data.live ?? {};

  // Subjects: those with recordings, and networks that are in the page but were not recorded.
  const others = Object.keys(live.networks ?? {})
    .filter((name) => live.networks[name].network
      && !data.subjects.some((subject) => subject.name === name));
  const subjects = [...data.subjects,
    ...others.map((name) => ({ name, compiled: false, verdict: live.verdicts?.[name] }))];
  const trained = data.subjects.findIndex((subject) => !subject.compiled);
  const state = {
    sample: 0, step: 0, head: 0, chosen: null, playing: null, isOwn: false,
    sides: data.subjects.length > 1 ? [0, Math.max(trained, 1)] : [0],
  };

  const unpacked = new Map();
  const octets = (text) => {
    if (!unpacked.has(text)) unpacked.set(text, Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
    return unpacked.get(text);
  };
  const recordedAccount = ({ heads, runs }) => {
    const { nodes, steps } = data.samples[state.sample], run = runs[state.sample];
    const all = octets(run.attention);
    return {
      ...run, heads, steps, attention: (step, head, receiver, sender) =>
        all[((step * heads + head) * nodes + receiver) * nodes + sender] / data.levels,
    };
  };

  const recordedGraphs = data.samples.filter(({ graph }) => graph).map(({ title, nodes, graph, places }) =>
    ({ title, graph: { n: nodes, A: Float64Array.from(graph.A), s: graph.s, places } }));
  const studio = live.task ? Studio(live, recordedGraphs, {
    shownNames: () => state.sides.map((index) => subjects[index].name),
    shownStep: () => state.step,
    redraw: () => { if (state.isOwn) redraw(); },
    goTo: (step) => go(step),
    setBusy: (isBusy) => place.setAttribute("aria-busy", String(isBusy)),
  }) : null;

  const scene = () => (state.isOwn ? studio.scene() : data.samples[state.sample]);
  const account = (side) => (state.isOwn ? studio.account(subjects[state.sides[side]].name)
    : recordedAccount(subjects[state.sides[side]]));
  const variables = () => (state.isOwn ? studio.variables : data.variables);

  // Controls
  const problems = make("select", { class: "problem", "aria-label": "problem" },
    ...options(data.samples.map((one) => one.title), 0));
  const most = Math.max(1, ...data.subjects.map((one) => one.heads),
    ...others.map((name) => live.networks[name].network?.config?.heads ?? 1));
  const heads = make("select", { "aria-label": "head" }, ...options(
    range(most).map((head) => `head ${head + 1}`).concat("mean of heads"), 0));
  const node = make("select", { "aria-label": "node to look at" });
  const play = make("button", { type: "button", class: "play" }, "▶ Play");
  const back = make("button", { type: "button", "aria-label": "one step back" }, "←");
  const forth = make("button", { type: "button", "aria-label": "one step on" }, "→");
  const slider = make("input", { type: "range", min: 0, value: 0, step: 1, "aria-label": "step" });
  const where = make("span", { class: "step", role: "status" });
  const recordedMode = button("Recorded problems", () => setMode(false));
  const ownMode = button("✎ Your own graph", () => setMode(true), { class: "own" });
  const modes = make("div", { class: "modes", role: "group", "aria-label": "what to look at" }, recordedMode, ownMode);
  const problemChoice = make("label", {}, "Problem", problems);
  place.append(...(studio ? [modes] : []), make("div", { class: "controls" },
    problemChoice, ...(most > 1 ? [heads] : []), node, play, back, slider, forth, where));

  const sides = state.sides.map((_, side) => Side(side ? "right" : "left", {
    choose: (node) => choose(node),
    go: (step) => go(step),
    changed: (index) => {
      state.sides[side] = index;
      if (state.isOwn) studio.subjectsChanged();
      else rebuild();
    },
  }));
  const stage = make("div", { class: "stage" }, ...(studio ? [studio.panel] : []),
    make("div", { class: "sides" }, ...sides.map((side) => side.box)));
  const variablesTable = Variables((node) => choose(node));
  place.append(stage, ...(studio ? [studio.below] : []),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "variables" }, variablesTable.table));

  const choose = (node) => { state.chosen = state.chosen === node ? null : node; update(); };

  let built = null;
  const redraw = () => { if (scene() === built) update(); else rebuild(); };
  const rebuild = () => {
    const { nodes, steps } = built = scene();
    state.step = Math.min(state.step, steps - 1);
    if (state.chosen !== null && state.chosen >= nodes) state.chosen = null;
    slider.max = steps - 1;
    Dom.choices(node, ["all nodes", ...range(nodes).map((each) => `node ${each}`)], 0);
    sides.forEach((side, index) => {
      side.names(subjects.map(({ name, verdict }) => (verdict ? `${name} – ${verdict}` : name)),
        state.sides[index], (other) => !state.isOwn && !subjects[other].runs);
      side.rebuild(scene(), subjects[state.sides[index]]);
    });
    variablesTable.rebuild(scene(), variables(), state.sides.map((index) => subjects[index].name));
    update();
  };

  const update = () => {
    const { steps } = scene();
    slider.value = state.step;
    node.value = state.chosen === null ? 0 : state.chosen + 1;
    where.textContent = `step ${state.step + 1} of ${steps}`;
    slider.setAttribute("aria-valuetext", where.textContent);
    const atNodes = variables().filter((variable) => variable.where === "node");
    const accounts = sides.map((_, side) => account(side));
    sides.forEach((side, index) => side.update(state, accounts[index], atNodes));
    variablesTable.update(state, accounts);
    if (state.isOwn) studio.show(state.step);
  };

  const setMode = (isOwn) => {
    if (!isOwn) {
      studio.leave();
      const hasRuns = (index) => Boolean(subjects[index].runs);
      state.sides = state.sides.map((index) => (hasRuns(index) ? index : 0));
    }
    state.isOwn = isOwn;
    place.classList.toggle("is-own", isOwn);
    recordedMode.setAttribute("aria-pressed", String(!isOwn));
    ownMode.setAttribute("aria-pressed", String(isOwn));
    if (!isOwn) rebuild();
    else if (studio.isOpen()) studio.subjectsChanged();
    else studio.open(Families.draw("grid", live.task.graphs, 9, Families.generator(1)));
  };

  const go = (step) => {
    state.step = Math.max(0, Math.min(scene().steps - 1, step));
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
    state.playing = setInterval(() => go((state.step + 1) % scene().steps), 900);
  };
  problems.addEventListener("change", () => {
    state.sample = Number(problems.value);
    state.step = 0;
    rebuild();
  });
  node.addEventListener("change", () => choose(Number(node.value) ? Number(node.value) - 1 : state.chosen));
  heads.addEventListener("change", () => { state.head = Number(heads.value); update(); });
  slider.addEventListener("input", () => go(Number(slider.value)));
  play.addEventListener("click", toggle);
  back.addEventListener("click", () => go(state.step - 1));
  forth.addEventListener("click", () => go(state.step + 1));
  place.tabIndex = 0;
  place.addEventListener("keydown", (event) => {
    const tag = event.target.tagName;
    const types = event.target.matches("select, textarea, input:not([type=range]), summary");
    if (types || (tag === "BUTTON" && event.key === " ")) return;
    const act = {
      ArrowRight: () => go(state.step + 1), ArrowLeft: () => go(state.step - 1),
      Home: () => go(0), End: () => go(scene().steps - 1), " ": toggle,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  new MutationObserver(() => update()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => update());
  if (studio) setMode(false);
  else rebuild();
  place.dataset.ready = "true";
};

document.querySelectorAll(".explorer:not(.reading)").forEach(explore);
