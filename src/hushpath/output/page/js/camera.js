// The visible part of the map: panning and zooming by pointer, wheel, touch and keys; and the node at a position.

/** @typedef {import("./webgl.js").View} View @typedef {import("./webgl.js").Shape} Shape */

const CLOSEST = 4000; // largest zoom, relative to the whole map
const BUTTONS = 56; // pixels at the left that are kept free for the buttons
const NEAR = 40; // pixels: a click farther away from any node is ignored

export class Camera {
  /**
   * @param {HTMLElement} element the map @param {Shape} shape @param {() => void} moved
   * @param {{tap(node: number, event: PointerEvent): void, hover(node: number): void,
   *   key(node: number, event: KeyboardEvent): void}} on
   */
  constructor(element, shape, moved, on) {
    this.element = element;
    this.shape = shape;
    this.moved = moved;
    this.on = on;
    /** @type {View} */
    this.view = { x: 0.5, y: 0.5, scale: 1, width: 1, height: 1, ratio: 1 };
    this.grid = new Grid(shape);
    /** @type {Map<number, {x: number, y: number}>} */
    this.fingers = new Map();
    this.dragged = 0;
    this.touched = false; // until the map is moved, it shows the whole network
    this.listen();
  }

  /** Show the whole network, with a margin. */
  fit() {
    const { x, y } = this.shape;
    const [left, right, bottom, top] = [least(x), most(x), least(y), most(y)];
    const [width, height] = [this.view.width - BUTTONS, this.view.height];
    this.whole = Math.min((width * 0.92) / Math.max(right - left, 1e-9), (height * 0.92) / Math.max(top - bottom, 1e-9));
    this.view.scale = this.whole = Math.min(Math.max(this.whole, 1e-6), 1e6);
    this.view.x = (left + right) / 2 - BUTTONS / 2 / this.whole;
    this.view.y = (bottom + top) / 2;
    this.touched = false;
    this.moved();
  }

  /** @param {number} width @param {number} height @param {number} ratio */
  resize(width, height, ratio) {
    Object.assign(this.view, { width, height, ratio });
    this.moved();
  }

  /** @param {number} node */
  show(node) {
    const [sx, sy] = this.screen(node);
    const { width, height } = this.view;
    if (sx > 30 && sy > 30 && sx < width - 30 && sy < height - 30) return;
    this.view.x = this.shape.x[node];
    this.view.y = this.shape.y[node];
    this.moved();
  }

  /** @param {number} node @returns {[number, number]} */
  screen(node) {
    const { x, y, scale, width, height } = this.view;
    return [(this.shape.x[node] - x) * scale + width / 2, height / 2 - (this.shape.y[node] - y) * scale];
  }

  /** The node nearest to a position on the screen, or -1. @param {number} sx @param {number} sy @param {number} within */
  nearest(sx, sy, within = NEAR) {
    const { x, y, scale, width, height } = this.view;
    return this.grid.nearest((sx - width / 2) / scale + x, (height / 2 - sy) / scale + y, within / scale);
  }

  /** @param {number} factor @param {number} sx @param {number} sy */
  zoom(factor, sx = this.view.width / 2, sy = this.view.height / 2) {
    const { view } = this;
    const scale = Math.min(Math.max(view.scale * factor, (this.whole ?? 1) / 4), (this.whole ?? 1) * CLOSEST);
    const [dx, dy] = [(sx - view.width / 2) * (1 / view.scale - 1 / scale), (view.height / 2 - sy) * (1 / view.scale - 1 / scale)];
    Object.assign(view, { x: view.x + dx, y: view.y + dy, scale });
    this.touched = true;
    this.moved();
  }

  /** @param {number} dx @param {number} dy pixels */
  pan(dx, dy) {
    this.view.x -= dx / this.view.scale;
    this.view.y += dy / this.view.scale;
    this.touched = true;
    this.moved();
  }

