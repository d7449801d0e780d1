// The reference algorithms of graph tasks, step by step, as src/algoscope/tasks/algorithms has
// them. An algorithm reads n, A [n × n] (the weight from row to column, 0 without an edge) and the
// source s, writes registers, and calls record() where its trace has a step.
//
// Of equal keys the first comes first; in Python, numpy's sorting on the processor decides.
"use strict";

const Algorithms = (() => {
  const range = (count) => Array.from({ length: count }, (_, k) => k);
  const startAtSelf = (pointers) => pointers.forEach((_, node) => { pointers[node] = node; });
  const same = (a, b) => a.every((value, k) => value === b[k]);

  // Breadth-first search, a level a step (Moore, 1959).
  const bfs = ({ n, A, s }, { reach_h: reach, pi_h: pi }, record) => {
    startAtSelf(pi);
    reach[s] = 1;
    for (;;) {
      record();
      const reached = reach.slice();
      for (let i = 0; i < n; i++) {
        if (!reached[i]) continue;
        for (let j = 0; j < n; j++) {
          if (A[i * n + j] <= 0) continue;
          if (pi[j] === j && j !== s) pi[j] = i;
          reach[j] = 1;
        }
      }
      if (same(reach, reached)) return;
    }
  };

  // Breadth-first search, a newly reached node a step.
  const bfsSequential = ({ n, A, s }, { reach_h: reach, pi_h: pi }, record) => {
    startAtSelf(pi);
    reach[s] = 1;
    record();
    for (let growing = true; growing;) {
      growing = false;
      const level = reach.slice();
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          if (!level[i] || A[i * n + j] <= 0 || reach[j]) continue;
          reach[j] = 1;
          pi[j] = i;
          growing = true;
          record();
        }
      }
    }
  };

  // Bellman-Ford's shortest paths from one source, all edges a step (Bellman, 1958).
  const bellmanFord = ({ n, A, s }, { pi_h: pi, d, msk }, record) => {
    startAtSelf(pi);
    msk[s] = 1;
    for (;;) {
      record();
      const before = d.slice(), reached = msk.slice();
      for (let u = 0; u < n; u++) {
        for (let v = 0; v < n; v++) {
          if (!reached[u] || A[u * n + v] === 0) continue;
          const length = before[u] + A[u * n + v];
          if (!msk[v] || length < d[v]) {
            d[v] = length;
            pi[v] = u;
          }
          msk[v] = 1;
        }
      }
      if (same(d, before) && same(msk, reached)) return;
    }
  };

  // Takes the node of smallest key, a node a step, and queues its unmarked neighbours with the
  // weight of the edge as key (Prim, 1957), or with that of the path from the source (Dijkstra,
  // 1959).
  const priorityFirst = ({ n, A, s }, { pi, key, mark, queue, u }, wholePaths, record) => {
    startAtSelf(pi);
    u[0] = s;
    queue[s] = 1;
    record();
    while (queue.some(Boolean)) {
      const node = range(n).filter((v) => queue[v]).reduce((a, b) => (key[b] < key[a] ? b : a));
      queue[node] = 0;
      u[0] = node;
      mark[node] = 1;
      const base = wholePaths ? key[node] : 0;
      for (let v = 0; v < n; v++) {
        if (A[node * n + v] === 0 || mark[v]) continue;
        const offer = base + A[node * n + v];
        if (!queue[v] || offer < key[v]) {
          pi[v] = node;
          key[v] = offer;
          queue[v] = 1;
        }
      }
      record();
    }
  };

  const dijkstra = (problem, { pi_h: pi, d: key, mark, in_queue: queue, u }, record) =>
    priorityFirst(problem, { pi, key, mark, queue, u }, true, record);

  const prim = (problem, { pi_h: pi, key, mark, in_queue: queue, u }, record) =>
    priorityFirst(problem, { pi, key, mark, queue, u }, false, record);

  // Floyd-Warshall's shortest paths between all pairs, a waypoint a step (Floyd, 1962).
  const floydWarshall = ({ n, A }, { Pi_h: Pi, D, msk, k }, record) => {
    D.set(A);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        msk[i * n + j] = A[i * n + j] !== 0 || i === j ? 1 : 0;
        Pi[i * n + j] = i;
      }
    }
    for (let waypoint = 0; waypoint < n; waypoint++) {
      k[0] = waypoint;
      record();
      const start = range(n).map((i) => D[i * n + waypoint]);
      const end = range(n).map((j) => D[waypoint * n + j]);
      const starts = range(n).map((i) => msk[i * n + waypoint]);
      const ends = range(n).map((j) => msk[waypoint * n + j]);
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          if (!starts[i] || !ends[j]) continue;
          const pair = i * n + j, length = start[i] + end[j];
          if (!msk[pair] || length < D[pair]) {
            D[pair] = length;
            Pi[pair] = Pi[waypoint * n + j];
          }
          msk[pair] = 1;
        }
      }
    }
  };

  // Kruskal's minimum spanning tree, by union-find with path compression (Kruskal, 1956).
  const kruskal = ({ n, A }, registers, record) => {
    const { in_mst_h: tree, pi, u, v, root_u, root_v, mask_u, mask_v, phase } = registers;
    const UNITE = 0, FIND_U = 1, FIND_V = 2;
    const startAt = (node, end, root, mask) => {
      end[0] = root[0] = node;
      mask.fill(0);
      mask[node] = 1;
    };
    // Moves to the root of the set, a node a step; the nodes passed then point there.
    const climb = (root, mask) => {
      while (pi[root[0]] !== root[0]) {
        root[0] = pi[root[0]];
        for (let i = 0; i < n; i++) if (mask[i]) pi[i] = root[0];
        mask[root[0]] = 1;
        record();
      }
    };
    startAtSelf(pi);
    record();
    const edges = range(n * n).filter((pair) => Math.floor(pair / n) < pair % n && A[pair] > 0);
    for (const edge of edges.sort((a, b) => A[a] - A[b] || a - b)) {
      startAt(Math.floor(edge / n), u, root_u, mask_u);
      startAt(edge % n, v, root_v, mask_v);
      phase[0] = FIND_U;
      record();
      climb(root_u, mask_u);
      phase[0] = FIND_V;
      climb(root_v, mask_v);
      if (root_u[0] !== root_v[0]) {
        tree[u[0] * n + v[0]] = tree[v[0] * n + u[0]] = 1;
        pi[Math.min(root_u[0], root_v[0])] = Math.max(root_u[0], root_v[0]);
      }
      phase[0] = UNITE;
      record();
    }
  };

  const ALGORITHMS = {
    bfs, bfs_sequential: bfsSequential, bellman_ford: bellmanFord, dijkstra, mst_prim: prim,
    floyd_warshall: floydWarshall, mst_kruskal: kruskal, ...DepthFirst,
  };

  // A register of zeros; of one-hot features the index.
  const register = ({ kind, location }, n) => {
    const places = { graph: 1, node: n, edge: n * n }[location];
    return kind === "scalar" ? new Float64Array(places)
      : new Int32Array(kind === "mask_one" ? 1 : places);
  };

  // The problem of a graph { n, A, s } with the algorithm's trace: inputs and outputs by name,
  // hints as [step][entry], and the number of steps that a network takes.
  const trace = (task, features, { n, A, s = 0 }) => {
    const at = (stage) => features.filter((feature) => feature.stage === stage);
    const registers = Object.fromEntries(at("hint").map((f) => [f.name, register(f, n)]));
    const hints = Object.fromEntries(at("hint").map(({ name }) => [name, []]));
    const record = () => {
      for (const name of Object.keys(hints)) hints[name].push(registers[name].slice());
    };
    ALGORITHMS[task]({ n, A, s }, registers, record);
    const inputs = {
      pos: Float64Array.from({ length: n }, (_, node) => node / n),
      A, s: [s],
      adj: A.map((weight, pair) => (weight !== 0 || Math.floor(pair / n) === pair % n ? 1 : 0)),
    };
    const outputs = Object.fromEntries(at("output").map(({ name }) =>
      [name, registers[`${name}_h`].slice()]));
    const length = Object.values(hints)[0].length;
    return { n, inputs, hints, outputs, steps: Math.max(1, length - 1) };
  };

  return { trace, tasks: Object.keys(ALGORITHMS) };
})();
