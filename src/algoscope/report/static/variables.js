// The table of variables: every node's inputs and, step by step, what the algorithm and the
// subjects say of it. What is wrong has a cross.
"use strict";

const Variables = (choose) => {
  const { make, range } = Dom;
  const SIGNS = { mask: ["·", "●"], mask_one: ["·", "●"] };
  const table = make("table", { class: "variables" });
  let scene, atNodes, atGraph, columns, built = "";

  const shown = ({ kind }, value) => {
    if (value === undefined) return "–";
    if (value < 0 && kind !== "scalar") return "–";
    return SIGNS[kind]?.[value] ?? String(kind === "scalar" ? Number(value.toPrecision(3)) : value);
  };

  const rebuild = (nextScene, variables, names) => {
    scene = nextScene;
    columns = [scene.isChanged ? "algorithm, changed" : "reference", ...names];
    atNodes = variables.filter(({ where }) => where === "node");
    atGraph = variables.filter(({ where }) => where === "graph");
    const inputs = Object.entries(scene.inputs);
    const shape = JSON.stringify([scene.nodes, columns, inputs, atNodes, atGraph]);
    if (shape === built) return;
    built = shape;
    const top = make("tr", {}, make("th", { scope: "col" }, "node"));
    const below = make("tr", {}, make("th"));
    for (const [name] of inputs) {
      top.append(make("th", { class: "group", scope: "col" }, name));
      below.append(make("th", { scope: "col" }, "input"));
    }
    for (const { name } of atNodes) {
      top.append(make("th", { class: "group", scope: "colgroup", colspan: columns.length }, name));
      below.append(...columns.map((column) => make("th", { scope: "col" }, column)));
    }
    const body = make("tbody");
    for (const node of range(scene.nodes)) {
      const row = make("tr", { "data-node": node }, make("td", {}, String(node)));
      row.append(...inputs.map(([, values]) => make("td", {}, String(values[node]))));
      row.append(...range(columns.length * atNodes.length).map(() => make("td")));
      body.append(row);
    }
    for (const { name } of atGraph) {
      const row = make("tr", { class: "whole" }, make("td", {}, name));
      row.append(...inputs.map(() => make("td")), ...columns.map(() => make("td")));
      body.append(row);
    }
    table.replaceChildren(make("thead", {}, top, below), body);
  };
  table.addEventListener("click", ({ target }) => {
    const node = target.closest("tr[data-node]")?.dataset.node;
    if (node !== undefined) choose(Number(node));
  });

  const fill = (cell, text, wrong) => {
    if (cell.textContent !== text) cell.textContent = text;
    cell.classList.toggle("wrong", Boolean(wrong));
  };

  const update = ({ step, chosen }, accounts) => {
    const rows = [...table.tBodies[0].rows], first = 1 + Object.keys(scene.inputs).length;
    const fillAll = (cells, start, variable, entry) => {
      const { name } = variable;
      fill(cells[start], shown(variable, scene.truth[name]?.[step]?.[entry]), false);
      accounts.forEach(({ said, wrong }, side) => fill(cells[start + 1 + side],
        shown(variable, said[name]?.[step]?.[entry]), wrong[name]?.[step]?.[entry]));
    };
    for (const node of range(scene.nodes)) {
      rows[node].classList.toggle("chosen", chosen === node);
      atNodes.forEach((variable, at) =>
        fillAll(rows[node].cells, first + columns.length * at, variable, node));
    }
    atGraph.forEach((variable, at) => fillAll(rows[scene.nodes + at].cells, first, variable, 0));
  };

  return { table, rebuild, update };
};
