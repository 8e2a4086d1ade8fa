// The words beside the map: the answer, the legend, the promise.

import { amount, asTime, noun, plainly, told } from "./words.js";

/** @typedef {import("./data.js").Header} Header @typedef {import("./worker.js").Answer} Answer */

/** @param {string} id @returns {any} */
export const by = (id) => document.getElementById(id);

/**
 * An element with text or others inside; never HTML, because names come from files of strangers.
 * @param {string} tag @param {Record<string, string>} set @param {...(Node | string)} inside
 */
export function element(tag, set, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(set)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

/**
 * One number with its interval, in words.
 * @param {Header} header @param {Answer} answer @param {number} node
 */
export function sentence(header, answer, node) {
  const { quantity } = header;
  const value = answer.distance[node];
  const [low, high] = answer.ranges ? [answer.ranges.low[node], answer.ranges.high[node]] : [undefined, undefined];
  const number = amount(told(value, low, high), quantity);
  /** Ends with the digits of the number between them. @param {number} end */
  const as = (end) => told(end, end - (Number(high) - value), end + (value - Number(low)));
  const other = asTime(value, low === undefined || high === undefined ? 0 : high - low, quantity);
  const range = low === undefined || high === undefined || !isFinite(value) || low === high ? ""
    : `${100 * header.confidence} % interval ${as(low)} to ${amount(as(high), quantity)}`;
  return { number, other, range };
}

/**
 * The answer about one pair, or two if two origins are compared.
 * @param {HTMLElement} place @param {Header} header @param {{origin: number, answer: Answer}[]} asked
 * @param {number} node @param {number[]} path @param {boolean} pinned
 */
export function showAnswer(place, header, asked, node, path, pinned) {
  const { labels } = header;
  if (!asked.length) {
    place.replaceChildren(element("p", { class: "hint" }, "Choose where to start: click the map, or search above."));
    return;
  }
  if (node < 0) {
    const where = asked.map(({ origin }) => labels[origin]).join(" and ");
    place.replaceChildren(element("p", { class: "hint" },
      `Coloured by released ${noun(header.quantity)} from ${where}. Point at a place or tap it, or search where to go.`));
    return;
  }
  const parts = [];
  const pathWords = `Path over ${path.length - 1} ${path.length === 2 ? "edge" : "edges"}`;
  for (const { origin, answer } of asked) {
    const { number, other, range } = sentence(header, answer, node);
    parts.push(element("p", { class: "pair" }, `${labels[origin]} → ${labels[node]}`),
      element("p", { class: "number" }, number, ...(other ? [element("span", { class: "other" }, ` ${other}`)] : [])));
    if (range) parts.push(element("p", { class: "range" }, range));
  }
  if (asked.length === 2) parts.push(element("p", { class: "verdict" }, verdict(header, asked, node)));
  if (path.length > 1 && pinned) {
    const list = element("ol", {}, ...path.map((one) => element("li", {}, labels[one])));
    parts.push(element("details", {}, element("summary", {}, pathWords), list));
  } else if (path.length > 1) parts.push(element("p", { class: "range" }, pathWords));
  place.replaceChildren(...parts);
}

/** @param {Header} header @param {{origin: number, answer: Answer}[]} asked @param {number} node */
function verdict(header, [one, two], node) {
  const gap = two.answer.distance[node] - one.answer.distance[node];
  if (!(Math.abs(gap) > 0)) return "Both are as far.";
  const [near, far] = gap > 0 ? [one, two] : [two, one];
  const sure = near.answer.ranges && far.answer.ranges && near.answer.ranges.high[node] < far.answer.ranges.low[node];
  const name = header.labels[near.origin];
  const percent = plainly(100 * header.confidence);
  return sure ? `${name} is nearer (${percent} % intervals do not overlap).` : `${name} is perhaps nearer: the ${percent} % intervals overlap.`;
}

/**
 * @param {HTMLElement} place @param {Header} header @param {import("./glines.js").Look} look @param {string[]} names
 */
export function showLegend(place, header, look, names) {
  const { quantity } = header;
  if (look.mode === "plain") {
    place.replaceChildren();
    return;
  }
  if (look.mode === "steps") {
    const percent = plainly(100 * header.confidence);
    const rows = look.steps.map((step, i) => element("li", {},
      element("span", { class: "key", style: `--colour: ${look.stops[Math.round((i / Math.max(look.steps.length - 1, 1)) * (look.stops.length - 1))]}` }),
      `within ${amount(plainly(step), quantity)} (${percent} %)`));
    rows.push(element("li", {}, element("span", { class: "key hatched" }), "striped: uncertain"),
      element("li", {}, element("span", { class: "key beyond" }), `beyond ${amount(plainly(look.steps[look.steps.length - 1] ?? 0), quantity)} (${percent} %)`));
    place.replaceChildren(element("ul", { class: "keys" }, ...rows));
    return;
  }
  const bar = element("div", { class: "bar", style: `background: linear-gradient(to right, ${look.stops.join(", ")})` });
  const ends = look.mode === "sides"
    ? [`nearer to ${names[0]}`, "as far", `nearer to ${names[1]}`]
    : ["0", plainly(look.top / 2), `${amount(plainly(look.top), quantity)} or more`];
  place.replaceChildren(bar, element("div", { class: "ends" }, ...ends.map((text) => element("span", {}, text))));
}

/** The promise, as Python wrote it. @param {HTMLElement} place @param {Header} header */
export function showPromise(place, header) {
  const { facts, verdict, table, paragraphs } = header.promise;
  const alarm = header.promise.void ? " alarm" : "";
  const parts = [];
  if (header.marking) parts.push(element("p", { class: "alarm" }, `${header.marking}.`));
  parts.push(
    element("dl", {}, ...Object.entries(facts).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
    element("p", { class: `verdict${alarm}` }, verdict),
  );
  if (table.rows.length) {
    const head = element("tr", {}, ...table.columns.map((column) => element("th", {}, column)));
    const rows = table.rows.map((cells) =>
      element("tr", {}, ...cells.map((cell, i) => element("td", { "data-label": table.columns[i] }, cell))));
    parts.push(element("table", {}, head, ...rows));
  }
  parts.push(...paragraphs.map((text) => element("p", {}, text)));
  const percent = plainly(100 * header.confidence);
  parts.push(
    element("p", {}, `Because of the noise every number may be off. An interval is meant to hold the true number in ${percent} of 100 cases.`),
    element("details", {}, element("summary", {}, "Technical statement"),
      ...header.technical.map((line) => element("p", { class: "small" }, line)),
      element("p", { class: "small" }, `Fingerprint of the release: ${header.fingerprint}`)),
  );
  place.replaceChildren(...parts);
}
