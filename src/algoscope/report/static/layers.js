// Layers, as src/algoscope/networks/layers.py has them, in float64. A matrix [rows × columns] is a
// Float64Array, row after row; a layer is { weight [inputs × outputs], bias [outputs] or null,
// inputs, outputs } and, of one whose weights are mostly 0, as a compiled program's are, the others
// as `entries`: { starts [inputs + 1], columns, values }.
//
// Functions that are called for every pair of nodes and unit have no branch that depends on the
// data: a processor that guesses it wrong loses more time than the arithmetic takes.
"use strict";

const Layers = (() => {
  const EPSILON = 1e-5, LEAKY_SLOPE = 0.01, SPARSE = 0.25, FEW = 3;

  const layer = (weight, bias, inputs, outputs) => {
    const columns = [], values = [], starts = new Uint32Array(inputs + 1);
    for (let input = 0; input < inputs; input++) {
      for (let k = 0; k < outputs; k++) {
        const value = weight[input * outputs + k];
        if (value !== 0) columns.push(k), values.push(value);
      }
      starts[input + 1] = values.length;
      if (values.length > SPARSE * weight.length) return { weight, bias, inputs, outputs };
    }
    const entries = { starts, columns: Uint32Array.from(columns), values: Float64Array.from(values) };
    return { weight, bias, inputs, outputs, entries };
  };

  // y = x W + b, for x [rows × inputs]; or that added to what is in `onto`.
  const linear = (x, rows, of, onto = null) => {
    const { bias, inputs, outputs } = of, y = onto ?? new Float64Array(rows * outputs);
    if (x.length !== rows * inputs) {
      throw new RangeError(`layer: got ${x.length / rows} inputs, needed ${inputs}`);
    }
    for (let row = 0; bias && row < rows; row++) {
      if (onto) for (let k = 0; k < outputs; k++) y[row * outputs + k] += bias[k];
      else y.set(bias, row * outputs);
    }
    if (of.entries) addEntries(x, rows, of, y);
    else if (inputs > FEW) addInFours(x, rows, of, y);
    else addOneByOne(x, rows, of, y, 0);
    return y;
  };

  const addEntries = (x, rows, { entries: { starts, columns, values }, inputs, outputs }, y) => {
    for (let row = 0; row < rows; row++) {
      for (let input = 0; input < inputs; input++) {
        const value = x[row * inputs + input];
        if (value === 0) continue;
        for (let e = starts[input]; e < starts[input + 1]; e++) {
          y[row * outputs + columns[e]] += value * values[e];
        }
      }
    }
  };

  // For the few scalars that features are made of, many of them 0: the inputs from `start` on.
  const addOneByOne = (x, rows, { weight, inputs, outputs }, y, start) => {
    for (let row = 0; row < rows; row++) {
      const to = row * outputs;
      for (let input = start; input < inputs; input++) {
        const value = x[row * inputs + input], w = input * outputs;
        if (value === 0) continue;
        for (let k = 0; k < outputs; k++) y[to + k] += value * weight[w + k];
      }
    }
  };

  // Four rows by four inputs at a time, so that weights and y are read a quarter as often.
  const addInFours = (x, rows, of, y) => {
    const { weight, inputs, outputs } = of, inFours = inputs - inputs % 4, last = rows - rows % 4;
    for (let input = 0; input < inFours; input += 4) {
      const w0 = input * outputs, w1 = w0 + outputs, w2 = w1 + outputs, w3 = w2 + outputs;
      for (let row = 0; row < last; row += 4) {
        const to = row * outputs, to1 = to + outputs, to2 = to1 + outputs, to3 = to2 + outputs;
        const a = row * inputs + input, b = a + inputs, c = b + inputs, d = c + inputs;
        const a0 = x[a], a1 = x[a + 1], a2 = x[a + 2], a3 = x[a + 3];
        const b0 = x[b], b1 = x[b + 1], b2 = x[b + 2], b3 = x[b + 3];
        const c0 = x[c], c1 = x[c + 1], c2 = x[c + 2], c3 = x[c + 3];
        const d0 = x[d], d1 = x[d + 1], d2 = x[d + 2], d3 = x[d + 3];
        for (let k = 0; k < outputs; k++) {
          const v0 = weight[w0 + k], v1 = weight[w1 + k], v2 = weight[w2 + k], v3 = weight[w3 + k];
          y[to + k] += a0 * v0 + a1 * v1 + a2 * v2 + a3 * v3;
          y[to1 + k] += b0 * v0 + b1 * v1 + b2 * v2 + b3 * v3;
          y[to2 + k] += c0 * v0 + c1 * v1 + c2 * v2 + c3 * v3;
          y[to3 + k] += d0 * v0 + d1 * v1 + d2 * v2 + d3 * v3;
        }
      }
    }
    addOneByOne(x.subarray(0, last * inputs), last, of, y, inFours);
    addOneByOne(x.subarray(last * inputs), rows - last, of, y.subarray(last * outputs), 0);
  };

  // The layer second(first(x)) as one.
  const composed = (first, second) => layer(
    linear(first.weight, first.inputs, { ...second, bias: null }),
    linear(first.bias ?? new Float64Array(first.outputs), 1, second),
    first.inputs, second.outputs);

  // The layer on some of its inputs alone, without bias.
  const onInputs = ({ weight, outputs }, start, end) =>
    layer(weight.subarray(start * outputs, end * outputs), null, end - start, outputs);

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

  const larger = (a, b) => (a + b + Math.abs(a - b)) / 2;
  const relu = (x) => x.map((value) => (value + Math.abs(value)) / 2);
  const leakyRelu = (value) =>
    (1 + LEAKY_SLOPE) / 2 * value + (1 - LEAKY_SLOPE) / 2 * Math.abs(value);
  const sigmoid = (value) => 1 / (1 + Math.exp(-value));

  const argmax = (row) => {
    let best = 0;
    for (let k = 1; k < row.length; k++) if (row[k] > row[best]) best = k;
    return best;
  };

  return {
    layer, linear, composed, onInputs, layerNorm, softmax, concat, larger, relu, leakyRelu, sigmoid, argmax,
  };
})();
