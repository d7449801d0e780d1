// Accounts: what a subject says of a problem beside what it is expected to say, entry by entry.
//
// An entry is wrong as in src/algoscope/falsify/disagreement.py: discrete values are compared as
// they are, numbers within a tolerance, and what the algorithm masks counts nowhere.
"use strict";

const Accounts = (() => {
  const { range } = Dom;

  // A register, one entry a node or pair of nodes; of one node of all, 1 at the node.
  const entries = ({ kind }, register, n) =>
    (kind === "mask_one" ? range(n).map((node) => (node === register[0] ? 1 : 0))
      : Array.from(register));

  const isWrong = ({ kind }, said, truth, tolerance) =>
    (kind === "scalar" ? !(Math.abs(said - truth) <= tolerance) : truth >= 0 && said !== truth);

  const at = (task, stage) => task.features.filter((feature) => feature.stage === stage);

  // What the algorithm says after each step that a network takes, and its answer. A trace of one
  // step has nothing that a network could predict.
  const ofAlgorithm = (task, { n, steps, hints, outputs }) => {
    const length = Object.values(hints)[0].length;
    return {
      counts: length > 1,
      hints: named(at(task, "hint"), (feature) => range(steps).map((step) =>
        entries(feature, hints[feature.name][Math.min(step + 1, length - 1)], n))),
      outputs: named(at(task, "output"), (feature) => entries(feature, outputs[feature.name], n)),
    };
  };

  // The same of a run; of hints that the network does not say, nothing.
  const ofRun = (task, n, { hints, outputs }) => ({
    counts: true,
    hints: named(at(task, "hint").filter(({ name }) => name in hints), (feature) =>
      hints[feature.name].map((register) => entries(feature, register, n))),
    outputs: named(at(task, "output").filter(({ name }) => name in outputs), (feature) =>
      entries(feature, outputs[feature.name], n)),
  });

  const named = (features, value) =>
    Object.fromEntries(features.map((feature) => [feature.name, value(feature)]));

  // The account of a run, which grows by a step at a time: said and wrong by name as [step][entry],
  // and the first difference, { step, feature, entry, said, truth }, with step null in the answer.
  function* growing({ task, tolerance, problem }, network, expected, interventions) {
    const { n } = problem, hints = at(task, "hint");
    const account = {
      n, steps: 0, done: false, heads: Network.attends(network) ? Network.heads(network) : 1,
      attends: Network.attends(network), attention: [], hidden: [], width: network.config.width,
      said: {}, wrong: {}, first: null, answerIsWrong: null,
    };
    const compared = (feature, register, truth, step) => {
      const said = entries(feature, register, n);
      const wrong = said.map((value, entry) =>
        (expected.counts || step === null) && isWrong(feature, value, truth[entry], tolerance) ? 1 : 0);
      const entry = wrong.indexOf(1);
      if (entry >= 0) {
        account.first ??= { step, feature, entry, n, said: said[entry], truth: truth[entry] };
      }
      return { said, wrong, isWrong: entry >= 0 };
    };
    const run = Network.stepping(network, problem, interventions);
    let next = run.next();
    for (; !next.done; next = run.next()) {
      const step = account.steps, { value: result } = next;
      for (const feature of hints.filter(({ name }) => name in result.hints)) {
        const { name } = feature, truth = expected.hints[name][step];
        const { said, wrong } = compared(feature, result.hints[name][step], truth, step);
        (account.said[name] ??= []).push(said);
        (account.wrong[name] ??= []).push(wrong);
      }
      account.attention.push(result.attention[step]);
      account.hidden.push(result.hidden[step]);
      account.steps += 1;
      yield account;
    }
    account.result = next.value;
    account.answerIsWrong = at(task, "output").map((feature) => compared(
      feature, next.value.outputs[feature.name], expected.outputs[feature.name], null))
      .some(({ isWrong: is }) => is);
    account.done = true;
    return account;
  }

  const number = (value) => String(Number(value.toPrecision(3)));
  const value = ({ kind }, given) => {
    if (kind === "scalar") return number(given);
    return kind.startsWith("mask") ? (given ? "yes" : "no") : String(given);
  };

  // "pi_h of node 5 at step 3: got 4, the algorithm has 2"
  const told = ({ step, feature, entry, n, said, truth }) => {
    const where = { graph: "", node: ` of node ${entry}`,
      edge: ` from ${Math.floor(entry / n)} to ${entry % n}` }[feature.location];
    const when = step === null ? " in the answer" : ` at step ${step + 1}`;
    return `${feature.name}${where}${when} is ${value(feature, said)}, not ${value(feature, truth)}`;
  };

  // What an exchange or a pin changes, in the algorithm's account or in the subject's own, and in
  // how many of these entries the subject goes on as the algorithm: measures/interchange.py.
  const following = (task, tolerance, algorithm, subject) => {
    let changed = 0, same = 0;
    const differ = (feature, a, b) => (feature.kind === "scalar"
      ? !(Math.abs(a - b) <= tolerance) : a !== b);
    const count = (feature, [before, after], [saidBefore, saidAfter]) => {
      after.forEach((expected, entry) => {
        if (!differ(feature, before[entry], expected)
          && !differ(feature, saidBefore[entry], saidAfter[entry])) return;
        changed += 1;
        same += differ(feature, saidAfter[entry], expected) ? 0 : 1;
      });
    };
    for (const feature of at(task, "hint")) {
      const { name } = feature;
      if (!(name in subject[1].hints)) continue;
      subject[1].hints[name].forEach((_, step) => count(feature,
        algorithm.map(({ hints }) => hints[name][step]), subject.map(({ hints }) => hints[name][step])));
    }
    return { changed, same };
  };

  // How nodes are marked in a picture: by the first mask of nodes, or else the first class, of
  // which the last is "marked" and those between "half" marked. Of variables { name, kind, classes }.
  const marker = (variables) => {
    const shown = variables.find(({ kind }) => kind === "mask")
      ?? variables.find(({ kind }) => kind === "categorical");
    const last = shown?.kind === "mask" ? 1 : (shown?.classes ?? 2) - 1;
    return (hints, step, node) => {
      const given = shown && hints[shown.name]?.[step]?.[node];
      return given === last ? "marked" : given > 0 ? "half" : "";
    };
  };

  return { ofAlgorithm, ofRun, growing, entries, told, following, marker };
})();
