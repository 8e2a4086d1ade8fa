// The page: unpack the release, start the search thread, and keep map and panel in line with the query.

import { Camera } from "./camera.js";
import { canvasPainter } from "./canvas.js";
import { distanceStops, sideStops } from "./colours.js";
import { ends, unpack } from "./data.js";
import { Finder } from "./finder.js";
import { webglPainter } from "./webgl.js";
import { drawMarks, namesIn } from "./marks.js";
import { by, element, fillPanel, showAnswer, showLegend } from "./panel.js";
import { route } from "./paths.js";
import { searcher } from "./thread.js";
import { parseLimits, roundUp } from "./format.js";

/**
 * @typedef {import("./worker.js").Answer} Answer
 * @typedef {{origin: number, other: number, target: number, hovered: number, period: number, far: number, gap: number,
 *   view: string, steps: number[], answer: Answer | null, rival: Answer | null, cross: boolean}} State
 */

const PLACES = 2 ** 20;

/** @param {string} name */
const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

async function start() {
  const { header, arrays } = await unpack(by("data").textContent);
  const { labels } = header;
  const { tails, heads } = ends(arrays);
  const n = labels.length;
  const shape = {
    n, tails, heads, x: Float32Array.from(arrays.x, (one) => one / PLACES), y: Float32Array.from(arrays.y, (one) => one / PLACES),
  };
  const lengths = Float32Array.from(tails, (a, e) => Math.hypot(shape.x[a] - shape.x[heads[e]], shape.y[a] - shape.y[heads[e]]));
  const typical = lengths.sort()[lengths.length >> 1] || 1e-3;
  const find = new Map(labels.map((label, v) => [label, v]));
  const names = namesIn(labels);
  const worker = searcher(header, arrays, tails, heads);

  /** @type {State} */
  const state = {
    origin: -1, other: -1, target: -1, hovered: -1, period: 0, far: 1, gap: 1, view: "distance", steps: [],
    answer: null, rival: null, cross: false,
  };
  // WebGL if available; `#draw=canvas` and `#draw=webgl` are for tests.
  const draw = new URLSearchParams(location.hash.slice(1)).get("draw");
  const webgl = draw === "canvas" ? null : webglPainter(by("lines"), shape, draw === "webgl");
  const painter = webgl ?? canvasPainter(by("lines"), shape);
  const camera = new Camera(by("map"), shape, () => paint(true), {
    tap: (node, event) => {
      if (event.shiftKey && state.origin >= 0) compare(node);
      else if (event.pointerType === "mouse" || state.origin < 0) begin(node);
      else go(node);
    },
    hover: (node) => {
      if (node === state.hovered) return;
      state.hovered = node;
      tell();
    },
    key: (node, event) => {
      if (event.key === " ") go(node);
      else if (event.shiftKey && state.origin >= 0) compare(node);
      else begin(node);
    },
  });

  const dark = () => shade("--scheme") === "dark";
  const pathTo = (/** @type {number} */ node) =>
    node >= 0 && state.answer?.via && isFinite(state.answer.distance[node]) ? route(state.answer.via, tails, heads, node) : [];
  const shown = () => (state.hovered >= 0 && state.origin >= 0 ? state.hovered : state.target);

  /** @returns {import("./webgl.js").Look} */
  function look() {
    const { answer, rival } = state;
    const mode = !answer ? "plain" : rival ? "sides" : state.view === "isochrones" && answer.ranges ? "isochrones" : "distance";
    return {
      mode, stops: mode === "sides" ? sideStops(dark()) : distanceStops(dark()), steps: state.steps,
      top: mode === "sides" ? state.gap : state.far, plain: shade("--plain"), line: width(),
    };
  }
  /** The typical length of an edge on the screen: lines become thicker on zooming in. */
  const apart = () => typical * camera.view.scale;
  const width = () => Math.min(Math.max(apart() / 5, 1.1), 5);

  let waiting = false;
  let stale = true;
  /** Draw at most once per frame; the lines only if they changed. */
  function paint(lines = false) {
    stale ||= lines;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (stale) painter.draw(camera.view, look());
      stale = false;
      drawMarks(by("marks"), camera, labels, names, {
        origin: state.origin, other: state.other, target: shown(), path: pathTo(shown()), cross: state.cross,
        dots: apart() > 14, ink: shade("--ink"), paper: shade("--paper"), start: shade("--start"), rival: shade("--rival"), end: shade("--end"),
      });
    });
  }

  /** Show the answer for the hovered or chosen node. */
  function tell() {
    const node = shown();
    const asked = [];
    if (state.answer) asked.push({ origin: state.origin, answer: state.answer });
    if (state.rival) asked.push({ origin: state.other, answer: state.rival });
    showAnswer(by("answer"), header, asked, node, pathTo(node), node === state.target);
    by("start-here").hidden = by("stop-here").hidden = state.target < 0 || state.target === state.origin;
    paint();
  }

  /** Hand the numbers of the answer to the painter. */
  function colour() {
    const { answer, rival } = state;
    if (answer) {
      const value = new Float32Array(n);
      const [low, high] = [new Float32Array(n), new Float32Array(n)];
      for (let v = 0; v < n; v++) {
        const one = rival ? rival.distance[v] - answer.distance[v] : answer.distance[v];
        value[v] = isFinite(one) ? one : NaN;
        if (answer.ranges) [low[v], high[v]] = [answer.ranges.low[v], answer.ranges.high[v]];
      }
      if (!state.steps.length) {
        const step = roundUp(state.far / 6);
        state.steps = [step, 2 * step, 3 * step, 4 * step];
        by("steps").value = state.steps.join(", ");
      }
      painter.numbers({ value, low, high });
    }
    by("legend-box").hidden = !answer;
    by("views").hidden = Boolean(rival);
    by("steps-box").hidden = state.view !== "isochrones" || Boolean(rival);
    showLegend(by("legend"), header, look(), [labels[state.other], labels[state.origin]]);
    paint(true);
    tell();
  }

  /** All periods share the scale of the first, so that they can be compared. @param {(Answer | null)[]} found */
  async function scale([one, other]) {
    if (!one) return;
    const [first, rival] = await Promise.all([one, other].map((answer) => answer && worker.ask(0, answer.source)));
    if (first) state.far = roundUp(percentile99(first.distance));
    if (first && rival) state.gap = roundUp(percentile99(first.distance.map((far, v) => far - rival.distance[v])));
  }

  /** Query what is chosen; the last query wins. */
  let asking = 0;
  async function ask() {
    const mine = ++asking;
    const { origin, other, period } = state;
    const found = await Promise.all([origin, other].map((node) => (node < 0 ? null : worker.ask(period, node))));
    if (mine !== asking) return;
    [state.answer, state.rival] = found;
    await scale(found);
    if (mine !== asking) return;
    colour();
    remember();
    document.documentElement.dataset.ready = String(asking);
  }

  const finders = {
    from: new Finder(by("from"), by("from-list"), labels, (node) => begin(node)),
    to: new Finder(by("to"), by("to-list"), labels, (node) => go(node)),
    versus: new Finder(by("versus"), by("versus-list"), labels, (node) => compare(node)),
  };
  /** @param {number} node */
  function begin(node) {
    state.origin = node;
    if (state.target === node) state.target = -1;
    if (node < 0) state.other = -1;
    if (state.other === node) state.other = -1;
    put();
    if (node >= 0) camera.show(node);
    return ask();
  }
  /** @param {number} node */
  function compare(node) {
    state.other = state.origin < 0 || node === state.origin ? -1 : node;
    put();
    if (state.other >= 0) camera.show(node);
    return ask();
  }
  /** @param {number} node */
  function go(node) {
    state.target = node;
    put();
    if (node >= 0) camera.show(node);
    tell();
    remember();
  }
  function put() {
    finders.from.put(state.origin);
    finders.to.put(state.target);
    finders.versus.put(state.other);
    if (state.other >= 0) by("more").open = true;
  }

  /** Write the choices into the address, so that they can be shared. */
  function remember() {
    const chosen = new URLSearchParams();
    for (const [name, node] of /** @type {[string, number][]} */ ([["from", state.origin], ["to", state.target], ["versus", state.other]])) {
      if (node >= 0) chosen.set(name, labels[node]);
    }
    if (header.periods.length) chosen.set("period", header.periods[state.period]);
    if (state.view === "isochrones") chosen.set("steps", state.steps.join(","));
    if (draw) chosen.set("draw", draw);
    try {
      history.replaceState(null, "", `#${chosen}`);
    } catch {
      // a page inside a notebook has no address of its own
    }
  }
  function recall() {
    const chosen = new URLSearchParams(location.hash.slice(1));
    /** @param {string} name */
    const node = (name) => find.get(chosen.get(name) ?? "") ?? -1;
    const unknown = ["from", "to", "versus"].map((name) => chosen.get(name)).filter((label) => label && !find.has(label));
    by("link-wrong").hidden = !unknown.length;
    by("link-wrong").textContent = `Unknown nodes in the link: ${unknown.join(", ").slice(0, 80)}`;
    Object.assign(state, { origin: find.has(chosen.get("from") ?? "") ? node("from") : header.origin, target: node("to"), other: node("versus") });
    state.period = Math.max(0, header.periods.indexOf(chosen.get("period") ?? ""));
    const steps = parseLimits(chosen.get("steps") ?? "");
    if (steps.length) {
      Object.assign(state, { steps, view: "isochrones" });
      by("steps").value = steps.join(", ");
    }
    put();
    for (const one of document.querySelectorAll("[name=view]")) /** @type {any} */ (one).checked = /** @type {any} */ (one).value === state.view;
    for (const one of document.querySelectorAll("[name=period]")) /** @type {any} */ (one).checked = Number(/** @type {any} */ (one).value) === state.period;
  }

  fillPanel(header);
  by("periods").addEventListener("change", (/** @type {any} */ event) => {
    state.period = Number(event.target.value);
    ask();
  });
  by("views").addEventListener("change", (/** @type {any} */ event) => {
    state.view = event.target.value;
    colour();
    remember();
  });
  by("steps").addEventListener("input", () => {
    const steps = parseLimits(by("steps").value);
    const wrong = !steps.length || steps.length < by("steps").value.split(",").filter((/** @type {string} */ one) => one.trim()).length;
    by("steps").setAttribute("aria-invalid", String(wrong));
    by("steps-wrong").hidden = !wrong;
    if (!steps.length) return;
    state.steps = steps;
    colour();
    remember();
  });
  by("start-here").addEventListener("click", () => {
    const node = state.target;
    state.target = -1;
    begin(node);
  });
  by("stop-here").addEventListener("click", () => go(-1));
  by("zoom-in").addEventListener("click", () => camera.zoom(1.6));
  by("zoom-out").addEventListener("click", () => camera.zoom(1 / 1.6));
  by("zoom-fit").addEventListener("click", () => camera.fit());
  by("map").addEventListener("focus", () => {
    state.cross = by("map").matches(":focus-visible");
    paint();
  });
  by("map").addEventListener("blur", () => {
    state.cross = false;
    paint();
  });
  by("theme").addEventListener("change", (/** @type {any} */ event) => {
    document.documentElement.dataset.theme = event.target.value;
    colour();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colour());

  new ResizeObserver(() => {
    const box = by("map").getBoundingClientRect();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    for (const canvas of [by("lines"), by("marks")]) {
      canvas.width = Math.max(1, Math.round(box.width * ratio));
      canvas.height = Math.max(1, Math.round(box.height * ratio));
    }
    camera.resize(box.width, box.height, ratio);
    if (!camera.touched) camera.fit();
  }).observe(by("map"));

  recall();
  colour();
  if (state.origin >= 0) await ask();
  addEventListener("hashchange", () => {
    recall();
    ask();
  });
  // For the console: the same answers as numbers.
  Object.assign(window, {
    hushpath: {
      nodes: labels,
      periods: header.periods,
      /** @param {string} source @param {string} target @param {string} [period] */
      async distance(source, target, period) {
        const [from, to] = [source, target].map((label) => {
          const node = find.get(String(label));
          if (node === undefined) throw new Error(`unknown node: '${label}'`);
          return node;
        });
        const at = header.periods.length > 1 || period !== undefined ? header.periods.indexOf(String(period)) : 0;
        if (at < 0) throw new Error(`period must be one of: ${header.periods.join(", ") || "(none)"}`);
        const answer = await worker.ask(at, from);
        const { low, high } = answer.ranges ?? { low: null, high: null };
        return { distance: answer.distance[to], low: low && low[to], high: high && high[to] };
      },
      /** Where a node is drawn. @param {string} label */
      screen: (label) => camera.screen(find.get(String(label)) ?? 0),
    },
  });
  document.documentElement.dataset.loaded = "yes";
}

/** The 99th percentile, so that few far nodes do not determine the scale. @param {Float64Array} numbers */
function percentile99(numbers) {
  const found = numbers.filter(isFinite).map(Math.abs).sort();
  return found[Math.floor(0.99 * (found.length - 1))] || found[found.length - 1] || 1;
}

start().catch((error) => {
  const place = by("answer");
  place.replaceChildren(element("p", { class: "alarm" }, `This page cannot be shown: ${error?.message ?? error}. It needs a browser from 2023 or later.`));
});
