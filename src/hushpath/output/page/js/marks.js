// Marks on the map: the path, its ends, names, and the cross for keyboard users.

/** @typedef {import("./camera.js").Camera} Camera */

const MOST_NAMES = 4000;
const MOST_DOTS = 1500;
const MOST_NAMED = 60;

/**
 * @typedef {{origin: number, other: number, target: number, path: number[], cross: boolean, dots: boolean,
 *   ink: string, paper: string, start: string, rival: string, end: string}} Marks
 */

/** Labels worth showing as names: those without digits, if they are not too many. @param {string[]} labels */
export function namesIn(labels) {
  const found = [];
  for (let v = 0; v < labels.length && found.length <= MOST_NAMES; v++) if (!/\d/.test(labels[v])) found.push(v);
  return found.length <= MOST_NAMES ? found : [];
}

/**
 * @param {HTMLCanvasElement} canvas @param {Camera} camera @param {string[]} labels @param {number[]} names
 * @param {Marks} marks
 */
export function drawMarks(canvas, camera, labels, names, marks) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const { view } = camera;
  context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  context.lineCap = context.lineJoin = "round";
  if (marks.path.length > 1) {
    for (const [width, colour] of /** @type {[number, string][]} */ ([[7, marks.paper], [3.5, marks.end]])) {
      context.lineWidth = width;
      context.strokeStyle = colour;
      context.beginPath();
      marks.path.forEach((node, i) => (i ? context.lineTo(...camera.screen(node)) : context.moveTo(...camera.screen(node))));
      context.stroke();
    }
  }
  const seen = marks.dots ? dots(context, camera, marks) : [];
  /** @type {number[][]} */
  const taken = [];
  for (const [node, colour, star] of /** @type {[number, string, boolean][]} */ ([
    [marks.target, marks.end, false], [marks.other, marks.rival, true], [marks.origin, marks.start, true],
  ])) {
    if (node < 0) continue;
    const [x, y] = camera.screen(node);
    pin(context, x, y, colour, marks.paper, star);
    named(context, labels[node], x, y, marks, taken, true, view.width);
  }
  const chosen = new Set([marks.origin, marks.other, marks.target]);
  // Zoomed in, every visible node has its name.
  for (const node of seen.length && seen.length <= MOST_NAMED ? seen : names) {
    if (chosen.has(node)) continue;
    const [x, y] = camera.screen(node);
    if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
    named(context, labels[node], x, y, marks, taken, false, view.width);
  }
  if (marks.cross) {
    const [x, y] = [view.width / 2, view.height / 2];
    context.lineWidth = 2;
    context.strokeStyle = marks.ink;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [0, 1]]) {
      context.moveTo(x - 14 * dx, y - 14 * dy);
      context.lineTo(x + 14 * dx, y + 14 * dy);
    }
    context.stroke();
  }
}

/** Draw the visible nodes and return them. @param {CanvasRenderingContext2D} context @param {Camera} camera @param {Marks} marks */
function dots(context, camera, marks) {
  const { view, shape } = camera;
  const visible = [];
  for (let v = 0; v < shape.n && visible.length <= MOST_DOTS; v++) {
    const [x, y] = camera.screen(v);
    if (x > 0 && y > 0 && x < view.width && y < view.height) visible.push(v);
  }
  if (visible.length > MOST_DOTS) return [];
  context.fillStyle = marks.paper;
  context.strokeStyle = marks.ink;
  context.lineWidth = 1;
  for (const node of visible) {
    context.beginPath();
    context.arc(...camera.screen(node), 2.6, 0, 7);
    context.fill();
    context.stroke();
  }
  return visible;
}

/**
 * @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {string} colour
 * @param {string} edge @param {boolean} star
 */
function pin(context, x, y, colour, edge, star) {
  context.beginPath();
  if (star) {
    for (let i = 0; i < 10; i++) {
      const [angle, size] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 ? 5 : 12];
      context.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
    }
    context.closePath();
  } else context.arc(x, y, 7, 0, 7);
  context.fillStyle = colour;
  context.strokeStyle = edge;
  context.lineWidth = 2;
  context.fill();
  context.stroke();
}

/**
 * Draw a name beside its node, unless it would overlap another.
 * @param {CanvasRenderingContext2D} context @param {string} label @param {number} x @param {number} y
 * @param {Marks} marks @param {number[][]} taken @param {boolean} bold @param {number} width
 */
function named(context, label, x, y, marks, taken, bold, width) {
  const text = label.length > 28 ? `${label.slice(0, 27)}…` : label;
  context.font = `${bold ? "600 14px" : "12px"} system-ui, sans-serif`;
  const wide = context.measureText(text).width;
  const left = Math.max(4, x + 11 + wide > width ? x - 11 - wide : x + 11);
  const box = [left - 3, y - 10, left + wide + 3, y + 10];
  if (!bold && taken.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3])) return;
  taken.push(box);
  context.lineWidth = 3.5;
  context.strokeStyle = marks.paper;
  context.strokeText(text, left, y + 4.5);
  context.fillStyle = marks.ink;
  context.fillText(text, left, y + 4.5);
}
