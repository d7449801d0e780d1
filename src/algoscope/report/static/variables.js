// The table of variables: every node's inputs and, step by step, what the algorithm and the
// subjects say of it. What is wrong has a cross.
"use strict";

const Variables = (choose) => {
  const { make, range } = Dom;
  const SIGNS = { mask: ["·", "●"], mask_one: ["·", "●"] };
  const MOST_ON_PAPER = 8;
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
    const top = make("tr", {}, make("th", { scope: "col", rowspan: 2 }, "node"));
    const below = make("tr");
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

  // Paper cannot be scrolled: there variables stand below each other, as tables of so many columns.
  const parts = () => {
    const first = 1 + Object.keys(scene.inputs).length;
    const beside = Math.max(1, Math.floor(MOST_ON_PAPER / columns.length));
    return range(Math.ceil(atNodes.length / beside)).map((part) => {
      const copy = table.cloneNode(true), groups = Object.keys(scene.inputs).length;
      const keep = (row, fixed, start, end) => [...row.cells].forEach((cell, at) => {
        if (at >= fixed && (at < start || at >= end)) cell.remove();
      });
      const [from, to] = [part * beside, (part + 1) * beside], wide = columns.length;
      const [top, below, ...rows] = copy.rows;
      keep(top, first, first + from, first + to);
      keep(below, groups, groups + from * wide, groups + to * wide);
      rows.forEach((row) => {
        if (row.dataset.node !== undefined) keep(row, first, first + from * wide, first + to * wide);
        else if (part) row.remove();
      });
      return copy;
    });
  };
  let onPaper = [];
  addEventListener("beforeprint", () => {
    if (!built || onPaper.length) return;
    onPaper = parts();
    if (onPaper.length > 1) table.replaceWith(...onPaper);
  });
  addEventListener("afterprint", () => {
    if (onPaper.length > 1) onPaper[0].before(table);
    onPaper.forEach((part) => part.remove());
    onPaper = [];
  });

  return { table, rebuild, update };
};
