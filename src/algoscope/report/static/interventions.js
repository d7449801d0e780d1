// Interventions by hand: what a run is changed by.
//
//   off        heads that read nothing: their α is 0
//   pins       { receiver, sender }: the receiver reads this sender alone, in every head
//   exchanges  { step, node, donor }: before the step, what the node keeps (its hidden state, and
//              its hints as they were fed back) is what the node of the donor's run keeps there, or
//              at its end, if it is shorter
//
// The same exchange in a compiled program is what the algorithm would do: its states are the
// algorithm's variables.
"use strict";

const Interventions = (() => {
  const from = ({ off = new Set(), pins = [], exchanges = [] }) => {
    const senders = new Map(pins.map(({ receiver, sender }) => [receiver, sender]));

    // Of the heads from `first` on, those of a round.
    const reading = (first) => ({
      changed: (attention, n) => {
        for (let at = 0; at < attention.length; at += n) {
          const head = first + Math.floor(at / n / n), receiver = Math.floor(at / n) % n;
          if (off.has(head)) attention.fill(0, at, at + n);
          else if (senders.has(receiver)) {
            attention.fill(0, at, at + n);
            attention[at + senders.get(receiver)] = 1;
          }
        }
        return attention;
      },
      // For max-aggregation: whether i takes j's message, undefined where nothing is pinned.
      reads: (i, j) => (senders.has(i) ? senders.get(i) === j : undefined),
    });

    // `features` are those of the hints at nodes and edges, of which a node has a part.
    const exchanged = (step, { hidden, hints }, features, n) => {
      const now = exchanges.filter((exchange) => exchange.step === step && step > 0);
      if (!now.length) return { hidden, hints };
      const after = { hidden: hidden.slice(), hints: copied(hints) };
      for (const { node, donor } of now) {
        const width = hidden.length / n, kept = Math.min(step, donor.hidden.length) - 1;
        put(after.hidden, donor.hidden[kept], node, width);
        for (const { name } of features) {
          const rows = after.hints[name];
          put(rows, donor.fedBack[kept][name], node, rows.length / n);
        }
      }
      return after;
    };

    return { reading, exchanged };
  };

  const copied = (hints) =>
    Object.fromEntries(Object.entries(hints).map(([name, rows]) => [name, rows.slice()]));

  const put = (rows, others, node, width) => {
    rows.set(others.subarray(node * width, (node + 1) * width), node * width);
  };

  return { from, none: from({}) };
})();
