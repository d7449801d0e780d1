// The arrays of a network by name, with their shapes: what its configuration and the features of its
// task need, as src/algoscope/networks makes them.
"use strict";

const Shapes = (() => {
  const EDGE_VIEWS = 3;

  const layer = (inputs, outputs) => ({ weight: [inputs, outputs], bias: [outputs] });
  const when = (isThere, parts) => (isThere ? parts : {});
  const norm = ({ layer_norm: isThere, width }) =>
    when(isThere, { norm: { scale: [width], offset: [width] } });

  const readsEdges = ({ kind, location }) => kind === "pointer" || location === "edge";
  const encoder = (feature, { width, edge_views: views }) => {
    const { kind, location, classes } = feature;
    if (location === "edge" && kind === "pointer") {
      return { over_first: layer(1, width), over_second: layer(1, width) };
    }
    return layer((views && readsEdges(feature) ? EDGE_VIEWS : 1) * classes, width);
  };

  const decoder = ({ kind, location, classes }, { width, processor, simple_decoders: simple }) => {
    const states = 3 * width, edges = processor === "triplet_gmpnn" ? 2 * width : width;
    if (location === "graph") return { nodes: layer(states, classes), graph: layer(width, classes) };
    const outputs = kind === "pointer" ? width : classes;
    const pair = { receiver: layer(states, outputs), sender: layer(states, outputs) };
    const edge = { edge: layer(edges, outputs) };
    if (location === "edge") {
      return { ...pair, ...edge,
        ...when(kind === "pointer", { target: layer(states, width), score: layer(width, 1) }) };
    }
    if (kind !== "pointer") return { node: layer(states, classes) };
    return { ...pair, ...when(!simple, edge), score: layer(width, 1) };
  };

  const gat = (config) => {
    const { width, heads } = config;
    return {
      value: layer(2 * width, width), skip: layer(2 * width, width), ...norm(config),
      receiver: layer(2 * width, heads), sender: layer(2 * width, heads),
      edge: layer(width, heads), graph: layer(width, heads),
    };
  };

  const gatv2 = (config) => {
    const { width, heads, attention_bias: nodes } = config, units = config.attention_width ?? width;
    const values = config.head_combination === "sum" ? heads * width : width;
    return {
      value: layer(2 * width, values), skip: layer(2 * width, width), ...norm(config),
      receiver: layer(2 * width, units), sender: layer(2 * width, units),
      edge: layer(width, units), graph: layer(width, units), head: layer(units / heads, heads),
      ...when(config.edge_information, { information: [width, values] }),
      ...when(nodes, { bias: [nodes, nodes] }),
    };
  };

  const pgn = (config) => {
    const { width } = config, isGated = config.gated || config.processor === "triplet_gmpnn";
    const [own, message] = [layer(2 * width, width), layer(width, width)];
    return {
      receiver: own, sender: own, edge: message, graph: message, own, message,
      mlp: [message, message], ...norm(config), ...when(isGated, { gate: { own, message, gate: message } }),
    };
  };

  const tripletGmpnn = (config) => {
    const { width, triplet_width: narrow } = config;
    const [node, edge] = [layer(2 * width, narrow), layer(width, narrow)];
    return {
      ...pgn(config), first: node, second: node, third: node, first_second: edge, first_third: edge,
      second_third: edge, triplet_graph: edge, triplet_out: layer(narrow, width),
    };
  };

  const PROCESSORS = {
    deepsets: pgn, gat, gat_full: gat, gatv2, gatv2_full: gatv2, mpnn: pgn, pgn,
    triplet_gmpnn: tripletGmpnn,
  };

  // [["a.b.weight", shape], …] of { a: { b: { weight: shape } } }
  const flat = (tree, start = "") => Object.entries(tree).flatMap(([name, part]) =>
    (part.every?.(Number.isFinite) ? [[start + name, part]] : flat(part, `${start}${name}.`)));

  // A Map from names to shapes.
  const of = (config, features) => {
    const round = PROCESSORS[config.processor](config);
    const isOne = config.shared_rounds || config.rounds === 1;
    const named = (stages, part) => Object.fromEntries(features
      .filter(({ stage }) => stages.includes(stage)).map((feature) => [feature.name, part(feature, config)]));
    return new Map(flat({
      encoders: named(config.encode_hints ? ["input", "hint"] : ["input"], encoder),
      processor: isOne ? round : Array.from({ length: config.rounds }, () => round),
      decoders: named(config.decode_hints ? ["hint", "output"] : ["output"], decoder),
    }));
  };

  return { of };
})();
