// Unpack the data of the page (data.py): a JSON header and arrays of numbers, as one compressed text.

/**
 * @typedef {{name: string, unit_of_measure: string, date: string, publisher: string, dataset: string}} Quantity
 * @typedef {{facts: Record<string, string>, verdict: string, void: boolean, table: {columns: string[], rows: string[][]},
 *   paragraphs: string[]}} Promised
 * @typedef {{knots: number[], heights: number[]}} Curve
 * @typedef {{kind: "exact" | "none" | "table" | "curves", why?: string, unit?: number, reach?: number, relative?: number,
 *   middle?: Curve, spread?: Curve}} Ranges
 * @typedef {{kind: "whole" | "rising" | "float", planes: number, at: number, length: number}} Entry
 * @typedef {{title: string, labels: string[], directed: boolean, ownPlaces: boolean, origin: number, granularity: number,
 *   confidence: number, periods: string[], ranges: Ranges[], quantity: Quantity, marking: string, promise: Promised,
 *   technical: string[], fingerprint: string, arrays: Record<string, Entry>}} Header
 * @typedef {Record<string, Float64Array>} Arrays
 */

/**
 * The header and the arrays in a text made by `pack`.
 * @param {string} text
 * @returns {Promise<{header: Header, arrays: Arrays}>}
 */
export async function unpack(text) {
  const letters = atob(text.trim());
  const raw = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) raw[i] = letters.charCodeAt(i);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  const block = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(block.buffer).getUint32(0, true);
  /** @type {Header} */
  const header = JSON.parse(new TextDecoder().decode(block.subarray(4, 4 + size)));
  /** @type {Arrays} */
  const arrays = {};
  for (const [name, entry] of Object.entries(header.arrays)) arrays[name] = numbers(block, 4 + size, entry);
  return { header, arrays };
}

/**
 * One array, from its planes of bytes.
 * @param {Uint8Array} block @param {number} first @param {Entry} entry
 */
function numbers(block, first, entry) {
  const { kind, planes, at, length } = entry;
  const from = first + at;
  if (kind === "float") {
    const bytes = new Uint8Array(4 * length);
    for (let k = 0; k < 4; k++) for (let i = 0; i < length; i++) bytes[4 * i + k] = block[from + k * length + i];
    return Float64Array.from(new Float32Array(bytes.buffer));
  }
  const found = new Float64Array(length);
  for (let k = planes - 1; k >= 0; k--) {
    const plane = from + k * length;
    for (let i = 0; i < length; i++) found[i] = found[i] * 256 + block[plane + i];
  }
  if (kind === "rising") for (let i = 1; i < length; i++) found[i] += found[i - 1];
  return found;
}

/**
 * Both ends of every edge; heads are stored as differences.
 * @param {Arrays} arrays
 * @returns {{tails: Int32Array, heads: Int32Array}}
 */
export function ends(arrays) {
  const tails = Int32Array.from(arrays.tails);
  const heads = new Int32Array(tails.length);
  for (let i = 0; i < tails.length; i++) {
    const gap = arrays.heads[i];
    heads[i] = tails[i] + (gap % 2 ? -(gap + 1) / 2 : gap / 2);
  }
  return { tails, heads };
}
