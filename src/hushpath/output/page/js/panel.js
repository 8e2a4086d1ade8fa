// The panel beside the map: title, periods, the answer, the legend, the privacy statement.

import { asTime, formatNumber, formatRound, quantityName, withUnit } from "./format.js";

/** @typedef {import("./data.js").Header} Header @typedef {import("./worker.js").Answer} Answer */

/** @param {string} id @returns {any} */
export const by = (id) => document.getElementById(id);

/**
 * An element with text or other elements inside; never HTML, because names come from untrusted files.
 * @param {string} tag @param {Record<string, string>} set @param {...(Node | string)} inside
 */
export function element(tag, set, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(set)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

/**
 * One number with its interval, as text.
 * @param {Header} header @param {Answer} answer @param {number} node
 */
export function sentence(header, answer, node) {
  const { quantity } = header;
  const value = answer.distance[node];
  const [low, high] = answer.ranges ? [answer.ranges.low[node], answer.ranges.high[node]] : [undefined, undefined];
  const number = withUnit(formatNumber(value, low, high), quantity);
  /** An end of the interval, with the digits of the number. @param {number} end */
  const as = (end) => formatNumber(end, end - (Number(high) - value), end + (value - Number(low)));
  const other = asTime(value, low === undefined || high === undefined ? 0 : high - low, quantity);
  const range = low === undefined || high === undefined || !isFinite(value) || low === high ? ""
    : `${100 * header.confidence} % interval ${as(low)} to ${withUnit(as(high), quantity)}`;
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
    place.replaceChildren(element("p", { class: "hint" }, "Choose a start: click the map, or search above."));
    return;
  }
  if (node < 0) {
    const where = asked.map(({ origin }) => labels[origin]).join(" and ");
    place.replaceChildren(element("p", { class: "hint" },
      `Coloured by released ${quantityName(header.quantity)} from ${where}. Choose a destination: hover over the map, tap it, or search above.`));
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
  if (!(Math.abs(gap) > 0)) return "Both are equally far.";
  const [near, far] = gap > 0 ? [one, two] : [two, one];
  const sure = near.answer.ranges && far.answer.ranges && near.answer.ranges.high[node] < far.answer.ranges.low[node];
  const name = header.labels[near.origin];
  const percent = formatRound(100 * header.confidence);
  return sure ? `${name} is nearer (${percent} % intervals do not overlap).` : `${name} may be nearer, but the ${percent} % intervals overlap.`;
}

/**
 * @param {HTMLElement} place @param {Header} header @param {import("./webgl.js").Look} look @param {string[]} names
 */
export function showLegend(place, header, look, names) {
  const { quantity } = header;
  if (look.mode === "plain") {
    place.replaceChildren();
    return;
  }
  if (look.mode === "isochrones") {
    const percent = formatRound(100 * header.confidence);
    const rows = look.steps.map((step, i) => element("li", {},
      element("span", { class: "key", style: `--colour: ${look.stops[Math.round((i / Math.max(look.steps.length - 1, 1)) * (look.stops.length - 1))]}` }),
      `within ${withUnit(formatRound(step), quantity)} (${percent} %)`));
    rows.push(element("li", {}, element("span", { class: "key hatched" }), "hatched: uncertain"),
      element("li", {}, element("span", { class: "key beyond" }), `beyond ${withUnit(formatRound(look.steps[look.steps.length - 1] ?? 0), quantity)} (${percent} %)`));
    place.replaceChildren(element("ul", { class: "keys" }, ...rows));
    return;
  }
  const bar = element("div", { class: "bar", style: `background: linear-gradient(to right, ${look.stops.join(", ")})` });
  const ends = look.mode === "sides"
    ? [`nearer to ${names[0]}`, "equally far", `nearer to ${names[1]}`]
    : ["0", formatRound(look.top / 2), `${withUnit(formatRound(look.top), quantity)} or more`];
  place.replaceChildren(bar, element("div", { class: "ends" }, ...ends.map((text) => element("span", {}, text))));
}

/** The privacy statement of the release. @param {HTMLElement} place @param {Header} header */
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
  const percent = formatRound(100 * header.confidence);
  parts.push(
    element("p", {}, `Every number has an error from the noise. A ${percent} % interval is meant to contain the true number in ${percent} of 100 cases.`),
    element("details", {}, element("summary", {}, "Technical statement"),
      ...header.technical.map((line) => element("p", { class: "small" }, line)),
      element("p", { class: "small" }, `Fingerprint of the release: ${header.fingerprint}`)),
  );
  place.replaceChildren(...parts);
}

/** Fill in what never changes: title, periods, marking, privacy statement. @param {import("./data.js").Header} header */
export function fillPanel(header) {
  const { quantity } = header;
  document.title = header.title;
  by("title").textContent = header.title;
  const what = [`Released ${quantityName(quantity)}`, quantity.unit_of_measure && `in ${quantity.unit_of_measure}`].filter(Boolean).join(" ");
  by("about").textContent = [what, quantity.date, quantity.publisher].filter(Boolean).join(", ");
  by("protection").textContent = header.promise.verdict;
  by("protection").classList.toggle("alarm", header.promise.void);
  if (header.marking) {
    by("mark").hidden = by("stamp").hidden = false;
    by("mark").textContent = `${header.marking}. Do not publish.`;
  }
  if (header.periods.length > 1) {
    by("periods-box").hidden = false;
    by("periods").append(...header.periods.map((name, i) => choice("period", String(i), name, i === 0)));
  }
  if (header.ranges.some((one) => one.kind === "none")) by("views-box").hidden = true;
  if (quantity.unit_of_measure) by("steps-unit").textContent = `(${quantity.unit_of_measure})`;
  if (!header.ownPlaces) by("layout").hidden = false;
  showPromise(by("promise-words"), header);
  by("promise-open").addEventListener("click", () => {
    by("promise").showModal();
    by("promise-title").focus(); // the heading, not the button at the end
  });
}

/** @param {string} name @param {string} value @param {string} text @param {boolean} checked */
function choice(name, value, text, checked) {
  const input = element("input", { type: "radio", name, value });
  /** @type {HTMLInputElement} */ (input).checked = checked;
  return element("label", {}, input, element("span", {}, text));
}
