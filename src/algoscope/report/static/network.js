// The network over time, in evaluation: the equations of src/algoscope/networks/plain.py.
//
//   encoded_t   = encoders(inputs, hints_t)
//   hidden_t+1  = processor(encoded_t, hidden_t)                       hidden_0 = 0
//   hints_t+1   = feed_back(decoders([encoded_t, hidden_t, hidden_t+1]))
//   outputs     = decoders([encoded_T, hidden_T, hidden_T+1])          T the last step
//
// A problem's trace (algorithms.js) has registers: of a pointer the node, of a class its number.
// Encoders read *values*: pointers and classes as one-hot rows, or the probabilities fed back.
"use strict";

const Network = (() => {
  const { layer, linear, composed, onInputs, concat } = Layers;

  class Unsupported extends Error {}

  // Of one register: how many classes a place has in the form of values, at n nodes.
  const classes = (feature, n) =>
    feature.kind === "pointer" ? n : feature.kind === "categorical" ? feature.classes : 1;
  const isPointer = (feature) => feature.kind === "pointer";
  const readsAt = (feature) => (isPointer(feature) ? "edge" : feature.location);

  const KINDS = ["scalar", "mask", "mask_one", "categorical", "pointer"];
  const MOST = 4096;
  const MAY_BE_UNSET = ["triplet_width", "attention_width", "attention_bias"];

  const value = (feature, register, n) => {
    if (feature.kind === "mask_one") return oneHot(register, n);
    const count = classes(feature, n);
    return count > 1 || isPointer(feature) ? oneHot(register, count) : Float64Array.from(register);
  };

  const oneHot = (indices, count) => {
    const rows = new Float64Array(indices.length * count);
    indices.forEach((index, row) => { rows[row * count + index] = 1; });
    return rows;
  };

  // Logits as registers.
  const decide = (feature, logits, n) => {
    if (feature.kind === "scalar") return logits;
    if (feature.kind === "mask") return logits.map((logit) => (logit > 0 ? 1 : 0));
    const count = feature.kind === "mask_one" ? n : classes(feature, n);
    return Array.from({ length: logits.length / count }, (_, row) =>
      Layers.argmax(logits.subarray(row * count, (row + 1) * count)));
  };

  // Logits as values: decided if hard, else as probabilities.
  const feedBack = (feature, logits, n, hard) => {
    if (feature.kind === "scalar") return logits;
    if (hard) return value(feature, decide(feature, logits, n), n);
    if (feature.kind === "mask") return logits.map(Layers.sigmoid);
    return Layers.softmax(logits.slice(), feature.kind === "mask_one" ? n : classes(feature, n));
  };

  // The network of a page's description, ready to run; an error that says why there is none.
  const read = (description, features) => {
    const config = description.config ?? {};
    if (!Object.hasOwn(Processors, config.processor)) {
      throw new Unsupported(`processor: got ${config.processor}, needed one of ${
        Object.keys(Processors).join(", ")}`);
    }
    for (const feature of features) {
      if (!KINDS.includes(feature.kind)) {
        throw new Unsupported(`${feature.name}: got a ${feature.kind}, needed ${KINDS.join(", ")}`);
      }
    }
    const isWhole = (number) => Number.isInteger(number) && number >= 1 && number <= MOST;
    for (const name of ["width", "heads", "rounds", ...MAY_BE_UNSET]) {
      const given = config[name], isFree = MAY_BE_UNSET.includes(name);
      if (!(isWhole(given) || (isFree && (given ?? null) === null))) {
        throw new Unsupported(`${name}: got ${JSON.stringify(given)}, needed ${
          isFree ? "null or " : ""}a whole number from 1 to ${MOST}`);
      }
    }
    const weights = Weights.read(description, Shapes.of(config, features));
    const rounds = Array.from({ length: config.rounds }, (_, round) =>
      (config.shared_rounds || config.rounds === 1 ? weights.processor : weights.processor[round]));
    return {
      config, features, rounds, encoders: weights.encoders, decoders: weights.decoders,
      nodes: encoder("node", features, weights.encoders, config),
      edges: encoder("edge", features, weights.encoders, config), parts: new Map(),
    };
  };

  const heads = ({ config }) =>
    config.rounds * (config.processor.startsWith("gat") ? config.heads : 1);
  const attends = ({ config }) => config.processor.startsWith("gat");

  // Features of nodes and of edges are linear in a few scalars: e_ij = W s_ij + b. This is W, with the
  // rows of all encoders below each other, and b, the sum of theirs.
  const encoder = (location, features, encoders, { width }) => {
    const read = features.filter((f) => readsAt(f) === location && f.name in encoders);
    const parts = read.flatMap(({ name }) => ("over_first" in encoders[name]
      ? [encoders[name].over_first, encoders[name].over_second] : [encoders[name]]));
    const inputs = parts.reduce((sum, part) => sum + part.inputs, 0);
    const weight = new Float64Array(inputs * width), bias = new Float64Array(width);
    let row = 0;
    for (const part of parts) {
      weight.set(part.weight, row * width);
      row += part.inputs;
      part.bias.forEach((number, k) => { bias[k] += number; });
    }
    return layer(weight, bias, inputs, width);
  };

  // s_i: the values of all features of nodes.
  const nodeScalars = (network, values, n) => concat(n, ...network.features
    .filter((feature) => readsAt(feature) === "node" && feature.name in values)
    .map(({ name }) => values[name]));

  // s_ij: the value of each feature of edges; with three views f_ij, f_ji and f_ij of loops alone;
  // of pointers of edges p_ijk the means over i, at jk, and over j, at ik.
  const edgeScalars = (network, values, n) => {
    const rows = network.edges.inputs, scalars = new Float64Array(n * n * rows);
    let row = 0;
    for (const feature of network.features) {
      if (readsAt(feature) !== "edge" || !(feature.name in values)) continue;
      const given = values[feature.name];
      if (feature.location === "edge" && isPointer(feature)) {
        given.forEach((p, at) => {
          const i = Math.floor(at / n / n), j = Math.floor(at / n) % n, k = at % n;
          scalars[(j * n + k) * rows + row] += p / n;
          scalars[(i * n + k) * rows + row + 1] += p / n;
        });
        row += 2;
        continue;
      }
      const count = feature.kind === "categorical" ? feature.classes : 1;
      const views = network.encoders[feature.name].inputs / count;
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          for (let c = 0; c < count; c++) {
            const to = (i * n + j) * rows + row + c, here = given[(i * n + j) * count + c];
            scalars[to] = here;
            if (views === 3) {
              scalars[to + count] = given[(j * n + i) * count + c];
              scalars[to + 2 * count] = i === j ? here : 0;
            }
          }
        }
      }
      row += views * count;
    }
    return scalars;
  };

  // A layer on [features, more]: on the scalars that the features are made of, and on the rest.
  const parts = (network, features, whole) => {
    if (!network.parts.has(whole)) {
      const { width } = network.config;
      network.parts.set(whole, {
        onScalars: composed(features, { ...onInputs(whole, 0, width), bias: whole.bias }),
        onMore: onInputs(whole, width, whole.inputs),
      });
    }
    return network.parts.get(whole);
  };

  const encode = (network, values, n) => {
    const { width } = network.config, graph = new Float64Array(width), adjacency = new Uint8Array(n * n);
    for (let node = 0; node < n; node++) adjacency[node * n + node] = 1;
    for (const feature of network.features) {
      if (!(feature.name in values)) continue;
      const given = values[feature.name];
      if (readsAt(feature) === "graph") linear(given, 1, network.encoders[feature.name], graph);
      joinNodes(feature, given, n, adjacency);
    }
    const ofNodes = nodeScalars(network, values, n), ofEdges = edgeScalars(network, values, n);
    const applied = (features, scalars, rows) => (whole, more = null) => {
      const { onScalars, onMore } = parts(network, features, whole);
      const units = linear(scalars, rows, onScalars);
      return more ? linear(more, rows, onMore, units) : units;
    };
    return {
      n, graph, adjacency,
      // Features of nodes [n × width]
      nodes: () => linear(ofNodes, n, network.nodes),
      // A layer on the features of nodes, or on [features, more]
      onNodes: applied(network.nodes, ofNodes, n),
      // The same for edges
      onEdges: applied(network.edges, ofEdges, n * n),
    };
  };

  // Edge masks and pointers of nodes make neighbours, in both directions.
  const joinNodes = (feature, given, n, adjacency) => {
    const points = feature.location === "node" && isPointer(feature);
    if (!points && !(feature.location === "edge" && feature.kind === "mask")) return;
    const least = points ? 0.5 : 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        if (given[i * n + j] + given[j * n + i] > least) adjacency[i * n + j] = 1;
      }
    }
  };

  // The run of a problem: attention, states, logits and decisions of each step, and the answer.
  // Yields what there is after each step, so that whoever asked may do something else, or stop.
  function* stepping(network, problem, interventions = Interventions.none) {
    const { config, features } = network, { n, steps } = problem;
    if (config.attention_bias && config.attention_bias !== n) {
      throw new Unsupported(`nodes: got ${n}, needed ${config.attention_bias}, the size that the ` +
        "network's pre-attention bias is made for");
    }
    const hintFeatures = features.filter((feature) => feature.stage === "hint");
    const fed = config.encode_hints ? hintFeatures : [];
    const said = config.decode_hints ? hintFeatures : [];
    const kept = fed.filter(({ location }) => location !== "graph");
    const hard = config.hint_repred_mode !== "soft";
    const inputs = {}, logits = {};
    for (const feature of features.filter(({ stage }) => stage === "input")) {
      const register = problem.inputs[feature.name];
      inputs[feature.name] = value(feature, register, n).map(Math.fround);
    }
    let hints = Object.fromEntries(fed.map((feature) =>
      [feature.name, value(feature, problem.hints[feature.name][0], n).map(Math.fround)]));
    let hidden = new Float64Array(n * config.width), states = null;
    const result = { attention: [], hidden: [], hints: {}, outputs: {}, logits, fedBack: [] };
    for (const { name } of said) logits[name] = [], result.hints[name] = [];
    for (let step = 0; step < steps; step++) {
      ({ hidden, hints } = interventions.exchanged(step, { hidden, hints }, kept, n));
      const before = config.memory ? hidden : new Float64Array(n * config.width);
      const encoded = encode(network, { ...inputs, ...hints }, n);
      const processed = allRounds(network, encoded, before, interventions);
      hidden = processed.hidden;
      states = { n, encoded, hidden: concat(n, before, hidden), edges: processed.edges };
      for (const feature of said) {
        const row = Decoders.decode(network, feature, states);
        logits[feature.name].push(row);
        result.hints[feature.name].push(decide(feature, row, n));
      }
      hints = Object.fromEntries(fed.map((feature) =>
        [feature.name, feedBack(feature, logits[feature.name].at(-1), n, hard)]));
      result.attention.push(processed.attention);
      result.hidden.push(hidden);
      result.fedBack.push(hints);
      yield result;
    }
    for (const feature of features.filter(({ stage }) => stage === "output")) {
      logits[feature.name] = Decoders.decode(network, feature, states);
      result.outputs[feature.name] = decide(feature, logits[feature.name], n);
    }
    return result;
  }

  const run = (network, problem, interventions) => {
    const all = stepping(network, problem, interventions);
    let next = all.next();
    while (!next.done) next = all.next();
    return next.value;
  };

  // All rounds of a step; the attention of all rounds along the axis of heads.
  const allRounds = (network, encoded, before, interventions) => {
    const { config } = network, process = Processors[config.processor], attention = [];
    let hidden = before, edges = null;
    network.rounds.forEach((weights, round) => {
      const made = process(
        weights, config, encoded, hidden, interventions.reading(round * config.heads));
      hidden = made.hidden;
      edges = made.edges ?? null;
      attention.push(made.attention);
    });
    const { n } = encoded, size = attention[0].length, all = new Float64Array(size * attention.length);
    attention.forEach((part, round) => all.set(part, round * size));
    return { n, hidden, edges, attention: all };
  };

  return { read, run, stepping, heads, attends, Unsupported };
})();
