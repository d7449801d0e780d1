// Processors: one round of message passing, as src/algoscope/networks/processors has it.
//
// A round takes its weights, the configuration, what the encoders give (see `encode` in network.js:
// a layer on z is `encoded.onNodes(layer, hidden)`), the hidden states [n × width] and `reading`, the interventions on who reads whom (see interventions.js). It gives
// the new states, the attention [heads × receiver × sender] and, of a Triplet-GMPNN, new features
// of edges [n × n × width].
"use strict";

const Processors = (() => {
  const { linear, layerNorm, softmax, relu, leakyRelu, sigmoid } = Layers;
  const NO_MESSAGE = -1e6;

  const added = (...parts) => parts[0].map((value, k) => {
    for (let other = 1; other < parts.length; other++) value += parts[other][k];
    return value;
  });

  // α_i = softmax_j(a_ij - penalty where j is no neighbour); logits [heads × n × n], in place
  const attend = (logits, { n, adjacency }, config, reading) => {
    if (!config.processor.endsWith("_full")) {
      for (let k = 0; k < logits.length; k++) {
        if (!adjacency[k % (n * n)]) logits[k] -= config.attention_mask;
      }
    }
    return reading.changed(softmax(logits, n), n);
  };

  // s_i = sum_j α_ij (v_j + w_ij), head after head: v [n × heads part], w [n × n × heads part]
  const selected = (attention, n, heads, values, information) => {
    const width = values.length / n, part = width / heads, sums = new Float64Array(n * width);
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          const weight = attention[(head * n + i) * n + j];
          if (weight === 0) continue;
          for (let k = head * part; k < (head + 1) * part; k++) {
            let value = values[j * width + k];
            if (information) value += information[(i * n + j) * width + k];
            sums[i * width + k] += weight * value;
          }
        }
      }
    }
    return sums;
  };

  // GAT (Veličković et al., 2018), with z_i = [node features_i, hidden_i]:
  //   a_ij   = LeakyReLU(w_receiver · z_i + w_sender · z_j + w_edge · e_ij + w_graph · g)
  //   hidden = LayerNorm(ReLU(sum_j α_ij W_value z_j + W_skip z_i))
  const gat = (weights, config, encoded, hidden, reading) => {
    const { n } = encoded, { heads } = config;
    const receivers = encoded.onNodes(weights.receiver, hidden);
    const senders = encoded.onNodes(weights.sender, hidden);
    const edges = encoded.onEdges(weights.edge), graph = linear(encoded.graph, 1, weights.graph);
    const logits = new Float64Array(heads * n * n);
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          logits[(head * n + i) * n + j] = leakyRelu(receivers[i * heads + head]
            + senders[j * heads + head] + edges[(i * n + j) * heads + head] + graph[head]);
        }
      }
    }
    const attention = attend(logits, encoded, config, reading);
    const sums = selected(attention, n, heads, encoded.onNodes(weights.value, hidden));
    const after = relu(added(sums, encoded.onNodes(weights.skip, hidden)));
    return { hidden: weights.norm ? layerNorm(after, n, weights.norm) : after, attention };
  };

  // GATv2 (Brody et al., 2022), with the options of Mind The Gap, equations 2-14:
  //   a_ij   = w · LeakyReLU(W_receiver z_i + W_sender z_j + W_edge e_ij + W_graph g + B_ij) + b
  //   s_i    = sum_j α_ij (W_value z_j + W_info e_ij)
  //   hidden = LayerNorm(ReLU(s_i + W_skip z_i))     activation on the sum
  //          = LayerNorm(s_i + ReLU(W_skip z_i))     activation on the skip
  const gatv2 = (weights, config, encoded, hidden, reading) => {
    const { n } = encoded, { heads } = config;
    const attention = attend(gatv2Logits(weights, config, encoded, hidden), encoded, config, reading);
    const information = weights.information && encoded.onEdges(weights.information);
    const values = encoded.onNodes(weights.value, hidden);
    const byHead = selected(attention, n, heads, values, information);
    const sums = config.head_combination === "sum" ? headSum(byHead, n, heads) : byHead;
    const skip = encoded.onNodes(weights.skip, hidden);
    const after = config.activation === "sum" ? relu(added(sums, skip)) : added(sums, relu(skip));
    return { hidden: weights.norm ? layerNorm(after, n, weights.norm) : after, attention };
  };

  const gatv2Logits = (weights, { heads }, encoded, hidden) => {
    const { n } = encoded, { head, bias } = weights;
    const receivers = encoded.onNodes(weights.receiver, hidden);
    const senders = encoded.onNodes(weights.sender, hidden);
    const edges = encoded.onEdges(weights.edge), graph = linear(encoded.graph, 1, weights.graph);
    const units = graph.length, part = units / heads, logits = new Float64Array(heads * n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const pair = i * n + j, offset = bias ? bias[pair] : 0;
        for (let at = 0; at < heads; at++) {
          let logit = head.bias[at];
          for (let p = 0; p < part; p++) {
            const k = at * part + p;
            logit += head.weight[p * heads + at] * leakyRelu(receivers[i * units + k]
              + senders[j * units + k] + edges[pair * units + k] + graph[k] + offset);
          }
          logits[at * n * n + pair] = logit;
        }
      }
    }
    return logits;
  };

  // The heads' values added up: [n × heads width] -> [n × width]
  const headSum = (values, n, heads) => {
    const width = values.length / n / heads, sums = new Float64Array(n * width);
    values.forEach((value, k) => {
      sums[Math.floor(k / (heads * width)) * width + k % width] += value;
    });
    return sums;
  };

  // Max-aggregation: PGN (Veličković et al., 2020), MPNN, Deep Sets, by who is a neighbour:
  //   m_ij   = MLP(ReLU(W_receiver z_i + W_sender z_j + W_edge e_ji + W_graph g))
  //   m_i    = max_j m_ij over the neighbours j
  //   hidden = LayerNorm(ReLU(W_own z_i + W_message m_i))
  //   gated:   gate hidden + (1 - gate) previous hidden,
  //            gate = sigmoid(W_gate ReLU(W_gate_own z_i + W_gate_message m_i))
  const pgn = (isNeighbour) => (weights, config, encoded, hidden, reading) => {
    const { n } = encoded;
    const { message, attention } = strongest(weights, encoded, hidden, (i, j) =>
      reading.reads(i, j) ?? isNeighbour(encoded, i, j));
    let after = relu(linear(message, n, weights.message, encoded.onNodes(weights.own, hidden)));
    if (weights.norm) after = layerNorm(after, n, weights.norm);
    if (weights.gate) {
      const { own, message: heard, gate } = weights.gate;
      const units = relu(linear(message, n, heard, encoded.onNodes(own, hidden)));
      const open = linear(units, n, gate).map(sigmoid);
      after = after.map((value, k) => value * open[k] + hidden[k] * (1 - open[k]));
    }
    return { hidden: after, attention };
  };

  // m_i, and as attention the share of channels in which i took j's message.
  const strongest = (weights, encoded, hidden, isRead) => {
    const { n } = encoded;
    const receivers = encoded.onNodes(weights.receiver, hidden);
    const senders = encoded.onNodes(weights.sender, hidden);
    const edges = encoded.onEdges(weights.edge), graph = linear(encoded.graph, 1, weights.graph);
    const width = graph.length, message = new Float64Array(n * width);
    const attention = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      const sums = new Float64Array(n * width);
      for (let j = 0; j < n; j++) {
        for (let k = 0; k < width; k++) {
          sums[j * width + k] = receivers[i * width + k] + senders[j * width + k]
            + edges[(j * n + i) * width + k] + graph[k];
        }
      }
      const inner = relu(linear(relu(sums), n, weights.mlp[0]));
      const messages = linear(inner, n, weights.mlp[1]);
      for (let j = 0; j < n; j++) {
        if (!isRead(i, j)) messages.fill(NO_MESSAGE, j * width, (j + 1) * width);
      }
      for (let k = 0; k < width; k++) {
        let most = -Infinity, takers = 0;
        for (let j = 0; j < n; j++) most = Math.max(most, messages[j * width + k]);
        for (let j = 0; j < n; j++) takers += messages[j * width + k] === most;
        for (let j = 0; j < n; j++) {
          if (messages[j * width + k] === most) attention[i * n + j] += 1 / takers / width;
        }
        message[i * width + k] = most;
      }
    }
    return { message, attention };
  };

  const mpnn = pgn(() => true);

  // Triplet-GMPNN (Ibarz et al., 2022): a gated MPNN that gives each edge new features,
  //   t_ijk   = W_1 z_i + W_2 z_j + W_3 z_k + V_12 e_ij + V_13 e_ik + V_23 e_jk + W_g g
  //   edge_jk = ReLU(W_out max_i t_ijk)
  const tripletGmpnn = (weights, config, encoded, hidden, reading) => {
    const { n } = encoded;
    const [first, second, third] = ["first", "second", "third"]
      .map((name) => encoded.onNodes(weights[name], hidden));
    const [ij, ik, jk] = ["first_second", "first_third", "second_third"]
      .map((name) => encoded.onEdges(weights[name]));
    const graph = linear(encoded.graph, 1, weights.triplet_graph), narrow = graph.length;
    const most = new Float64Array(n * n * narrow).fill(-Infinity);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        for (let k = 0; k < n; k++) {
          for (let c = 0; c < narrow; c++) {
            const triplet = first[i * narrow + c] + second[j * narrow + c] + third[k * narrow + c]
              + ij[(i * n + j) * narrow + c] + ik[(i * n + k) * narrow + c]
              + jk[(j * n + k) * narrow + c] + graph[c];
            const at = (j * n + k) * narrow + c;
            if (triplet > most[at]) most[at] = triplet;
          }
        }
      }
    }
    const edges = relu(linear(most, n * n, weights.triplet_out));
    return { ...mpnn(weights, config, encoded, hidden, reading), edges };
  };

  return {
    deepsets: pgn((encoded, i, j) => i === j),
    gat, gat_full: gat, gatv2, gatv2_full: gatv2, mpnn,
    pgn: pgn((encoded, i, j) => Boolean(encoded.adjacency[i * encoded.n + j])),
    triplet_gmpnn: tripletGmpnn,
  };
})();
