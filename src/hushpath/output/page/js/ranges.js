// Intervals: from the curves of decoder/intervals.py, or from a table where there is no curve.

const LARGEST = 600;

/** @typedef {import("./data.js").Ranges} Ranges @typedef {import("./data.js").Curve} Curve */

/**
 * A curve at one place; flat beyond its ends.
 * @param {Curve} curve @param {number} x
 */
export function interpolated(curve, x) {
  const { knots, heights } = curve;
  const last = knots.length - 1;
  if (x <= knots[0]) return heights[0];
  if (x >= knots[last]) return heights[last];
  let i = 1;
  while (knots[i] < x) i++;
  const slope = (heights[i] - heights[i - 1]) / (knots[i] - knots[i - 1]);
  return slope * (x - knots[i - 1]) + heights[i - 1];
}

/**
 * Low and high of every distance from one node.
 * @param {Ranges} intervals @param {Record<string, Float64Array>} arrays @param {Float64Array} distance
 * @param {number} source
 * @returns {{low: Float64Array, high: Float64Array} | null}
 */
export function rangesFrom(intervals, arrays, distance, source) {
  const n = distance.length;
  if (intervals.kind === "none") return null;
  if (intervals.kind === "exact") return { low: distance.slice(), high: distance.slice() };
  if (intervals.kind === "table") {
    const row = source * n;
    const [low, high] = [arrays.low, arrays.high].map((ends) => ends.slice(row, row + n).map((end) => end * (intervals.unit ?? 1)));
    for (let v = 0; v < n; v++) if (!isFinite(distance[v])) low[v] = high[v] = Infinity;
    return { low, high };
  }
  const { unit = 1, reach = 0, relative = 0 } = intervals;
  const middle = /** @type {Curve} */ (intervals.middle);
  const spread = /** @type {Curve} */ (intervals.spread);
  const spreads = arrays["spread.ends"];
  const low = new Float64Array(n);
  const high = new Float64Array(n);
  for (let v = 0; v < n; v++) {
    if (v === source || !isFinite(distance[v])) {
      low[v] = high[v] = distance[v];
      continue;
    }
    const released = distance[v] / unit;
    const far = Math.log1p(released);
    const mid = interpolated(middle, far);
    const wide = Math.exp(Math.min(interpolated(spread, far) + (spreads[source] + spreads[v]), LARGEST));
    const centre = Math.expm1(Math.min(far + mid, LARGEST));
    const off = reach * Math.hypot(wide, relative * released);
    low[v] = Math.min(Math.max((centre - off) * unit, 0), distance[v]);
    high[v] = Math.max((centre + off) * unit, distance[v]);
  }
  return { low, high };
}
