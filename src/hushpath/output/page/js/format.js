// Numbers and names as text: with as many digits as the noise leaves, and with their unit of measurement.

/** @typedef {import("./data.js").Quantity} Quantity */

/** @type {Record<string, number>} */
const SECONDS = {
  s: 1, sec: 1, second: 1, seconds: 1, min: 60, minute: 60, minutes: 60, h: 3600, hr: 3600, hour: 3600, hours: 3600,
};

/**
 * A number with as many digits as its interval leaves (the rule is in published/quantity.py).
 * @param {number} value @param {number} [low] @param {number} [high]
 */
export function formatNumber(value, low, high) {
  if (!isFinite(value)) return "no path";
  if (value === 0) return "0";
  let last = Math.floor(Math.log10(Math.abs(value))) - 3;
  if (low !== undefined && high !== undefined && isFinite(high - low)) {
    const off = Math.max(high - value, value - low);
    last = off > 0 ? Math.floor(Math.log10(off / 4)) : Math.floor(Math.log10(Math.abs(value))) - 9;
  }
  return rounded(value, last);
}

/** @param {number} value @param {number} last the power of ten of the last digit */
export function rounded(value, last) {
  const scale = 10 ** Math.min(Math.abs(last), 300);
  const near = last > 0 ? Math.round(value / scale) * scale : Math.round(value * scale) / scale;
  const text = near.toFixed(Math.min(Math.max(0, -last), 100));
  const [whole, part] = text.split(".");
  const apart = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return part === undefined ? apart : `${apart}.${part}`;
}

/**
 * The same time in minutes or hours, if that is easier to read; else an empty text.
 * @param {number} value @param {number} off @param {Quantity} quantity
 */
export function asTime(value, off, quantity) {
  const factor = SECONDS[quantity.unit_of_measure];
  const seconds = value * factor;
  if (!factor || !isFinite(value) || seconds < 90) return "";
  if (seconds < 5400) return factor === 60 ? "" : `${rounded(seconds / 60, off * factor < 60 ? -1 : 0)} min`;
  return factor === 3600 ? "" : `${rounded(seconds / 3600, off * factor < 1800 ? -1 : 0)} h`;
}

/** A round number without further rounding. @param {number} value */
export function formatRound(value) {
  return rounded(value, -Math.max(0, (String(Number(value.toPrecision(4))).split(".")[1] ?? "").length));
}

/** @param {Quantity} quantity */
export function quantityName(quantity) {
  return quantity.name || "distance";
}

/** @param {string} text @param {Quantity} quantity */
export function withUnit(text, quantity) {
  return quantity.unit_of_measure && text !== "no path" ? `${text}\u00a0${quantity.unit_of_measure}` : text;
}

/**
 * A round number near `value`, from above.
 * @param {number} value
 */
export function roundUp(value) {
  if (!(value > 0) || !isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((one) => one * power >= value * 0.999) ?? 10;
  return Number((found * power).toPrecision(3));
}

/**
 * The limits of isochrones in a text: increasing positive numbers, at most eight.
 * @param {string} text
 * @returns {number[]}
 */
export function parseLimits(text) {
  const found = text.split(/[\s,;]+/).map(Number).filter((one) => isFinite(one) && one > 0);
  return [...new Set(found)].sort((a, b) => a - b).slice(0, 8);
}
