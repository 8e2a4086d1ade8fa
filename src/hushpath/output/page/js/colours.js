// Colour scales for distances, isochrones and comparisons; for light and dark themes.

/** @typedef {[number, number, number]} Colour */

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const SIDES = ["#08519c", "#3182bd", "#9ecae1", "#bdbdbd", "#fdae6b", "#e6550d", "#a63603"];

/** @param {string} hex @returns {Colour} */
export function parsed(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return [r, g, b];
}

/**
 * A colour between stops.
 * @param {string[]} stops @param {number} share from 0 to 1
 * @returns {Colour}
 */
export function between(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const [a, b] = [parsed(stops[i]), parsed(stops[i + 1])];
  return /** @type {Colour} */ (a.map((one, k) => Math.round(one + (b[k] - one) * (at - i))));
}

/** Near is dark in the light theme and bright in the dark one; the far end stays visible on the background. @param {boolean} dark */
export function distanceStops(dark) {
  const count = 10;
  return Array.from({ length: count }, (_, i) => {
    const share = dark ? 1 - (0.82 * i) / (count - 1) : (0.9 * i) / (count - 1);
    return css(between(VIRIDIS, share));
  });
}

/** @param {boolean} dark */
export function sideStops(dark) {
  return dark ? ["#6baed6", "#4292c6", "#3b6a8f", "#707070", "#a06a3c", "#e6802e", "#fdae6b"] : SIDES;
}

/** @param {Colour} colour */
export function css(colour) {
  return `#${colour.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}

/** A table of 256 colours, for WebGL. @param {string[]} stops @returns {Uint8Array} */
export function ramp(stops) {
  const found = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) found.set([...between(stops, i / 255), 255], 4 * i);
  return found;
}
