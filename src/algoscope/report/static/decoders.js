// Decoders: from the states of a step to the logits of a feature, as networks/decoders.py has them.
//
// h_i [3 width] are the states of node i: its encoded features, its hidden state before the step
// and after it. e_ij are the features of edges, with those that the processor made; g the graph's.
"use strict";

const Decoders = (() => {
  const { linear } = Layers;

  // A layer on the features of edges, [n × n × outputs]; its last rows read what the processor made.
  const onEdges = (network, layer, { n, encoded, edges }) => {
    const units = encoded.onEdges(layer), { width } = network.config;
    if (!edges) return units;
    const weight = layer.weight.subarray(width * layer.outputs);
    const made = linear(edges, n * n, { ...layer, weight, bias: null, inputs: width });
    return units.map((unit, k) => unit + made[k]);
  };

  // y_i = W h_i
  const node = (network, { node: layer }, { n, nodes }) => linear(nodes, n, layer);

  // y_ij = w · max(W_receiver h_i, W_sender h_j + W_edge e_ji), Mind The Gap eq. 27-29
  const pointer = (network, { receiver, sender, edge, score }, states) => {
    const { n, nodes } = states, width = score.inputs, logits = new Float64Array(n * n);
    const receivers = linear(nodes, n, receiver), senders = linear(nodes, n, sender);
    const edges = edge ? onEdges(network, edge, states) : new Float64Array(n * n * width);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        let sum = score.bias[0];
        for (let k = 0; k < width; k++) {
          const sent = senders[j * width + k] + edges[(j * n + i) * width + k];
          sum += score.weight[k] * Math.max(receivers[i * width + k], sent);
        }
        logits[i * n + j] = sum;
      }
    }
    return logits;
  };

  // y_ij = W_receiver h_i + W_sender h_j + W_edge e_ij
  const edge = (network, { receiver, sender, edge: layer }, states) => {
    const { n, nodes } = states, width = layer.outputs;
    const receivers = linear(nodes, n, receiver), senders = linear(nodes, n, sender);
    return onEdges(network, layer, states).map((unit, at) => {
      const pair = Math.floor(at / width), k = at % width;
      return unit + receivers[Math.floor(pair / n) * width + k] + senders[(pair % n) * width + k];
    });
  };

  // y_ijk = w · max(W_receiver h_i + W_sender h_j + W_edge e_ij, W_target h_k)
  const edgePointer = (network, decoder, states) => {
    const { n, nodes } = states, { score } = decoder, width = score.inputs;
    const pairs = edge(network, decoder, states), targets = linear(nodes, n, decoder.target);
    const logits = new Float64Array(n * n * n);
    for (let pair = 0; pair < n * n; pair++) {
      for (let target = 0; target < n; target++) {
        let sum = score.bias[0];
        for (let k = 0; k < width; k++) {
          sum += score.weight[k] * Math.max(pairs[pair * width + k], targets[target * width + k]);
        }
        logits[pair * n + target] = sum;
      }
    }
    return logits;
  };

  // y = W_nodes max_i h_i + W_graph g
  const graph = (network, { nodes: layer, graph: whole }, { n, nodes, encoded }) => {
    const width = nodes.length / n, most = new Float64Array(width).fill(-Infinity);
    nodes.forEach((number, k) => { most[k % width] = Math.max(most[k % width], number); });
    const read = linear(encoded.graph, 1, whole);
    return linear(most, 1, layer).map((number, k) => number + read[k]);
  };

  const AT = { node: { pointer }, edge: { pointer: edgePointer }, graph: {} };
  const OTHERWISE = { node, edge, graph };

  const decode = (network, { name, location, kind }, states) =>
    (AT[location][kind] ?? OTHERWISE[location])(network, network.decoders[name], states);

  return { decode };
})();
