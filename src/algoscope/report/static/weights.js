// Weights in the page: from { config, arrays: { name: { shape, values, places? } }, precision } to
// a tree of layers. Values are base64 of little-endian float16 or float32; with `places` (uint32),
// they are those of an array that is 0 elsewhere, as most of a compiled program's are.
"use strict";

const Weights = (() => {
  class WeightsError extends Error {}

  const octets = (name, text) => {
    let letters;
    try {
      letters = atob(text);
    } catch {
      throw new WeightsError(`${name}: got values that are not base64`);
    }
    const bytes = new Uint8Array(letters.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
    return bytes;
  };

  // (-1)^sign 2^(exponent - 15) (1 + fraction / 1024), without the 1 where the exponent is 0
  const POWERS = Float64Array.from({ length: 31 }, (_, exponent) => 2 ** (exponent - 15) / 1024);
  const half = (bits) => {
    const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? POWERS[exponent] * (1024 + fraction) : POWERS[1] * fraction);
  };

  const READERS = {
    float16: { size: 2, read: (view, at) => half(view.getUint16(at, true)) },
    float32: { size: 4, read: (view, at) => view.getFloat32(at, true) },
    uint32: { size: 4, read: (view, at) => view.getUint32(at, true) },
  };

  const numbers = (name, text, type) => {
    if (!Object.hasOwn(READERS, type)) {
      throw new WeightsError(`precision: got ${type}, needed float16 or float32`);
    }
    const { size, read } = READERS[type], bytes = octets(name, text), view = new DataView(bytes.buffer);
    const values = new Float64Array(Math.floor(bytes.length / size));
    for (let k = 0; k < values.length; k++) values[k] = read(view, k * size);
    return values;
  };

  const MOST = 2 ** 28;
  const array = (name, shape, { values, places }, precision) => {
    const count = shape.reduce((a, b) => a * b, 1);
    if (count > MOST) throw new WeightsError(`${name}: needs ${count} values, more than ${MOST}`);
    let data = numbers(name, values, precision);
    if (places !== undefined) {
      const given = data, at = numbers(name, places, "uint32");
      data = new Float64Array(count);
      at.forEach((place, k) => {
        if (place >= count) throw new WeightsError(`${name}: got place ${place} of ${count}`);
        data[place] = given[k];
      });
    }
    if (data.length !== count) {
      throw new WeightsError(`${name}: got ${data.length} values, needed ${count}`);
    }
    if (!data.every(Number.isFinite)) {
      throw new WeightsError(`${name}: got values that are not finite`);
    }
    return { shape, data };
  };

  // { "a.b.weight": array, … } as { a: { b: { weight: array, … } } }
  const nested = (arrays) => {
    const tree = Object.create(null);
    for (const [name, value] of Object.entries(arrays)) {
      const parts = name.split("."), last = parts.pop();
      let place = tree;
      for (const part of parts) place = place[part] ??= Object.create(null);
      place[last] = value;
    }
    return tree;
  };

  const layer = (weight, bias) =>
    Layers.layer(weight.data, bias ? bias.data : null, weight.shape[0], weight.shape[1]);

  // Pairs of weight and bias become layers, arrays alone their data; W_info is a layer without
  // bias.
  const layers = (tree) => {
    if (tree.weight?.data) return layer(tree.weight, tree.bias);
    return Object.fromEntries(Object.entries(tree).map(([name, value]) => {
      if (name === "information") return [name, layer(value, null)];
      return [name, value.data ?? layers(value)];
    }));
  };

  const shaped = (shape) => (Array.isArray(shape) ? `[${shape.join(", ")}]` : "nothing");

  // The layers of a description that has exactly the arrays of these shapes.
  const read = ({ arrays, precision }, shapes) => {
    const given = new Map(Object.entries(arrays ?? {}));
    for (const name of new Set([...shapes.keys(), ...given.keys()])) {
      const [got, needed] = [given.get(name)?.shape, shapes.get(name)].map(shaped);
      if (got !== needed) throw new WeightsError(`${name}: got ${got}, needed ${needed}`);
    }
    return layers(nested(Object.fromEntries([...shapes].map(([name, shape]) =>
      [name, array(name, shape, given.get(name), precision)]))));
  };

  return { read, WeightsError };
})();
