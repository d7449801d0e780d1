// Where to draw the nodes of a graph: by stress majorisation (Gansner et al., 2004), one node after
// the other, so that distances in the plane are like distances in the graph; dense graphs on a
// circle. Places are in the unit square.
"use strict";

const Layout = (() => {
  const ROUNDS = 60, SPARSE = 3.2;
  const range = (count) => Array.from({ length: count }, (_, k) => k);

  const circle = (n) => range(n).map((node) => {
    const angle = 2 * Math.PI * node / n - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  });

  // Numbers of edges on the shortest ways; two more than the longest where there is none.
  const distances = (n, joined) => {
    const rows = range(n).map((start) => {
      const row = Array(n).fill(Infinity), waiting = [start];
      row[start] = 0;
      for (const node of waiting) {
        for (let next = 0; next < n; next++) {
          if (!joined[node * n + next] || row[next] < Infinity) continue;
          row[next] = row[node] + 1;
          waiting.push(next);
        }
      }
      return row;
    });
    const apart = 2 + Math.max(...rows.flat().filter((distance) => distance < Infinity));
    return rows.map((row) => row.map((distance) => Math.min(distance, apart)));
  };

  const places = (n, A) => {
    const joined = A.map((weight, pair) => {
      const i = Math.floor(pair / n), j = pair % n;
      return i !== j && (weight !== 0 || A[j * n + i] !== 0) ? 1 : 0;
    });
    const ends = joined.reduce((sum, one) => sum + one, 0);
    if (!ends || ends / n > SPARSE) return circle(n);
    const wanted = distances(n, joined), at = circle(n).map(([x, y]) => [x * n / 3, y * n / 3]);
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
        at[i] = [x / total, y / total];
      }
    }
    return fitted(at);
  };

  const fitted = (at) => {
    const [xs, ys] = [0, 1].map((axis) => at.map((place) => place[axis]));
    const [low, high] = [[Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)]];
    const extent = Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
    return at.map((place) => place.map((part, axis) =>
      (part - (low[axis] + high[axis]) / 2) / extent + 0.5));
  };

  return { places };
})();
