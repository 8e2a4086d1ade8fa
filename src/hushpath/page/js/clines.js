// The same map on a plain canvas, for browsers without WebGL 2: edges of one colour are one stroke.

import { between, css } from "./colours.js";

/** @typedef {import("./glines.js").Shape} Shape @typedef {import("./glines.js").View} View */
/** @typedef {import("./glines.js").Look} Look @typedef {import("./glines.js").Numbers} Numbers */

const BINS = 64;
const TOGETHER = 100; // edges in one stroke: browsers take far longer for one long path than for many short ones

/**
 * @param {HTMLCanvasElement} canvas @param {Shape} shape
 * @returns {import("./glines.js").Painter}
 */
export function canvasPainter(canvas, shape) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const none = new Float32Array(shape.n).fill(NaN);
  /** @type {Numbers} */
  let known = { value: none, low: none, high: none };

  /** @param {View} view @param {Look} look */
  function draw(view, look) {
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const dense = shape.tails.length > 20_000; // then lines are as thin as can be, which browsers draw fastest
    context.lineWidth = dense ? 1 / view.ratio : look.line;
    context.lineCap = dense ? "butt" : "round";
    /** @type {Map<string, number[]>} */
    const strokes = new Map();
    for (let e = 0; e < shape.tails.length; e++) {
      const name = stroke(known, look, shape.tails[e], shape.heads[e]);
      const mine = strokes.get(name);
      if (mine) mine.push(e);
      else strokes.set(name, [e]);
    }
    for (const [name, edges] of strokes) {
      const [colour, strength, dashed] = name.split(" ");
      context.strokeStyle = colour;
      context.globalAlpha = Number(strength);
      context.setLineDash(dashed ? [4, 4] : []);
      edges.forEach((e, i) => {
        if (i % TOGETHER === 0) {
          if (i) context.stroke();
          context.beginPath();
        }
        const [a, b] = [shape.tails[e], shape.heads[e]];
        context.moveTo((shape.x[a] - view.x) * view.scale + view.width / 2, view.height / 2 - (shape.y[a] - view.y) * view.scale);
        context.lineTo((shape.x[b] - view.x) * view.scale + view.width / 2, view.height / 2 - (shape.y[b] - view.y) * view.scale);
      });
      context.stroke();
    }
    context.globalAlpha = 1;
  }
  return { numbers: (found) => void (known = found), draw };
}

/**
 * Colour, strength and whether it is dashed, as text: edges with the same text are drawn together.
 * @param {Numbers} known @param {Look} look @param {number} a @param {number} b
 */
function stroke(known, look, a, b) {
  const value = (known.value[a] + known.value[b]) / 2;
  if (look.mode === "plain" || value !== value) return `${look.plain} 0.55`;
  if (look.mode !== "steps") {
    const share = look.mode === "sides" ? value / look.top / 2 + 0.5 : value / look.top;
    return `${css(between(look.stops, Math.round(share * BINS) / BINS))} 1`;
  }
  const surely = look.steps.findIndex((one) => (known.high[a] + known.high[b]) / 2 <= one);
  const maybe = look.steps.findIndex((one) => (known.low[a] + known.low[b]) / 2 <= one);
  if (maybe < 0) return `${look.plain} 0.4`;
  const share = look.steps.length > 1 ? maybe / (look.steps.length - 1) : 0;
  return `${css(between(look.stops, share))} 1${surely === maybe ? "" : " dashed"}`;
}
