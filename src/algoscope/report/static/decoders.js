// Decoders: from the states of a step to the logits of a feature, as networks/decoders.py has them.
//
// h_i [3 width] are the states of node i: its encoded features, and its hidden state before the step
// and after it (`hidden`). e_ij are the features of edges, with those that the processor made
// (`edges`); g the graph's.
"use strict";

const Decoders = (() => {
  const { linear, larger } = Layers;

  // y_i = W h_i
  const node = ({ node: layer }, { encoded, hidden }) => encoded.onNodes(layer, hidden);

  // y_ij = w · max(W_receiver h_i, W_sender h_j + W_edge e_ji), Mind The Gap eq. 27-29
  const pointer = ({ receiver, sender, edge, score }, { n, encoded, hidden, edges: made }) => {
    const width = score.inputs, logits = new Float64Array(n * n);
    const receivers = encoded.onNodes(receiver, hidden), senders = encoded.onNodes(sender, hidden);
    const edges = edge ? encoded.onEdges(edge, made) : new Float64Array(n * n * width);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        let sum = score.bias[0];
        for (let k = 0; k < width; k++) {
          const sent = senders[j * width + k] + edges[(j * n + i) * width + k];
          sum += score.weight[k] * larger(receivers[i * width + k], sent);
        }
        logits[i * n + j] = sum;
      }
    }
    return logits;
  };

  // y_ij = W_receiver h_i + W_sender h_j + W_edge e_ij
  const edge = ({ receiver, sender, edge: layer }, { n, encoded, hidden, edges }) => {
    const width = layer.outputs, units = encoded.onEdges(layer, edges);
    const receivers = encoded.onNodes(receiver, hidden), senders = encoded.onNodes(sender, hidden);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        for (let k = 0; k < width; k++) {
          units[(i * n + j) * width + k] += receivers[i * width + k] + senders[j * width + k];
        }
      }
    }
    return units;
  };

  // y_ijk = w · max(W_receiver h_i + W_sender h_j + W_edge e_ij, W_target h_k)
  const edgePointer = (decoder, states) => {
    const { n, encoded, hidden } = states, { score } = decoder, width = score.inputs;
    const pairs = edge(decoder, states), targets = encoded.onNodes(decoder.target, hidden);
    const logits = new Float64Array(n * n * n);
    for (let pair = 0; pair < n * n; pair++) {
      for (let target = 0; target < n; target++) {
        let sum = score.bias[0];
        for (let k = 0; k < width; k++) {
          sum += score.weight[k] * larger(pairs[pair * width + k], targets[target * width + k]);
        }
        logits[pair * n + target] = sum;
      }
    }
    return logits;
  };

  // y = W_nodes max_i h_i + W_graph g
  const graph = ({ nodes: layer, graph: whole }, { n, encoded, hidden }) => {
    const nodes = Layers.concat(n, encoded.nodes(), hidden), width = nodes.length / n;
    const most = new Float64Array(width).fill(-Infinity);
    nodes.forEach((number, k) => { most[k % width] = Math.max(most[k % width], number); });
    return linear(encoded.graph, 1, whole, linear(most, 1, layer));
  };

  const AT = { node: { pointer }, edge: { pointer: edgePointer }, graph: {} };
  const OTHERWISE = { node, edge, graph };

  const decode = (network, { name, location, kind }, states) =>
    (AT[location][kind] ?? OTHERWISE[location])(network.decoders[name], states);

  return { decode };
})();
