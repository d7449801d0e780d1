// Graphs to look at: families by construction, in which nodes are named at random.
//
// A graph is { n, A [n × n], s, places [n × 2] }, drawn for a kind of graphs: { directed, acyclic,
// weighted, least, most } says what the task's algorithm reads.
"use strict";

const Families = (() => {
  const range = (count) => Array.from({ length: count }, (_, k) => k);

  // Numbers from 0 to 1 that a seed determines (mulberry32).
  const generator = (seed) => {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  };
  const below = (random, count) => Math.floor(random() * count);
  const shuffled = (items, random) => {
    const order = items.slice();
    for (let k = order.length - 1; k > 0; k--) {
      const other = below(random, k + 1);
      [order[k], order[other]] = [order[other], order[k]];
    }
    return order;
  };

  const pairs = (n) => range(n).flatMap((i) => range(i).map((j) => [j, i]));
  const tree = (n, random) => range(n).slice(1).map((i) => [below(random, i), i]);
  const grid = (n) => {
    const width = Math.ceil(Math.sqrt(n));
    return range(n).flatMap((i) => [
      ...((i + 1) % width && i + 1 < n ? [[i, i + 1]] : []),
      ...(i + width < n ? [[i, i + width]] : [])]);
  };
  // Each node of a layer is joined to all of the next: every parent is as near as the others.
  const layers = (n) => pairs(n).filter(([a, b]) => Math.floor((a + 2) / 3) + 1 === Math.floor((b + 2) / 3));

  const FAMILIES = {
    line: (n) => range(n).slice(1).map((i) => [i - 1, i]),
    tree,
    grid,
    star: (n) => range(n).slice(1).map((i) => [0, i]),
    "Erdős–Rényi": (n, random) => pairs(n).filter(() => random() < 0.35),
    disconnected: (n, random) => {
      const half = Math.floor(n / 2);
      return pairs(n).filter(([a, b]) => a < half === b < half && random() < 0.5);
    },
    "with ties": layers,
  };
  const TIED = "with ties", TIED_WEIGHTS = [0.25, 0.5, 0.75];

  const draw = (family, kind, n, random) => {
    const A = new Float64Array(n * n), names = shuffled(range(n), random);
    const weight = () => {
      if (!kind.weighted) return 1;
      if (family === TIED) return TIED_WEIGHTS[below(random, TIED_WEIGHTS.length)];
      return Math.fround(kind.least + (kind.most - kind.least) * random());
    };
    for (const ends of FAMILIES[family](n, random)) {
      const [a, b] = ends.map((node) => names[node]), forth = weight();
      const way = random();
      if (!kind.directed) A[a * n + b] = A[b * n + a] = forth;
      else if (kind.acyclic) A[a * n + b] = forth;
      else {
        // One direction, or both.
        if (way < 0.75) A[a * n + b] = forth;
        if (way >= 0.5) A[b * n + a] = weight();
      }
    }
    return { n, A, s: kind.source ? below(random, n) : 0, places: Layout.places(n, A) };
  };

  return { draw, generator, below, names: Object.keys(FAMILIES) };
})();
