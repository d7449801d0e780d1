// Where to draw the nodes of a graph: by stress majorisation (Gansner et al., 2004), one node after
// the other, so that distances in the plane are like distances in the graph; dense graphs on a
// circle. Parts that are not joined have places of their own, beside each other. Places are in the
// unit square.
"use strict";

const Layout = (() => {
  const ROUNDS = 60, SPARSE = 3.2, GAP = 1;
  const range = (count) => Array.from({ length: count }, (_, k) => k);

  const circle = (n) => range(n).map((node) => {
    const angle = 2 * Math.PI * node / n - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  });

  // Numbers of edges on the shortest ways from each node, by node.
  const distances = (n, joined) => range(n).map((start) => {
    const row = new Map([[start, 0]]);
    for (const [node, far] of row) {
      for (let next = 0; next < n; next++) {
        if (joined[node * n + next] && !row.has(next)) row.set(next, far + 1);
      }
    }
    return row;
  });

  // Of nodes that are all joined, from their distances: an edge is about as long as 1.
  const shape = (wanted) => {
    const n = wanted.length, onCircle = circle(n).map((place) => place.map((part) => part * n / 3));
    const ends = wanted.flat().filter((distance) => distance === 1).length;
    return ends / n > SPARSE ? onCircle : leastStress(wanted, onCircle);
  };

  const leastStress = (wanted, at) => {
    const n = wanted.length;
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < n; i++) {
        let x = 0, y = 0, total = 0;
        for (let j = 0; j < n; j++) {
          if (i === j) continue;
          const [dx, dy] = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
          const length = Math.hypot(dx, dy) || 1e-9, weight = 1 / wanted[i][j] ** 2;
          x += weight * (at[j][0] + wanted[i][j] * dx / length);
          y += weight * (at[j][1] + wanted[i][j] * dy / length);
          total += weight;
        }
        if (total) at[i] = [x / total, y / total];
      }
    }
    return at;
  };

  // Parts beside each other, in rows: where each begins, the larger ones first, and the longer side
  // of what they cover if rows are at most so wide.
  const inRows = (sizes, widest) => {
    const corners = [];
    let [x, y, high, wide] = [0, 0, 0, 0];
    for (const [width, height] of sizes) {
      if (x > 0 && x + width > widest + 1e-9) [x, y, high] = [0, y + high, 0];
      corners.push([x, y]);
      [x, high] = [x + width, Math.max(high, height)];
      wide = Math.max(wide, x);
    }
    return { corners, longer: Math.max(wide, y + high) };
  };

  const bounds = (at) => [Math.min, Math.max].map((most) => [0, 1].map((axis) =>
    most(...at.map((place) => place[axis]))));

  const packed = (parts) => {
    const limits = parts.map(bounds);
    const sizes = limits.map(([low, high]) => [0, 1].map((axis) => high[axis] - low[axis] + GAP));
    let widest = 0;
    const ways = sizes.map(([width]) => inRows(sizes, widest += width));
    const { corners } = ways.reduce((best, way) => (way.longer <= best.longer ? way : best));
    return parts.map((at, k) => at.map((place) =>
      place.map((part, axis) => part - limits[k][0][axis] + corners[k][axis])));
  };

  const places = (n, A) => {
    const joined = A.map((weight, pair) => {
      const i = Math.floor(pair / n), j = pair % n;
      return i !== j && (weight !== 0 || A[j * n + i] !== 0) ? 1 : 0;
    });
    if (!joined.includes(1)) return circle(n);
    const ways = distances(n, joined);
    const parts = range(n).filter((node) => Math.min(...ways[node].keys()) === node)
      .map((first) => [...ways[first].keys()].sort((a, b) => a - b))
      .sort((a, b) => b.length - a.length);
    const shapes = parts.map((nodes) => shape(nodes.map((i) => nodes.map((j) => ways[i].get(j)))));
    const found = packed(shapes), at = Array(n);
    parts.forEach((nodes, k) => nodes.forEach((node, index) => { at[node] = found[k][index]; }));
    return fitted(at);
  };

  const fitted = (at) => {
    const [low, high] = bounds(at);
    const extent = Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
    return at.map((place) => place.map((part, axis) =>
      (part - (low[axis] + high[axis]) / 2) / extent + 0.5));
  };

  return { places };
})();
