// The caller of worker.js: queries to the search thread, and a cache of its last answers.

import { by } from "./panel.js";

/** @typedef {import("./worker.js").Answer} Answer */

const KEPT = 24; // cached answers

/**
 * The search thread, with a cache of its last answers.
 * @param {import("./data.js").Header} header @param {import("./data.js").Arrays} arrays
 * @param {Int32Array} tails @param {Int32Array} heads
 */
export function searcher(header, arrays, tails, heads) {
  const thread = new Worker(URL.createObjectURL(new Blob([by("worker").textContent], { type: "text/javascript" })));
  const periods = header.ranges.map((ranges, i) => {
    const mine = Object.entries(arrays).filter(([name]) => name.endsWith(`.${i}`));
    return { ranges, arrays: Object.fromEntries(mine.map(([name, array]) => [name.slice(0, name.lastIndexOf(".")), array])) };
  });
  const { directed, granularity, labels } = header;
  thread.postMessage({ n: labels.length, directed, tails, heads, granularity, periods });
  /** @type {Map<string, Promise<Answer>>} */
  const kept = new Map();
  /** @type {Map<number, (found: Answer) => void>} */
  const open = new Map();
  let count = 0;
  thread.addEventListener("message", (/** @type {MessageEvent<Answer>} */ event) => {
    open.get(event.data.id)?.(event.data);
    open.delete(event.data.id);
  });
  return {
    /** @param {number} period @param {number} source @returns {Promise<Answer>} */
    ask(period, source) {
      const name = `${period} ${source}`;
      const before = kept.get(name);
      if (before) return before;
      const id = ++count;
      /** @type {Promise<Answer>} */
      const found = new Promise((done) => open.set(id, done));
      thread.postMessage({ id, period, source });
      kept.set(name, found);
      if (kept.size > KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
      return found;
    },
  };
}
