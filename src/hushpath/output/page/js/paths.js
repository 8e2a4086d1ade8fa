// Shortest paths in whole lattice steps: sums below 2**53 are exact, so distances equal Python's to the last bit.

/**
 * @typedef {{start: Int32Array, heads: Int32Array, edges: Int32Array}} Graph
 * @typedef {{steps: Float64Array, via: Int32Array}} Found  `via` is the last edge of the path to each node, or -1
 */

/**
 * Outgoing arcs of every node in compressed rows.
 * @param {number} n @param {Int32Array} tails @param {Int32Array} heads @param {boolean} directed
 * @returns {Graph}
 */
export function graphOf(n, tails, heads, directed) {
  const start = new Int32Array(n + 1);
  for (let e = 0; e < tails.length; e++) {
    start[tails[e] + 1]++;
    if (!directed) start[heads[e] + 1]++;
  }
  for (let v = 0; v < n; v++) start[v + 1] += start[v];
  const place = start.slice();
  const out = new Int32Array(start[n]);
  const edges = new Int32Array(start[n]);
  for (let e = 0; e < tails.length; e++) {
    out[place[tails[e]]] = heads[e];
    edges[place[tails[e]]++] = e;
    if (!directed) {
      out[place[heads[e]]] = tails[e];
      edges[place[heads[e]]++] = e;
    }
  }
  return { start, heads: out, edges };
}

/**
 * Dijkstra with an indexed heap of four children: distances from one node to all, infinite where unreachable.
 * @param {Graph} graph @param {Float64Array} weights @param {number} source
 * @returns {Found}
 */
export function search(graph, weights, source) {
  const { start, heads, edges } = graph;
  const n = start.length - 1;
  const steps = new Float64Array(n).fill(Infinity);
  const via = new Int32Array(n).fill(-1);
  const keys = new Float64Array(n + 1);
  const nodes = new Int32Array(n + 1);
  const place = new Int32Array(n).fill(-1);
  steps[source] = 0;
  nodes[0] = source;
  place[source] = 0;
  let size = 1;
  while (size > 0) {
    const key = keys[0];
    const v = nodes[0];
    size--;
    if (size > 0) {
      const k = keys[size];
      const u = nodes[size];
      let i = 0;
      for (;;) {
        const child = 4 * i + 1;
        if (child >= size) break;
        let least = child;
        const last = Math.min(child + 4, size);
        for (let c = child + 1; c < last; c++) if (keys[c] < keys[least]) least = c;
        if (keys[least] >= k) break;
        keys[i] = keys[least];
        nodes[i] = nodes[least];
        place[nodes[i]] = i;
        i = least;
      }
      keys[i] = k;
      nodes[i] = u;
      place[u] = i;
    }
    for (let arc = start[v]; arc < start[v + 1]; arc++) {
      const u = heads[arc];
      const k = key + weights[edges[arc]];
      if (k < steps[u]) {
        steps[u] = k;
        via[u] = edges[arc];
        let i = place[u];
        if (i < 0) i = size++;
        while (i > 0) {
          const parent = (i - 1) >> 2;
          if (keys[parent] <= k) break;
          keys[i] = keys[parent];
          nodes[i] = nodes[parent];
          place[nodes[i]] = i;
          i = parent;
        }
        keys[i] = k;
        nodes[i] = u;
        place[u] = i;
      }
    }
  }
  return { steps, via };
}

/**
 * The nodes of the path from the source of a search to `target`.
 * @param {Int32Array} via @param {Int32Array} tails @param {Int32Array} heads @param {number} target
 * @returns {number[]}
 */
export function route(via, tails, heads, target) {
  const nodes = [target];
  for (let v = target; via[v] >= 0; ) {
    const edge = via[v];
    v = heads[edge] === v ? tails[edge] : heads[edge];
    nodes.push(v);
  }
  return nodes.reverse();
}
