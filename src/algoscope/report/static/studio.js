// The studio: a graph of the reader's own, on which the subjects run in the page as it is drawn.
//
// A change of the graph or of the interventions begins the work anew: the algorithm's trace at
// once, then the subjects that are shown, side by side and step by step, in slices. There is a
// picture of the graph and the algorithm after the first slice, and of the subjects as soon as they
// have come to the step that is looked at.
"use strict";

const Studio = (live, recorded, { shownNames, shownStep, redraw, goTo, setBusy }) => {
  const { make, button } = Dom;
  const { task, tolerance, compiled } = live, kind = task.graphs;
  const networks = new Map(), kept = [];
  const donorRuns = new WeakMap(), drawnRuns = new Map();
  let graph, problem, plain, expected, scene, accounts, undisturbed, unknown;
  let stop = () => {}, stopSearch = null, searching = null, lookedFor = null, begun = 0;

  // The network of a name, or { reason }, a sentence.
  const network = (name) => {
    if (!networks.has(name)) networks.set(name, readNetwork(live.networks[name]));
    return networks.get(name);
  };
  const readNetwork = (given) => {
    if (!given?.network) return { reason: `Shown as recorded only: ${given?.reason ?? "it has no weights"}.` };
    try {
      return Network.read(given.network, task.features);
    } catch (error) {
      return { reason: `Cannot be run here, its weights are not readable: ${error.message}.` };
    }
  };

  const traced = (one) => Algorithms.trace(task.name, task.features, one);

  function* finished(generator) {
    let next = generator.next();
    for (; !next.done; next = generator.next()) yield;
    return next.value;
  }

  function* interventionsOn(name, off = hands.headsOff(name)) {
    const exchanges = [];
    for (const { step, node, donor } of hands.exchanges()) {
      if (!donorRuns.has(donor)) donorRuns.set(donor, new Map());
      const runs = donorRuns.get(donor);
      if (!runs.has(name)) {
        runs.set(name, yield* finished(Network.stepping(network(name), traced(donor.graph))));
      }
      exchanges.push({ step, node, donor: runs.get(name) });
    }
    return Interventions.from({ off, pins: hands.pins(), exchanges });
  }

  // What the algorithm would say after pins and exchanges: its program, changed likewise. Where that
  // does not run it is the plain trace, and `unknown` says why.
  function* changedAlgorithm() {
    const exact = compiled === null ? { reason: "" } : network(compiled);
    unknown = exact.reason === undefined ? null : "No compiled program runs in this page";
    if (unknown) return plain;
    try {
      const changes = yield* interventionsOn(compiled, new Set());
      const run = yield* finished(Network.stepping(exact, problem, changes));
      return { ...Accounts.ofRun(task, problem.n, run), counts: plain.counts };
    } catch (error) {
      unknown = `${compiled} cannot run on this graph (${error.message})`;
      return plain;
    }
  }

  function* work(names) {
    unknown = null;
    expected = hands.isChanged() ? yield* changedAlgorithm() : plain;
    const touched = [...hands.pins().map(({ receiver }) => receiver), ...hands.exchanges().map(({ node }) => node)];
    scene = { ...scene, truth: expected.hints, isChanged: expected !== plain, touched: new Set(touched) };
    let running = names.filter((name) => network(name).reason === undefined).map(accountOf);
    for (let isShown = false; running.length;) {
      running = running.filter((one) => !one.next().done);
      const isDue = running.length > 0 && !isShown && names.every(isThere);
      isShown ||= isDue;
      yield isDue;
    }
  }

  // Runs a subject, by a step at a time; and without interventions, if there are any.
  function* accountOf(name) {
    const own = network(name);
    try {
      const changes = yield* interventionsOn(name);
      const run = Accounts.growing({ task, tolerance, problem }, own, expected, changes);
      for (let next = run.next(); ; next = run.next()) {
        accounts.set(name, next.value);
        if (next.done) break;
        yield;
      }
      if (hands.isActive(name) && !undisturbed.has(name)) {
        undisturbed.set(name, yield* finished(Network.stepping(own, problem)));
      }
    } catch (error) {
      accounts.set(name, { reason: `Cannot run on this graph: ${error.message}.` });
    }
  }

  // Whether there is something to say of the subject at the step that is looked at.
  const isThere = (name) => {
    const made = accounts.get(name);
    return network(name).reason !== undefined || made?.reason !== undefined
      || made?.steps > Math.min(shownStep(), problem.steps - 1);
  };

  const effects = (names) => names.filter((name) => hands.isActive(name) && accounts.get(name)?.done)
    .flatMap((name) => {
      const runs = [undisturbed.get(name), accounts.get(name).result];
      const { changed, same } = Accounts.following(task, tolerance, [plain, expected],
        runs.map((run) => Accounts.ofRun(task, problem.n, run)));
      if (!changed) return [`${name}: nothing changes in the trace.`];
      const entries = `${changed} ${changed > 1 ? "entries" : "entry"} of the trace`;
      return [expected === plain ? `${name}: this changes ${entries}; ${same} of these ${
        same === 1 ? "is" : "are"} as the algorithm has ${same === 1 ? "it" : "them"}.`
        : `${name}: this changes ${entries}, in the algorithm or in ${name}; in ${same} of these ${
          name} goes on as the algorithm would.`];
    });

  const restart = () => {
    stop();
    begun ||= performance.now();
    const names = [...new Set(shownNames())];
    accounts = new Map();
    setBusy(true);
    const marks = ["drawn", "shown", "done"];
    const reached = (what) => { while (marks.includes(what)) mark(marks.shift()); };
    stop = Slices.run(work(names), {
      rest: () => {
        redraw();
        reached(names.every(isThere) ? "shown" : "drawn");
      },
      failed: ({ message }) => {
        hands.tell([`Cannot go on: ${message}.`]);
        setBusy(false);
        redraw();
        begun = 0;
      },
      done: () => {
        hands.tell([...(unknown ? [`${unknown}, so that nobody says what the algorithm would do: the ` +
          "table compares with its own trace."] : []), ...effects(names)]);
        setBusy(false);
        redraw();
        reached("done");
        begun = 0;
        const first = lookedFor && accounts.get(lookedFor)?.first;
        lookedFor = null;
        if (first) goTo(first.step ?? problem.steps - 1);
      },
    });
  };
  // In the browser's trace: how long it took from a change until it was painted.
  const mark = (what) => {
    const start = begun;
    requestAnimationFrame(() => setTimeout(() =>
      performance.measure(`algoscope: from a change until ${what}`, { start })));
  };

  const set = (next) => {
    const isSame = graph && graph.n === next.n && graph.s === next.s
      && graph.A.every((value, pair) => value === next.A[pair]);
    graph = next;
    if (isSame) {
      scene = { ...scene, places: graph.places };
      redraw();
      return;
    }
    begun = performance.now();
    problem = traced(graph);
    plain = expected = Accounts.ofAlgorithm(task, problem);
    undisturbed = new Map();
    scene = {
      nodes: graph.n, steps: problem.steps, places: graph.places, truth: plain.hints, isChanged: false,
      edges: Graph.joined(graph),
      inputs: Object.fromEntries(task.features
        .filter(({ stage, location, name }) => stage === "input" && location === "node" && name !== "pos")
        .map((feature) => [feature.name, Accounts.entries(feature, problem.inputs[feature.name], graph.n)])),
    };
    rebuildHands();
    restart();
  };

  const editor = Editor(kind, recorded, set);
  const hands = ByHand(restart, () => {
    kept.push({ title: `kept graph ${kept.length + 1}`, graph });
    rebuildHands();
  });
  // Runs to take states from: graphs that the reader kept, recorded ones, and one drawn at random.
  // Who is the source is no state, so it stays.
  const drawnRun = (n, s) => {
    const key = `${n} ${s}`;
    if (!drawnRuns.has(key)) {
      const drawn = Families.draw("Erdős–Rényi", kind, n, Families.generator(n));
      drawnRuns.set(key, { title: `a random graph of ${n} nodes`, graph: { ...drawn, s } });
    }
    return drawnRuns.get(key);
  };
  const otherRuns = () => {
    const { n, s } = graph;
    return [...kept, ...recorded, drawnRun(n, s)]
      .filter((run) => run.graph.n === n
        && (run.graph.s !== s || run.graph.A.some((value, pair) => value !== graph.A[pair])));
  };
  const rebuildHands = () => hands.rebuild({
    n: graph.n, steps: problem.steps, runs: otherRuns(),
    subjects: [...new Set(shownNames())].map((name) => ({ name, own: network(name) }))
      .filter(({ own }) => own.reason === undefined)
      .map(({ name, own }) => ({ name, count: Network.heads(own), attends: Network.attends(own) })),
  });

  // The search for a difference, of the first subject that is no compiled program.
  const searched = () => {
    const names = shownNames();
    return names.find((name) => name !== compiled) ?? names[0];
  };
  const tried = make("p", { class: "said", role: "status" });
  const find = button("", () => {
    if (stopSearch) {
      endSearch("Stopped");
      return;
    }
    const name = searched(), own = network(name);
    if (own.reason !== undefined) {
      tried.textContent = own.reason;
      return;
    }
    searching = { name };
    const random = Families.generator(2 ** 32 * Math.random());
    const differs = function* (one) {
      const its = traced(one);
      const run = Accounts.growing({ task, tolerance, problem: its }, own,
        Accounts.ofAlgorithm(task, its), Interventions.none);
      let next = run.next();
      for (; !next.done; next = run.next()) {
        if (next.value.first) return true;
        yield;
      }
      return next.value.first !== null;
    };
    const size = own.config.attention_bias || null;
    stopSearch = () => {};
    find.textContent = "Stop searching";
    const halt = Slices.run(Search.search(graph, kind, differs, random, searching, size), {
      rest: () => {
        tried.textContent = searching.graph
          ? `Differs; making it smaller … ${searching.tried.toLocaleString("en")} graphs tried.`
          : `${searching.tried.toLocaleString("en")} graphs tried …`;
      },
      often: 500,
      failed: ({ message }) => {
        leaveSearch();
        tried.textContent = `${name} cannot be run: ${message}.`;
      },
      done: () => endSearch(""),
    });
    if (stopSearch) stopSearch = halt;
  }, { class: "find" });
  const leaveSearch = () => {
    stopSearch?.();
    stopSearch = null;
    nameSearch();
  };
  const endSearch = (how) => {
    leaveSearch();
    const count = `${searching.tried.toLocaleString("en")} graph${searching.tried === 1 ? "" : "s"} tried`;
    const { name } = searching;
    if (!searching.graph) {
      tried.textContent = `${how ? `${how}: ` : ""}${count}, and ${name} does as the algorithm on all of them.`;
      return;
    }
    const { n } = searching.graph, edges = Graph.edges(searching.graph, kind).length;
    tried.textContent = `${how ? `${how}: ` : ""}${name} differs on this graph of ${n} node${n > 1 ? "s" : ""} and ${
      edges} edge${edges === 1 ? "" : "s"}; ${count}.`;
    const found = { ...searching.graph, places: Layout.places(n, searching.graph.A) };
    lookedFor = name;
    editor.take(found, "Found by the search; Undo brings yours back.");
  };
  const nameSearch = () => {
    if (!stopSearch) find.textContent = `Find a graph on which ${searched()} differs`;
  };

  const variables = task.features.filter(({ stage, location }) => stage === "hint" && location !== "edge")
    .map(({ name, kind: one, location, classes }) => ({ name, kind: one, where: location, classes }));
  const atNodes = variables.filter(({ where }) => where === "node"), marker = Accounts.marker(atNodes);
  const pointer = atNodes.find((variable) => variable.kind === "pointer");

  return {
    // Beside the sides, and below them.
    panel: make("div", { class: "panel" }, make("h3", {}, `Your graph, and ${task.name} on it`), editor.box,
      make("div", { class: "tools" }, find), tried),
    below: hands.box,
    variables,
    isOpen: () => Boolean(graph),
    open: (given) => { nameSearch(); set(given); },
    // Other subjects are shown, or the studio is looked at again.
    subjectsChanged: () => { nameSearch(); rebuildHands(); restart(); },
    leave: () => {
      stop();
      begun = 0;
      leaveSearch();
      setBusy(false);
    },
    scene: () => scene,
    account: (name) => {
      const own = network(name), made = accounts.get(name);
      const reason = own.reason ?? made?.reason;
      if (!made || reason) return { steps: 0, heads: 1, said: {}, wrong: {}, reason, done: false, first: null };
      return {
        ...made,
        attention: (step, head, receiver, sender) =>
          made.attention[step][(head * made.n + receiver) * made.n + sender],
        hidden: (step) => made.hidden[step],
      };
    },
    show: (step) => {
      const pointers = pointer ? expected.hints[pointer.name][step].map((to, node) => [node, to]) : [];
      const marks = Dom.range(graph.n).map((node) => marker(expected.hints, step, node));
      editor.show(graph, { marks, pointers });
    },
  };
};
