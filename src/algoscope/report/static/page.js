// Light and dark, sortable tables, paper, and which section one is in. No library, no request.
"use strict";

(() => {
  const root = document.documentElement;
  const stored = {
    get() { try { return localStorage.getItem("algoscope-theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("algoscope-theme", theme); } catch { /* from a file */ } },
  };
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const known = stored.get();
  if (known === "light" || known === "dark") root.dataset.theme = known;

  for (const button of document.querySelectorAll("button.theme")) {
    const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      stored.set(root.dataset.theme);
      name();
    });
    name();
  }

  // The number that a cell begins with; none of a date, a time or a name such as 2nd-try.
  const NUMBER = /^[-+]?(\d[\d,]*(\.\d*)?|\.\d+)(e[-+]?\d+)?(?![\w:.,-])/i;
  const number = (text) => {
    const found = NUMBER.exec(text.replace("−", "-"));
    return found && parseFloat(found[0].replaceAll(",", ""));
  };
  const text = (row, column) => (row.cells[column]?.textContent ?? "").trim();
  const before = (one, other) => {
    const [a, b] = [number(one), number(other)];
    if (a !== null && b !== null) return a - b;
    if (a !== null || b !== null) return a === null ? 1 : -1;
    return one.localeCompare(other, "en", { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].filter((row) => !row.classList.contains("control"));
        const fixed = [...body.rows].filter((row) => row.classList.contains("control"));
        rows.sort((a, b) => (up ? 1 : -1) * before(text(a, column), text(b, column)));
        body.append(...rows, ...fixed);
      });
    });
  }

  // Paper shows what is folded on the screen.
  const opened = new Set();
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details:not([open])")) {
      opened.add(folded);
      folded.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const folded of opened) folded.open = false;
    opened.clear();
  });

  const links = new Map(
    [...document.querySelectorAll("nav.bar ul a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-30% 0px -60% 0px" });
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) watch.observe(section);
  }

  const search = document.querySelector("input[data-filters]");
  if (search) {
    const rows = () => document.querySelectorAll(`#${search.dataset.filters} tbody tr`);
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows()) {
        const own = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => own.includes(word));
      }
    });
  }
})();
