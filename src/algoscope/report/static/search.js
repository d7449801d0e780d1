// "Find a graph on which they differ": from a graph, its changes, and graphs of every family, to
// one on which a subject is not the algorithm, which is then made smaller as long as it is one.
//
// `differs` is a generator from a graph to whether the subject differs on it. It yields where one
// may stop for a while, and so does the search; how far it is, it writes into `state`: how many
// graphs it `tried`, and the `graph` that it found.
"use strict";

const Search = (() => {
  const MOST = 2000, LEAST_NODES = 4, MOST_CHANGES = 6, FAMILY_EVERY = 4;
  const { range } = Dom;

  const pick = (items, random) => items[Families.below(random, items.length)];
  const weight = (kind, random) =>
    (kind.weighted ? Math.max(0.01, kind.least + (kind.most - kind.least) * random()) : 1);

  const CHANGES = {
    edge: (graph, kind, random) => {
      const [a, b] = [pick(range(graph.n), random), pick(range(graph.n), random)];
      const gone = a === b || Graph.weight(graph, a, b) !== 0;
      return Graph.withEdge(graph, kind, a, b, gone ? 0 : weight(kind, random));
    },
    weight: (graph, kind, random) => {
      const edges = Graph.edges(graph, kind);
      if (!kind.weighted || !edges.length) return CHANGES.edge(graph, kind, random);
      const { a, b } = pick(edges, random);
      return Graph.withEdge(graph, kind, a, b, weight(kind, random));
    },
    source: (graph, kind, random) =>
      (kind.source ? Graph.withSource(graph, pick(range(graph.n), random)) : graph),
  };

  // The graph with a few random changes; those that the algorithm cannot read are left out.
  const changed = (graph, kind, random) => {
    let result = graph;
    for (const _ of range(1 + Families.below(random, MOST_CHANGES))) {
      try {
        result = pick(Object.values(CHANGES), random)(result, kind, random);
      } catch (error) {
        if (!(error instanceof Graph.GraphError)) throw error;
      }
    }
    return result;
  };

  // The graph itself, then changes of it, and every fourth time one of a family of any size. For a
  // network that works for one size alone, all are of that one, the first drawn at random if need be.
  function* candidates(given, kind, random, onlySize) {
    const isFit = !onlySize || given.n === onlySize;
    const graph = isFit ? given : Families.draw(pick(Families.names, random), kind, onlySize, random);
    yield graph;
    for (let number = 1; ; number++) {
      if (number % FAMILY_EVERY) yield changed(graph, kind, random);
      else {
        const least = Math.max(LEAST_NODES, kind.smallest);
        const n = onlySize ?? least + Families.below(random, Graph.LARGEST - least + 1);
        yield Families.draw(pick(Families.names, random), kind, n, random);
      }
    }
  }

  // All graphs with one thing less.
  function* smaller(graph, kind, onlySize) {
    if (!onlySize && graph.n > kind.smallest) {
      for (const node of range(graph.n).reverse()) yield Graph.withoutNode(graph, node, kind);
    }
    for (const { a, b } of Graph.edges(graph, kind)) yield Graph.withEdge(graph, kind, a, b, 0);
  }

  function* search(graph, kind, differs, random, state, onlySize = null) {
    Object.assign(state, { tried: 0, graph: null });
    function* isOne(candidate) {
      state.tried += 1;
      yield;
      return yield* differs(candidate);
    }
    for (const candidate of candidates(graph, kind, random, onlySize)) {
      if (state.tried >= MOST) return;
      if (yield* isOne(candidate)) {
        state.graph = candidate;
        break;
      }
    }
    for (let shrinking = true; shrinking;) {
      shrinking = false;
      for (const candidate of smaller(state.graph, kind, onlySize)) {
        if (!(yield* isOne(candidate))) continue;
        state.graph = candidate;
        shrinking = true;
        break;
      }
    }
  }

  return { search };
})();
