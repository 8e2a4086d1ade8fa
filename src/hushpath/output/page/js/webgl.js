// The map, drawn by WebGL: every edge is a thin rectangle, coloured by the numbers of its two ends.

import { parsed, ramp } from "./colours.js";

/**
 * @typedef {{n: number, x: Float32Array, y: Float32Array, tails: Int32Array, heads: Int32Array}} Shape
 * @typedef {{x: number, y: number, scale: number, width: number, height: number, ratio: number}} View
 * @typedef {{mode: "plain" | "distance" | "isochrones" | "sides", stops: string[], top: number, steps: number[],
 *   plain: string, line: number}} Look
 * @typedef {{value: Float32Array, low: Float32Array, high: Float32Array}} Numbers  NaN where unreachable
 * @typedef {{numbers(found: Numbers): void, draw(view: View, look: Look): void}} Painter
 */

const MODES = { plain: 0, distance: 1, isochrones: 2, sides: 3 };

const VERTEX = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
layout(location=0) in vec2 a_from; layout(location=1) in vec2 a_to; layout(location=2) in ivec2 a_ends;
uniform vec2 u_middle; uniform vec2 u_scale; uniform vec2 u_pixel; uniform float u_line; uniform sampler2D u_numbers;
out vec4 v_number; out float v_side;
vec4 number(int i) { int w = textureSize(u_numbers, 0).x; return texelFetch(u_numbers, ivec2(i % w, i / w), 0); }
void main() {
  int corner = gl_VertexID % 4;
  float along = float(corner / 2), side = float(corner % 2) * 2.0 - 1.0;
  vec2 from = (a_from - u_middle) * u_scale, to = (a_to - u_middle) * u_scale;
  vec2 way = (to - from) / u_pixel;
  float size = length(way);
  vec2 unit = size > 0.0 ? way / size : vec2(1.0, 0.0);
  vec2 off = vec2(-unit.y, unit.x) * side * (u_line * 0.5 + 0.7) + unit * (along * 2.0 - 1.0) * u_line * 0.35;
  gl_Position = vec4(mix(from, to, along) + off * u_pixel, 0.0, 1.0);
  vec4 one = number(a_ends.x), other = number(a_ends.y);
  v_number = along < 0.5 ? one : other;
  v_number.w = min(one.w, other.w);
  v_side = side * (u_line * 0.5 + 0.7);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 v_number; in float v_side; out vec4 colour;
uniform sampler2D u_ramp; uniform int u_mode, u_count; uniform float u_top, u_line, u_steps[8]; uniform vec3 u_plain;
vec3 ramp(float share) { return texture(u_ramp, vec2(clamp(share, 0.002, 0.998), 0.5)).rgb; }
vec3 step_colour(int i) { return ramp(u_count > 1 ? float(i) / float(u_count - 1) : 0.0); }
void main() {
  float cover = clamp(u_line * 0.5 + 0.5 - abs(v_side), 0.0, 1.0);
  vec3 shade = u_plain; float strength = 0.55;
  if (u_mode != 0 && v_number.w > 0.5) {
    strength = 1.0;
    if (u_mode == 1) shade = ramp(v_number.x / u_top);
    else if (u_mode == 3) shade = ramp(v_number.x / u_top * 0.5 + 0.5);
    else {
      int within = u_count, possible = u_count;
      for (int i = 7; i >= 0; i--) if (i < u_count) {
        if (v_number.z <= u_steps[i]) within = i;
        if (v_number.y <= u_steps[i]) possible = i;
      }
      bool hatch = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 4.0;
      int shown = hatch ? possible : within;
      if (shown < u_count) shade = step_colour(shown); else strength = 0.4;
    }
  }
  colour = vec4(shade, 1.0) * cover * strength;
}`;

/**
 * A painter that uses WebGL 2, or null if it is missing.  Also null if it runs in software, unless `slow` is set: a 2D
 * canvas is faster then.
 * @param {HTMLCanvasElement} canvas @param {Shape} shape @param {boolean} slow
 * @returns {Painter | null}
 */
export function webglPainter(canvas, shape, slow) {
  if (!slow && inSoftware()) return null;
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = built(gl);
  if (!program) return null;
  const many = shape.tails.length;
  // Four corners for every edge.  Instances would need a quarter of the memory, but software rendering, as on remote
  // desktops and in tests, takes a second longer for 100 000 of them.
  const places = new Float32Array(16 * many);
  const nodes = new Int32Array(8 * many);
  const corners = new Uint32Array(6 * many);
  for (let e = 0; e < many; e++) {
    const [a, b] = [shape.tails[e], shape.heads[e]];
    for (let corner = 0; corner < 4; corner++) {
      const at = 4 * e + corner;
      places[4 * at] = shape.x[a];
      places[4 * at + 1] = shape.y[a];
      places[4 * at + 2] = shape.x[b];
      places[4 * at + 3] = shape.y[b];
      nodes[2 * at] = a;
      nodes[2 * at + 1] = b;
    }
    for (let i = 0; i < 6; i++) corners[6 * e + i] = 4 * e + (i < 3 ? i : i - 2);
  }
  gl.bindVertexArray(gl.createVertexArray());
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, places, gl.STATIC_DRAW);
  for (const at of [0, 1]) {
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, 2, gl.FLOAT, false, 16, 8 * at);
  }
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, nodes, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(2);
  gl.vertexAttribIPointer(2, 2, gl.INT, 8, 0);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners, gl.STATIC_DRAW);
  const wide = Math.max(1, Math.ceil(Math.sqrt(shape.n)));
  const high = Math.max(1, Math.ceil(shape.n / wide));
  const texels = new Float32Array(4 * wide * high);
  const textures = [texture(gl, 0), texture(gl, 1)];
  gl.useProgram(program);
  /** @param {string} name */
  const place = (name) => gl.getUniformLocation(program, name);
  const at = Object.fromEntries(
    ["middle", "scale", "pixel", "line", "mode", "count", "top", "steps", "plain"].map((one) => [one, place(`u_${one}`)]),
  );
  gl.uniform1i(place("u_numbers"), 0);
  gl.uniform1i(place("u_ramp"), 1);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  /** @param {Numbers} found */
  function numbers(found) {
    for (let v = 0; v < shape.n; v++) {
      const reached = found.value[v] === found.value[v];
      texels[4 * v] = reached ? found.value[v] : 0;
      texels[4 * v + 1] = reached ? found.low[v] : 0;
      texels[4 * v + 2] = reached ? found.high[v] : 0;
      texels[4 * v + 3] = reached ? 1 : 0;
    }
    gl?.activeTexture(gl.TEXTURE0);
    gl?.bindTexture(gl.TEXTURE_2D, textures[0]);
    gl?.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, wide, high, 0, gl.RGBA, gl.FLOAT, texels);
  }

  let stops = "";
  /** @param {View} view @param {Look} look */
  function draw(view, look) {
    if (!gl) return;
    if (stops !== look.stops.join()) {
      stops = look.stops.join();
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, textures[1]);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, ramp(look.stops));
    }
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(at.middle, view.x, view.y);
    gl.uniform2f(at.scale, (2 * view.scale) / view.width, (2 * view.scale) / view.height);
    gl.uniform2f(at.pixel, 2 / canvas.width, 2 / canvas.height);
    gl.uniform1f(at.line, look.line * view.ratio);
    gl.uniform1i(at.mode, MODES[look.mode]);
    gl.uniform1i(at.count, look.steps.length);
    gl.uniform1fv(at.steps, [...look.steps, 0, 0, 0, 0, 0, 0, 0, 0].slice(0, 8));
    gl.uniform1f(at.top, look.top || 1);
    gl.uniform3fv(at.plain, parsed(look.plain).map((one) => one / 255));
    gl.drawElements(gl.TRIANGLES, 6 * many, gl.UNSIGNED_INT, 0);
  }
  numbers({ value: new Float32Array(shape.n).fill(NaN), low: new Float32Array(shape.n), high: new Float32Array(shape.n) });
  return { numbers, draw };
}

/** Whether WebGL runs in software; tested on another canvas, because a canvas keeps its first kind of context. */
function inSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl?.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return !gl || /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** @param {WebGL2RenderingContext} gl */
function built(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]])) {
    const shader = gl.createShader(kind);
    if (!shader) return null;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** @param {WebGL2RenderingContext} gl @param {number} unit */
function texture(gl, unit) {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  return made;
}
