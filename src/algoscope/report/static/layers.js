// Layers, as src/algoscope/networks/layers.py has them, in float64. A matrix [rows × columns] is a
// Float64Array, row after row; a layer is { weight [inputs × outputs], bias [outputs] or null,
// inputs, outputs }.
"use strict";

const Layers = (() => {
  const EPSILON = 1e-5, LEAKY_SLOPE = 0.01;

  // y = x W + b, for x [rows × inputs]
  const linear = (x, rows, { weight, bias, inputs, outputs }) => {
    const y = new Float64Array(rows * outputs);
    for (let row = 0; row < rows; row++) {
      const to = row * outputs;
      if (bias) y.set(bias, to);
      for (let input = 0; input < inputs; input++) {
        const value = x[row * inputs + input];
        if (value === 0) continue;
        let from = input * outputs;
        for (let k = to; k < to + outputs; k++) y[k] += value * weight[from++];
      }
    }
    return y;
  };

  // The layer second(first(x)) as one.
  const composed = (first, second) => ({
    weight: linear(first.weight, first.inputs, { ...second, bias: null }),
    bias: linear(first.bias ?? new Float64Array(first.outputs), 1, second),
    inputs: first.inputs, outputs: second.outputs,
  });

  // y = scale (x - mean(x)) / sqrt(var(x) + 1e-5) + offset, over each row
  const layerNorm = (x, rows, { scale, offset }) => {
    const width = scale.length, y = new Float64Array(x.length);
    for (let row = 0; row < rows; row++) {
      const part = x.subarray(row * width, (row + 1) * width);
      let mean = 0, variance = 0;
      for (const value of part) mean += value / width;
      for (const value of part) variance += (value - mean) ** 2 / width;
      const deviation = Math.sqrt(variance + EPSILON);
      for (let k = 0; k < width; k++) {
        y[row * width + k] = scale[k] * (part[k] - mean) / deviation + offset[k];
      }
    }
    return y;
  };

  // Each of the rows, in place: exp(x_j) / sum_k exp(x_k)
  const softmax = (x, columns) => {
    for (let start = 0; start < x.length; start += columns) {
      const row = x.subarray(start, start + columns);
      let most = -Infinity, sum = 0;
      for (const value of row) most = Math.max(most, value);
      for (let k = 0; k < columns; k++) sum += row[k] = Math.exp(row[k] - most);
      for (let k = 0; k < columns; k++) row[k] /= sum;
    }
    return x;
  };

  // [a_i, b_i, …] for each row i
  const concat = (rows, ...parts) => {
    const widths = parts.map((part) => part.length / rows);
    const width = widths.reduce((a, b) => a + b, 0), y = new Float64Array(rows * width);
    for (let row = 0; row < rows; row++) {
      let to = row * width;
      parts.forEach((part, k) => {
        y.set(part.subarray(row * widths[k], (row + 1) * widths[k]), to);
        to += widths[k];
      });
    }
    return y;
  };

  const relu = (x) => x.map((value) => Math.max(value, 0));
  const leakyRelu = (value) => (value > 0 ? value : LEAKY_SLOPE * value);
  const sigmoid = (value) => 1 / (1 + Math.exp(-value));

  const argmax = (row) => {
    let best = 0;
    for (let k = 1; k < row.length; k++) if (row[k] > row[best]) best = k;
    return best;
  };

  return { linear, composed, layerNorm, softmax, concat, relu, leakyRelu, sigmoid, argmax };
})();
