// Long work in slices, so that the page answers in between: a generator that yields often is run
// for a few milliseconds at a time, until it ends or is told to stop. It yields true where there is
// something to show at once.
"use strict";

const Slices = (() => {
  const FIRST = 40, LATER = 14;

  // As a task of its own, after what the browser has to do. Not setTimeout, which waits 4 ms more
  // once it is called from itself.
  const { port1: inbox, port2: outbox } = new MessageChannel(), waiting = [];
  inbox.onmessage = () => waiting.shift()();
  const soon = (act) => {
    waiting.push(act);
    outbox.postMessage(null);
  };

  // `rest` is called after the first slice, then between slices, so many milliseconds apart or when
  // told to, `done` at the end, `failed` if the work threw an error.
  const run = (generator, { rest, often = 120, done, failed }) => {
    let stopped = false, rested = -Infinity;
    const slice = (budget) => {
      if (stopped) return;
      const end = performance.now() + budget;
      let next;
      try {
        do next = generator.next(); while (!next.done && !next.value && performance.now() < end);
      } catch (error) {
        failed(error);
        return;
      }
      if (next.done) {
        done();
        return;
      }
      if (next.value || performance.now() - rested > often) {
        rest();
        rested = performance.now();
      }
      soon(() => slice(LATER));
    };
    slice(FIRST);
    return () => { stopped = true; };
  };

  return { run };
})();
