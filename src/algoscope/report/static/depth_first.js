// Depth-first search, and what its colours and times give, as
// src/algoscope/tasks/algorithms/depth_first.py and cut_points.py have it: one walk through the
// graph with something done at its events.
"use strict";

const DepthFirst = (() => {
  const WHITE = 0, GREY = 1, BLACK = 2;
  const SOURCE = 0, DISCOVER = 1, TREE_EDGE = 2, OTHER_EDGE = 3, FINISH = 4;
  const range = (count) => Array.from({ length: count }, (_, k) => k);
  const startAtSelf = (pointers) => pointers.forEach((_, node) => { pointers[node] = node; });

  // Walks depth first from each white source in turn, and yields the events on the way.
  //   SOURCE      the walk starts anew at s, which is still white
  //   DISCOVER    u is grey and visited for the first time
  //   TREE_EDGE   from u to v, which was white, is grey now and will be visited next
  //   OTHER_EDGE  from u to v, which was not white; only if asked for
  //   FINISH      u is black: no neighbour of it is white
  function* walk(n, A, sources, { color, s_prev, s, u, v, s_last }, otherEdges = false) {
    color.fill(WHITE);
    startAtSelf(s_prev);
    for (const source of sources) {
      if (color[source] !== WHITE) continue;
      s[0] = u[0] = v[0] = s_last[0] = source;
      yield SOURCE;
      color[source] = GREY;
      yield DISCOVER;
      while (color[source] !== BLACK) {
        for (let neighbour = 0; neighbour < n; neighbour++) {
          v[0] = neighbour;
          if (A[u[0] * n + neighbour] === 0) continue;
          if (color[neighbour] === WHITE) {
            color[neighbour] = GREY;
            s_prev[neighbour] = s_last[0];
            s_last[0] = neighbour;
            yield TREE_EDGE;
            break;
          }
          if (otherEdges) yield OTHER_EDGE;
        }
        if (s_last[0] !== u[0]) {
          u[0] = s_last[0];
          yield DISCOVER;
        } else {
          color[u[0]] = BLACK;
          yield FINISH;
          s_last[0] = s_prev[u[0]];
          s_prev[u[0]] = u[0];
          u[0] = s_last[0];
        }
      }
    }
  }

  // Did the event change a colour, or the source? A node on a tree edge is discovered grey.
  const recolors = (event, { s, u }) => event !== DISCOVER || u[0] === s[0];

  // Notes the time of u's discovery in d and of its finishing in f.
  const stamp = (event, { u, d, f, time }) => {
    if (event !== DISCOVER && event !== FINISH) return;
    time[0] += 0.01;
    (event === DISCOVER ? d : f)[u[0]] = time[0];
  };

  // Depth-first search, with the times of discovery and finishing (Tarjan, 1972).
  const dfs = ({ n, A }, registers, record) => {
    const { pi_h: pi, u, v } = registers;
    startAtSelf(pi);
    for (const event of walk(n, A, range(n), registers)) {
      stamp(event, registers);
      if (event === TREE_EDGE) pi[v[0]] = u[0];
      record();
    }
  };

  // The same with stack, edges and times left out of the trace.
  const dfsSimplified = (problem, { pi_h, color }, record) => {
    const { n } = problem, one = () => new Int32Array(1), times = () => new Float64Array(n);
    const hidden = { s_prev: new Int32Array(n), s: one(), u: one(), v: one(), s_last: one() };
    const stamps = { d: times(), f: times(), time: new Float64Array(1) };
    dfs(problem, { pi_h, color, ...hidden, ...stamps }, record);
  };

  // Puts each node that finishes before the others: topo_head_h is the first, topo_h its next.
  const listTopologically = ({ n, A }, sources, registers, record) => {
    const { topo_h: next, topo_head_h: head, color, u } = registers;
    startAtSelf(next);
    for (const event of walk(n, A, sources, registers)) {
      if (event === FINISH) {
        if (color[head[0]] === BLACK) next[u[0]] = head[0];
        head[0] = u[0];
      }
      if (recolors(event, registers)) record();
    }
  };

  // Topological sort by depth-first search (Tarjan, 1976).
  const topologicalSort = (problem, registers, record) =>
    listTopologically(problem, range(problem.n), registers, record);

  // Shortest paths in a directed acyclic graph, relaxed in topological order (Lawler, 1976).
  const dagShortestPaths = (problem, registers, record) => {
    const { n, A, s } = problem, { pi_h: pi, d, mark, topo_h, topo_head_h, phase } = registers;
    startAtSelf(pi);
    listTopologically(problem, [s], { ...registers, s: new Int32Array(1) }, record);
    phase[0] = 1;
    let i = s;
    mark[i] = 1;
    record();
    while (topo_h[i] !== i) {
      for (let j = 0; j < n; j++) {
        const weight = A[i * n + j];
        if (weight !== 0 && (!mark[j] || d[i] + weight < d[j])) {
          d[j] = d[i] + weight;
          pi[j] = i;
          mark[j] = 1;
        }
      }
      i = topo_head_h[0] = topo_h[i];
      record();
    }
  };

  // Kosaraju's strongly connected components (Sharir, 1981): the second walk follows the edges
  // backwards, from the node that the first one finished last, and so on.
  const stronglyConnected = ({ n, A }, registers, record) => {
    const { scc_id_h: id, A_t, f, s, u, phase } = registers;
    const back = A.map((_, pair) => A[(pair % n) * n + Math.floor(pair / n)]);
    back.forEach((weight, pair) => {
      A_t[pair] = weight !== 0 || Math.floor(pair / n) === pair % n ? 1 : 0;
    });
    startAtSelf(id);
    for (const event of walk(n, A, range(n), registers)) {
      stamp(event, registers);
      record();
    }
    phase[0] = 1;
    const latestFirst = range(n).sort((a, b) => f[b] - f[a]);
    for (const event of walk(n, back, latestFirst, registers)) {
      if (event === DISCOVER) id[u[0]] = s[0];
      if (!recolors(event, registers)) continue;
      stamp(event, registers);
      record();
    }
  };

  // The events of the walk, but for edges back to the parent, with pi_h, d, f and low kept: low is
  // the earliest discovery within reach of a subtree (Hopcroft and Tarjan, 1973).
  function* walkWithLow({ n, A }, registers) {
    const { pi_h: pi, d, low, u, v } = registers;
    startAtSelf(pi);
    for (const event of walk(n, A, range(n), registers, true)) {
      const node = u[0], neighbour = v[0];
      stamp(event, registers);
      if (event === DISCOVER) low[node] = d[node];
      else if (event === TREE_EDGE) pi[neighbour] = node;
      else if (event === OTHER_EDGE) {
        if (neighbour === pi[node]) continue;
        low[node] = Math.min(low[node], d[neighbour]);
      } else if (event === FINISH) {
        for (let child = 0; child < n; child++) {
          if (pi[child] === node) low[node] = Math.min(low[node], low[child]);
        }
      }
      yield event;
    }
  }

  const articulationPoints = (problem, registers, record) => {
    const { is_cut_h: isCut, pi_h: pi, child_cnt: children, d, low, u } = registers;
    for (const event of walkWithLow(problem, registers)) {
      const node = u[0];
      if (event === TREE_EDGE) children[node] += 0.01;
      else if (event === FINISH) {
        const cuts = pi[node] === node ? children[node] > 0.01
          : range(problem.n).some((child) => pi[child] === node && low[child] >= d[node]);
        isCut[node] = cuts ? 1 : 0;
      }
      record();
    }
  };

  // Pairs without an edge are masked, -1.
  const bridges = (problem, registers, record) => {
    const { n, A } = problem, { is_bridge_h: isBridge, pi_h: pi, d, low, u } = registers;
    A.forEach((weight, pair) => {
      isBridge[pair] = weight !== 0 || Math.floor(pair / n) === pair % n ? 0 : -1;
    });
    for (const event of walkWithLow(problem, registers)) {
      if (event === FINISH) {
        const node = u[0];
        for (let child = 0; child < n; child++) {
          if (pi[child] !== node || low[child] <= d[node]) continue;
          isBridge[node * n + child] = isBridge[child * n + node] = 1;
        }
      }
      record();
    }
  };

  return {
    dfs, dfs_simplified: dfsSimplified, topological_sort: topologicalSort,
    dag_shortest_paths: dagShortestPaths, strongly_connected_components: stronglyConnected,
    articulation_points: articulationPoints, bridges,
  };
})();
