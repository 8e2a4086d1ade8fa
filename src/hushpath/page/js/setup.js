// What stands in the page from the beginning: title, periods, the mark of what is not private, the promise.

import { by, element, showPromise } from "./panel.js";
import { noun } from "./words.js";

/** Words that never change. @param {import("./data.js").Header} header */
export function setUp(header) {
  const { quantity } = header;
  document.title = header.title;
  by("title").textContent = header.title;
  const what = [`Released ${noun(quantity)}`, quantity.units && `in ${quantity.units}`].filter(Boolean).join(" ");
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
  if (quantity.units) by("steps-unit").textContent = `(${quantity.units})`;
  if (!header.ownPlaces) by("layout").hidden = false;
  showPromise(by("promise-words"), header);
  by("promise-open").addEventListener("click", () => {
    by("promise").showModal();
    by("promise-title").focus(); // the beginning, not the button at the end
  });
}

/** @param {string} name @param {string} value @param {string} text @param {boolean} checked */
function choice(name, value, text, checked) {
  const input = element("input", { type: "radio", name, value });
  /** @type {HTMLInputElement} */ (input).checked = checked;
  return element("label", {}, input, element("span", {}, text));
}
