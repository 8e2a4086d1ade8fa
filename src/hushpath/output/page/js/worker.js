// The search thread: for a period and a source it returns distances, intervals and paths to all nodes.

import { graphOf, search } from "./paths.js";
import { rangesFrom } from "./ranges.js";

/**
 * @typedef {{n: number, directed: boolean, tails: Int32Array, heads: Int32Array, granularity: number,
 *   periods: {ranges: import("./data.js").Ranges, arrays: Record<string, Float64Array>}[]}} Start
 * @typedef {{id: number, period: number, source: number}} Question
 * @typedef {{id: number, source: number, distance: Float64Array, via: Int32Array | null,
 *   ranges: {low: Float64Array, high: Float64Array} | null}} Answer
 */

/** @type {Start} */
let known;
/** @type {import("./paths.js").Graph} */
let graph;

/** @param {Question} asked @returns {Answer} */
function answer({ id, period, source }) {
  const { arrays, ranges } = known.periods[period];
  const { n, granularity } = known;
  let distance;
  /** @type {Int32Array | null} */
  let via = null;
  if (arrays.weights) {
    const found = search(graph, arrays.weights, source);
    distance = found.steps;
    via = found.via;
  } else {
    distance = arrays.table.slice(source * n, source * n + n);
    for (let v = 0; v < n; v++) distance[v] = distance[v] === 0 ? Infinity : distance[v] - 1;
  }
  for (let v = 0; v < n; v++) distance[v] *= granularity; // a power of two, so the product is exact
  return { id, source, distance, via, ranges: rangesFrom(ranges, arrays, distance, source) };
}

addEventListener("message", (/** @type {MessageEvent<Start | Question>} */ event) => {
  if ("periods" in event.data) {
    known = event.data;
    graph = graphOf(known.n, known.tails, known.heads, known.directed);
    return;
  }
  const found = answer(event.data);
  /** @type {Transferable[]} */
  const given = [found.distance.buffer];
  if (found.via) given.push(found.via.buffer);
  if (found.ranges) given.push(found.ranges.low.buffer, found.ranges.high.buffer);
  /** @type {Worker} */ (/** @type {unknown} */ (globalThis)).postMessage(found, given);
});
