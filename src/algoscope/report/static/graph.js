// A graph that a reader draws: { n, A [n × n], s, places [n × 2] in the unit square }. Every change
// gives a new one. `kind` says what the task's algorithm reads: { directed, acyclic, weighted,
// source, smallest }. Whoever asks for a graph that it cannot read gets a GraphError, a sentence.
"use strict";

const Graph = (() => {
  class GraphError extends Error {}

  const LARGEST = 24, HEAVIEST = 100;
  const { range } = Dom;

  const copy = (graph, changes) => ({ ...graph, A: graph.A.slice(), ...changes });

  // { a, b, weight } of each edge, from a to b; once of those without direction.
  const edges = ({ n, A }, { directed }) => range(n * n)
    .map((pair) => ({ a: Math.floor(pair / n), b: pair % n, weight: A[pair] }))
    .filter(({ a, b, weight }) => weight !== 0 && (directed || a <= b));

  // [a, b] of each pair that is joined, in whatever direction.
  const joined = ({ n, A }) => range(n * n).map((pair) => [Math.floor(pair / n), pair % n])
    .filter(([a, b]) => a <= b && (A[a * n + b] !== 0 || A[b * n + a] !== 0));

  const weight = ({ n, A }, a, b) => A[a * n + b];

  const withNode = (graph, place) => {
    const { n } = graph;
    if (n >= LARGEST) throw new GraphError(`nodes: got ${n + 1}, needed at most ${LARGEST}`);
    const A = new Float64Array((n + 1) * (n + 1));
    graph.A.forEach((value, pair) => { A[Math.floor(pair / n) * (n + 1) + pair % n] = value; });
    return { ...graph, n: n + 1, A, places: [...graph.places, place] };
  };

  // Nodes after it move up by one.
  const withoutNode = (graph, node, kind) => {
    const { n, s } = graph;
    if (n <= kind.smallest) {
      throw new GraphError(`nodes: got ${n - 1}, needed at least ${kind.smallest}`);
    }
    const left = range(n).filter((other) => other !== node), A = new Float64Array((n - 1) ** 2);
    left.forEach((a, row) => left.forEach((b, column) => {
      A[row * (n - 1) + column] = graph.A[a * n + b];
    }));
    const places = left.map((other) => graph.places[other]);
    return { ...graph, n: n - 1, A, places, s: s === node ? 0 : s - (s > node ? 1 : 0) };
  };

  const moved = (graph, node, [x, y]) => copy(graph, {
    places: graph.places.map((place, other) =>
      (other === node ? [Math.min(1, Math.max(0, x)), Math.min(1, Math.max(0, y))] : place)),
  });

  const withSource = (graph, s) => copy(graph, { s });

  const unfit = (written) => {
    throw new GraphError(`weight: got ${written}, needed a number above 0 and at most ${HEAVIEST}`);
  };

  // A weight as it is written, which makes an edge.
  const weightOf = (written) => (Number(written) > 0 ? Number(written) : unfit(written || "nothing"));

  // An edge from a to b of this weight, which is 1 without weights; of weight 0, none.
  const withEdge = (graph, kind, a, b, given) => {
    const { n } = graph, value = kind.weighted || given === 0 ? Math.fround(given) : 1;
    if (!(value >= 0 && value <= HEAVIEST) || (value === 0 && given !== 0)) unfit(given);
    const changed = copy(graph, {});
    changed.A[a * n + b] = value;
    if (!kind.directed) changed.A[b * n + a] = value;
    const fault = complaint(changed, kind);
    if (fault) throw new GraphError(fault);
    return changed;
  };

  // Why the algorithm cannot read it; null if it can.
  const complaint = ({ n, A }, { acyclic }) => {
    if (!acyclic) return null;
    const incoming = range(n).map((b) => range(n).filter((a) => A[a * n + b]).length);
    const free = range(n).filter((node) => !incoming[node]);
    for (const a of free) {
      for (const b of range(n).filter((node) => A[a * n + node])) if (!--incoming[b]) free.push(b);
    }
    if (free.length === n) return null;
    const left = range(n).filter((node) => incoming[node] > 0);
    return `graph: got a cycle among the nodes ${left.join(", ")}, needed a graph without cycles`;
  };

  // A weight in as few digits as give it back, in float32.
  const digits = (value, count = 1) => {
    const short = Number(value.toPrecision(count));
    return Math.fround(short) === Math.fround(value) ? String(short) : digits(value, count + 1);
  };

  // As "5 nodes, source 0: 0-1, 1-2 0.5", with > for - in a directed graph.
  const text = (graph, kind) => {
    const sign = kind.directed ? ">" : "-";
    const listed = edges(graph, kind).map(({ a, b, weight: value }) =>
      `${a}${sign}${b}${kind.weighted ? ` ${digits(value)}` : ""}`);
    return `${graph.n} nodes${kind.source ? `, source ${graph.s}` : ""}: ${listed.join(", ")}`;
  };

  const whole = (name, written, least, most) => {
    const value = Number(written);
    if (!(Number.isInteger(value) && value >= least && value <= most)) {
      throw new GraphError(`${name}: got ${written}, needed a whole number from ${least} to ${most}`);
    }
    return value;
  };

  const parse = (written, kind) => {
    const shown = (part) => (part.length > 40 ? `${part.slice(0, 40)}…` : part);
    const parts = /^\s*(\d+)\s*nodes?\s*(?:,\s*source\s*(\d+))?\s*:(.*)$/s.exec(written);
    if (!parts) {
      throw new GraphError(`graph: got "${shown(written)}", needed a text such as ` +
        `"${text({ n: 3, s: 0, A: Float64Array.of(0, 1, 0, 1, 0, 1, 0, 1, 0) }, kind)}"`);
    }
    const n = whole("nodes", parts[1], kind.smallest, LARGEST);
    let graph = { n, A: new Float64Array(n * n), s: whole("source", parts[2] ?? "0", 0, n - 1) };
    for (const part of parts[3].split(",").map((one) => one.trim()).filter(Boolean)) {
      const edge = /^(\d+)\s*[->]\s*(\d+)(?:\s+(\S+))?$/.exec(part);
      if (!edge) throw new GraphError(`edge: got "${shown(part)}", needed one such as "0-1 0.5"`);
      const [a, b] = [edge[1], edge[2]].map((end) => whole("edge", end, 0, n - 1));
      graph = withEdge(graph, kind, a, b, weightOf(edge[3] ?? (kind.weighted ? 0.5 : 1)));
    }
    return { ...graph, places: Layout.places(n, graph.A) };
  };

  return {
    edges, joined, weight, weightOf, withNode, withoutNode, moved, withSource, withEdge, complaint, text, parse,
    LARGEST, GraphError,
  };
})();