  listen() {
    const { element, fingers } = this;
    /** @param {PointerEvent | WheelEvent} event @returns {[number, number]} */
    const place = (event) => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      const [x, y] = place(event);
      fingers.set(event.pointerId, { x, y });
      if (fingers.size === 1) this.dragged = 0;
    });
    element.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      const before = fingers.get(event.pointerId);
      if (!before) {
        if (event.pointerType === "mouse") this.on.hover(this.nearest(x, y));
        return;
      }
      this.dragged += Math.abs(x - before.x) + Math.abs(y - before.y);
      if (fingers.size === 1 && this.dragged > 6) this.pan(x - before.x, y - before.y);
      else if (fingers.size === 2) {
        const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        const [was, now] = [Math.hypot(before.x - other.x, before.y - other.y), Math.hypot(x - other.x, y - other.y)];
        this.pan((x - before.x) / 2, (y - before.y) / 2);
        if (was > 0) this.zoom(now / was, (x + other.x) / 2, (y + other.y) / 2);
      }
      fingers.set(event.pointerId, { x, y });
    });
    element.addEventListener("pointerup", (event) => {
      if (fingers.size === 1 && fingers.has(event.pointerId) && this.dragged <= 6) {
        const node = this.nearest(...place(event));
        if (node >= 0) this.on.tap(node, event);
      }
      fingers.delete(event.pointerId);
    });
    for (const name of ["pointercancel", "lostpointercapture"]) {
      element.addEventListener(name, (event) => void fingers.delete(/** @type {PointerEvent} */ (event).pointerId));
    }
    element.addEventListener("pointerleave", () => this.on.hover(-1));
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
    }, { passive: false });
    element.addEventListener("keydown", (event) => {
      const step = event.shiftKey && event.key.startsWith("Arrow") ? 200 : 50;
      /** @type {Record<string, () => void>} */
      const known = {
        ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0), ArrowUp: () => this.pan(0, step),
        ArrowDown: () => this.pan(0, -step), "+": () => this.zoom(1.5), "=": () => this.zoom(1.5),
        "-": () => this.zoom(1 / 1.5), "0": () => this.fit(),
      };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (known[event.key]) known[event.key]();
      else if (event.key === "Enter" || event.key === " ") {
        this.on.key(this.nearest(this.view.width / 2, this.view.height / 2, 1e9), event);
      } else return;
      event.preventDefault();
    });
  }
}

/** A grid of nodes, to find the nearest one quickly. */
class Grid {
  /** @param {Shape} shape */
  constructor(shape) {
    this.shape = shape;
    this.side = Math.max(1, Math.ceil(Math.sqrt(shape.n / 2)));
    const start = new Int32Array(this.side * this.side + 1);
    const cells = Int32Array.from(shape.x, (x, v) => this.cell(x, shape.y[v]));
    for (const cell of cells) start[cell + 1]++;
    for (let i = 0; i < start.length - 1; i++) start[i + 1] += start[i];
    this.start = start;
    this.nodes = new Int32Array(shape.n);
    const place = start.slice();
    cells.forEach((cell, v) => void (this.nodes[place[cell]++] = v));
  }

  /** @param {number} z */
  line(z) {
    return Math.min(Math.max(Math.floor(z * this.side), 0), this.side - 1);
  }

  /** @param {number} x @param {number} y */
  cell(x, y) {
    return this.line(y) * this.side + this.line(x);
  }

  /** Search rings of cells around a position until no nearer node is possible. @param {number} x @param {number} y @param {number} within */
  nearest(x, y, within) {
    let [best, far] = [-1, within * within];
    const [cx, cy] = [this.line(x), this.line(y)];
    for (let ring = 0; ring < this.side; ring++) {
      const safe = (ring - 1) / this.side;
      if (safe > 0 && safe * safe > far) break;
      for (let row = cy - ring; row <= cy + ring; row++) {
        if (row < 0 || row >= this.side) continue;
        const step = row === cy - ring || row === cy + ring ? 1 : Math.max(2 * ring, 1);
        for (let column = cx - ring; column <= cx + ring; column += step) {
          if (column < 0 || column >= this.side) continue;
          const cell = row * this.side + column;
          for (let i = this.start[cell]; i < this.start[cell + 1]; i++) {
            const v = this.nodes[i];
            const away = (this.shape.x[v] - x) ** 2 + (this.shape.y[v] - y) ** 2;
            if (away < far) [best, far] = [v, away];
          }
        }
      }
    }
    return best;
  }
}

/** @param {Float32Array} numbers */
function least(numbers) {
  let found = Infinity;
  for (const one of numbers) if (one < found) found = one;
  return found;
}

/** @param {Float32Array} numbers */
function most(numbers) {
  let found = -Infinity;
  for (const one of numbers) if (one > found) found = one;
  return found;
}
