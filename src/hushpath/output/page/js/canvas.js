// The map on a 2D canvas, for browsers without WebGL 2: strokes for few edges, single pixels for many.

import { between, css, ramp } from "./colours.js";

/** @typedef {import("./webgl.js").Shape} Shape @typedef {import("./webgl.js").View} View */
/** @typedef {import("./webgl.js").Look} Look @typedef {import("./webgl.js").Numbers} Numbers */
/** @typedef {{share: number, strength: number, dashed: boolean}} Shade  `share` of the scale, or -1: the plain colour */

const DENSE = 20_000; // edges; more are drawn pixel by pixel, because strokes would take seconds
const BINS = 64;
const DASH = 4;

/**
 * @param {HTMLCanvasElement} canvas @param {Shape} shape
 * @returns {import("./webgl.js").Painter}
 */
export function canvasPainter(canvas, shape) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const none = new Float32Array(shape.n).fill(NaN);
  /** @type {Numbers} */
  let known = { value: none, low: none, high: none };
  const paint = shape.tails.length > DENSE ? pixels : strokes;
  return {
    numbers: (found) => void (known = found),
    draw: (view, look) => paint(context, shape, known, view, look),
  };
}

/**
 * @param {Numbers} known @param {Look} look @param {number} a @param {number} b
 * @returns {Shade}
 */
function shadeOf(known, look, a, b) {
  const value = (known.value[a] + known.value[b]) / 2;
  if (look.mode === "plain" || value !== value) return { share: -1, strength: 0.55, dashed: false };
  if (look.mode === "distance") return { share: value / look.top, strength: 1, dashed: false };
  if (look.mode === "sides") return { share: value / look.top / 2 + 0.5, strength: 1, dashed: false };
  const within = look.steps.findIndex((one) => (known.high[a] + known.high[b]) / 2 <= one);
  const possible = look.steps.findIndex((one) => (known.low[a] + known.low[b]) / 2 <= one);
  if (possible < 0) return { share: -1, strength: 0.4, dashed: false };
  return { share: look.steps.length > 1 ? possible / (look.steps.length - 1) : 0, strength: 1, dashed: within !== possible };
}

/**
 * Draw all edges of one colour as one stroke.
 * @param {CanvasRenderingContext2D} context @param {Shape} shape @param {Numbers} known @param {View} view
 * @param {Look} look
 */
function strokes(context, shape, known, view, look) {
  context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  context.lineWidth = look.line;
  context.lineCap = "round";
  /** @type {Map<string, {shade: Shade, edges: number[]}>} */
  const groups = new Map();
  for (let e = 0; e < shape.tails.length; e++) {
    const shade = shadeOf(known, look, shape.tails[e], shape.heads[e]);
    shade.share = Math.round(shade.share * BINS) / BINS;
    const name = Object.values(shade).join();
    const mine = groups.get(name);
    if (mine) mine.edges.push(e);
    else groups.set(name, { shade, edges: [e] });
  }
  for (const { shade, edges } of groups.values()) {
    context.strokeStyle = shade.share < 0 ? look.plain : css(between(look.stops, shade.share));
    context.globalAlpha = shade.strength;
    context.setLineDash(shade.dashed ? [DASH, DASH] : []);
    context.beginPath();
    for (const e of edges) {
      context.moveTo(...placed(shape, view, shape.tails[e]));
      context.lineTo(...placed(shape, view, shape.heads[e]));
    }
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** @param {Shape} shape @param {View} view @param {number} node @returns {[number, number]} */
function placed(shape, view, node) {
  return [(shape.x[node] - view.x) * view.scale + view.width / 2, view.height / 2 - (shape.y[node] - view.y) * view.scale];
}

/**
 * Draw every edge as a row of pixels, directly into the image.
 * @param {CanvasRenderingContext2D} context @param {Shape} shape @param {Numbers} known @param {View} view
 * @param {Look} look
 */
function pixels(context, shape, known, view, look) {
  const { width, height } = context.canvas;
  const picture = context.createImageData(width, height);
  const words = new Uint32Array(picture.data.buffer);
  const colours = new Uint32Array(ramp(look.stops).buffer);
  const [plain] = new Uint32Array(ramp([look.plain, look.plain]).buffer);
  for (let e = 0; e < shape.tails.length; e++) {
    const [a, b] = [shape.tails[e], shape.heads[e]];
    let [x, y] = placed(shape, view, a).map((one) => one * view.ratio);
    const [x1, y1] = placed(shape, view, b).map((one) => one * view.ratio);
    if (Math.max(x, x1) < 0 || Math.max(y, y1) < 0 || Math.min(x, x1) > width || Math.min(y, y1) > height) continue;
    const shade = shadeOf(known, look, a, b);
    const full = shade.share < 0 ? plain : colours[Math.min(Math.max(Math.round(shade.share * 255), 0), 255)];
    const colour = (full & 0xffffff) | (Math.round(shade.strength * 255) << 24);
    const count = Math.min(Math.max(Math.abs(x1 - x), Math.abs(y1 - y), 1), 4 * (width + height));
    const [dx, dy] = [(x1 - x) / count, (y1 - y) / count];
    for (let i = 0; i <= count; i++, x += dx, y += dy) {
      if (x < 0 || y < 0 || x >= width || y >= height || (shade.dashed && i % (2 * DASH) >= DASH)) continue;
      words[Math.floor(y) * width + Math.floor(x)] = colour;
    }
  }
  context.putImageData(picture, 0, 0);
}
