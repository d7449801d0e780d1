// Keeps the list of runs, or the page of one, as it is now: the server sends what has changed.
"use strict";

(() => {
  const place = document.querySelector("[data-stream]");
  const heading = document.querySelector("[data-count]");
  const RETRY = 5000;

  // Takes over what differs and leaves the rest: choices, the focus and frames stay, and what is
  // filtered out is hidden as before.
  const update = (old, fresh) => {
    fresh.toggleAttribute("hidden", old.hasAttribute("hidden"));
    if (old.isEqualNode(fresh)) return;
    const [from, to] = [[...old.children], [...fresh.children]];
    const alike = old.cloneNode().isEqualNode(fresh.cloneNode()) && from.length === to.length;
    if (alike && to.length && to.length === fresh.childNodes.length) {
      from.forEach((child, index) => update(child, to[index]));
    } else if (alike && !to.length) {
      old.textContent = fresh.textContent;
    } else {
      old.replaceWith(fresh);
    }
  };

  const show = ({ run, html }) => {
    const old = [...place.querySelectorAll("[data-run]")].find((one) => one.dataset.run === run);
    const template = document.createElement("template");
    template.innerHTML = html;
    const fresh = template.content.firstElementChild;
    if (old && fresh) update(old, fresh);
    else if (fresh) place.querySelector("tbody")?.append(fresh);
    else old?.remove();
    tidy();
  };

  // The runs that there are: those that went while nobody listened are taken away.
  const keep = (runs) => {
    for (const one of place.querySelectorAll("[data-run]")) {
      if (!runs.includes(one.dataset.run)) one.remove();
    }
    tidy();
  };

  // The filter and the count, once for all events that are there.
  let due = null;
  const tidy = () => {
    cancelAnimationFrame(due);
    due = requestAnimationFrame(() => {
      place.querySelector("[data-filters]")?.dispatchEvent(new Event("input"));
      if (!heading) return;
      const count = place.querySelectorAll("[data-run]").length;
      heading.textContent = `${count} run${count === 1 ? "" : "s"}`;
    });
  };

  // A browser has few connections to a server: pages that nobody sees give theirs back.
  let source = null;
  const listen = () => {
    source?.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource(place.dataset.stream);
    source.addEventListener("runs", ({ data }) => keep(JSON.parse(data)));
    source.addEventListener("message", ({ data }) => show(JSON.parse(data)));
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) setTimeout(listen, RETRY);
    });
  };
  document.addEventListener("visibilitychange", listen);
  listen();
})();
