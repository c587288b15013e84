// The viewer of graphs, in JavaScript. It folds nodes into boxes (layers or steps), lays the boxes out in rows below what they
// read, and draws them as SVG. Plain code for any browser; nothing is loaded.
#include "show/viewer.h"

namespace horngate {

const char* const kViewerHead =
    R"html(<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  html, body { margin: 0; height: 100%; font: 14px sans-serif; color: #222; }
  body { display: flex; flex-direction: column; }
  #bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 6px 10px; border-bottom: 1px solid #ccc; background: #fafafa; }
  #bar button, #bar select, #bar input { font: inherit; padding: 2px 8px; }
  #bar .tab.on { background: #5b3fa8; color: #fff; }
  #note { color: #666; }
  #main { flex: 1; display: flex; min-height: 0; }
  #canvas { flex: 1; min-width: 0; cursor: grab; background: #fff; touch-action: none; }
  #side { width: 280px; overflow: auto; border-left: 1px solid #ccc; padding: 8px 12px; background: #fafafa; word-wrap: break-word; }
  #side h3 { margin: 4px 0 8px; font-size: 15px; }
  #side dt { color: #777; margin-top: 6px; } #side dd { margin: 0; }
  #side a { color: #5b3fa8; cursor: pointer; display: block; }
  text { font: 12px sans-serif; pointer-events: none; } text.small { font-size: 10px; fill: #666; }
  .box { cursor: pointer; stroke: #888; } .box:hover { stroke: #000; }
  .edge { fill: none; stroke: #999; } .edge.back { stroke-dasharray: 4 3; stroke: #c66; } .edge.on { stroke: #5b3fa8; stroke-width: 2; }
  .box.on { stroke: #5b3fa8; stroke-width: 3; }
  @media (max-width: 700px) { #side { display: none; } }
</style>
</head>
<body>
<div id="bar"><span id="tabs"></span>
<label>fold <select id="fold"><option value="layers">layers</option><option value="steps">steps</option><option value="none">nothing</option></select></label>
<label><input type="checkbox" id="leaves"> variables and constants</label>
<button id="fit">fit</button><button id="all">fold all</button><input id="find" placeholder="find" size="12"><span id="note"></span></div>
<div id="main"><svg id="canvas"><g id="view"></g></svg><div id="side"></div></div>
)html";

const char* const kViewerProgram = R"js(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const KIND = 0, LABEL = 1, FUNCTION = 2, NAME = 3, ATTRIBUTES = 4, SCOPE = 5, TYPE = 6, BYTES = 7, GROUP = 8, FROM = 9;
const COLORS = ["#cfe8ff", "#fde7b0", "#eeeeee", "#ffffff", "#d4f2d2"];
const $ = id => document.getElementById(id);
const state = { stage: 0, fold: "layers", leaves: true, open: new Set(), at: { x: 20, y: 20, k: 1 }, chosen: null, layout: null };
const escaped = t => String(t).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const cut = (t, n) => t.length > n ? t.slice(0, n - 1) + "…" : t;
const size = b => { let u = 0; for (; b >= 1024 && u < 4; ++u) b /= 1024; return b.toPrecision(3).replace(/\.?0+$/, "") + " " + ["B", "KiB", "MiB", "GiB", "TiB"][u]; };

// The box that shows a node now: of a folded layer or step, or its own.
function boxOf(stage, n, i) {
  if (state.fold === "steps" && n[GROUP] >= 0 && stage.groups[n[GROUP]] && !state.open.has("step " + n[GROUP]))
    return "step " + n[GROUP];
  if (state.fold === "layers" && n[SCOPE]) {
    let path = "";
    for (const part of n[SCOPE].split("/").slice(0, -1)) {
      path += part + "/";
      if (!state.open.has(path)) return path;
    }
  }
  return "#" + i;
}

function visible(stage) {
  const boxes = new Map(), keys = [];
  stage.nodes.forEach((n, i) => {
    const hidden = !state.leaves && (n[KIND] === 1 || n[KIND] === 2);
    const key = hidden ? null : boxOf(stage, n, i);
    keys.push(key);
    if (key === null) return;
    if (!boxes.has(key)) boxes.set(key, { key, order: i, nodes: [], from: new Map(), to: new Set() });
    boxes.get(key).nodes.push(i);
  });
  // A box stands where its first operation is made: what a layer updates comes much later.
  for (const b of boxes.values()) { const i = b.nodes.find(i => stage.nodes[i][KIND] === 3); b.order = i === undefined ? b.nodes[0] : i; }

  stage.nodes.forEach((n, i) => {
    if (keys[i] === null) return;
    for (const f of n[FROM]) {
      if (keys[f] === null || keys[f] === keys[i]) continue;
      boxes.get(keys[i]).from.set(keys[f], f);
      boxes.get(keys[f]).to.add(keys[i]);
    }
  });
  for (const b of boxes.values()) {
    const first = stage.nodes[b.nodes[0]], single = b.key[0] === "#";
    b.kind = single ? first[KIND] : 5;
    b.title = single ? first[LABEL] + (first[FUNCTION] ? " (" + first[FUNCTION] + ")" : "") : b.key.startsWith("step ") ? stage.groups[first[GROUP]] : b.key.slice(0, -1);
    const largest = b.nodes.reduce((a, i) => stage.nodes[i][BYTES] > stage.nodes[a][BYTES] ? i : a);
    b.small = single ? first[TYPE] : b.nodes.length + (b.nodes.length > 1 ? " nodes · " : " node · ") + stage.nodes[largest][TYPE];

    b.full = b.title; b.title = cut(b.title, 34); b.small = cut(b.small, 44);
    b.w = Math.max(60, Math.max(b.title.length * 7.2, b.small.length * 5.9) + 16); b.h = 36;
  }
  return boxes;
}

// Rows: below all that a box reads. Leaves go to the row above their first reader.
function layout(boxes) {
  const sorted = [...boxes.values()].sort((a, b) => a.order - b.order);
  for (const b of sorted) {
    b.row = 0;
    for (const f of b.from.keys()) { const p = boxes.get(f); if (p.order < b.order) b.row = Math.max(b.row, p.row + 1); }
  }
  for (const b of sorted) if (!b.from.size && b.to.size) {
    let least = Infinity;
    for (const t of b.to) least = Math.min(least, boxes.get(t).row);
    b.row = Math.max(0, least - 1);
  }
  const rows = [];
  for (const b of sorted) (rows[b.row] = rows[b.row] || []).push(b);
  for (let r = 0; r < rows.length; ++r) rows[r] = rows[r] || [];
  for (const row of rows) row.forEach((b, i) => { b.x = i * 200; });
  const mean = (b, keys) => { let sum = 0, n = 0; for (const k of keys) { const o = boxes.get(k); sum += o.x; ++n; } return n ? sum / n : b.x; };
  const place = (row, wish) => {
    row.forEach(b => { b.wish = wish(b); });
    row.sort((a, b) => a.wish - b.wish || a.order - b.order);
    let edge = -Infinity, shift = 0;
    for (const b of row) { b.x = Math.max(b.wish, edge + b.w / 2); edge = b.x + b.w / 2 + 16; shift += b.x - b.wish; }
    for (const b of row) b.x -= shift / row.length;
  };
  const turns = boxes.size > 3000 ? 1 : 3;
  for (let t = 0; t < turns; ++t) {
    for (let r = 1; r < rows.length; ++r) place(rows[r], b => mean(b, b.from.keys()));
    for (let r = rows.length - 2; r >= 0; --r) place(rows[r], b => mean(b, b.to));
  }
  let y = 0, left = Infinity, right = -Infinity;
  for (const row of rows) {
    for (const b of row) { b.y = y; left = Math.min(left, b.x - b.w / 2); right = Math.max(right, b.x + b.w / 2); }
    y += 36 + Math.min(90, 30 + row.length * 3);
  }
  return { boxes, left, width: right - left, height: y };
}

function draw() {
  const stage = data[state.stage], l = state.layout, out = [];
  for (const b of l.boxes.values()) for (const [f, source] of b.from) {
    const a = l.boxes.get(f), back = a.y >= b.y, y1 = a.y + a.h, bend = Math.min(60, Math.abs(b.y - y1) / 2 + 8);
    out.push(`<path class="edge${back ? " back" : ""}" data-a="${escaped(f)}" data-b="${escaped(b.key)}" d="M${a.x.toFixed(1)} ${y1}C${a.x.toFixed(1)} ${y1 + bend} ${b.x.toFixed(1)} ${b.y - bend} ${b.x.toFixed(1)} ${b.y}"><title>${escaped(stage.nodes[source][TYPE])}</title></path>`);
  }
  for (const b of l.boxes.values()) {
    const x = b.x - b.w / 2, first = stage.nodes[b.nodes[0]];
    const fused = b.kind === 3 && first[GROUP] >= 0 && stage.groups[first[GROUP]];
    const fill = b.kind === 5 ? "#e4dbf7" : fused ? "#f1ecfb" : COLORS[b.kind];
    const round = b.kind === 3 || b.kind === 2 ? 2 : 10;
    out.push(`<rect class="box" data-key="${escaped(b.key)}" x="${x.toFixed(1)}" y="${b.y}" width="${b.w.toFixed(1)}" height="${b.h}" rx="${round}" fill="${fill}"/><text x="${b.x.toFixed(1)}" y="${b.y + 15}" text-anchor="middle">${escaped(b.title)}</text><text class="small" x="${b.x.toFixed(1)}" y="${b.y + 29}" text-anchor="middle">${escaped(b.small)}</text>`);
  }
  $("view").innerHTML = out.join("");
  move();
}

function move() { const a = state.at; $("view").setAttribute("transform", `translate(${a.x},${a.y}) scale(${a.k})`); }

function fit(whole) {
  const r = $("canvas").getBoundingClientRect(), l = state.layout;
  const across = (r.width - 40) / Math.max(l.width, 1), down = (r.height - 40) / Math.max(l.height, 1);
  const k = Math.min(1.2, whole ? Math.min(across, down) : Math.max(Math.min(across, down), Math.min(across, 0.6), 0.25));
  state.at = { k, x: r.width / 2 - (l.left + l.width / 2) * k, y: 20 };
  move();
}

function render(keep) {
  const before = performance.now(), stage = data[state.stage];
  const anchor = keep && state.layout && state.layout.boxes.get(keep), old = anchor && { x: anchor.x, y: anchor.y };
  state.layout = layout(visible(stage));
  draw();
  if (old) {
    const now = [...state.layout.boxes.values()].find(b => b.key === keep || b.nodes.some(i => anchor.nodes.includes(i)));
    if (now) { state.at.x += (old.x - now.x) * state.at.k; state.at.y += (old.y - now.y) * state.at.k; }
    move();
  } else fit(false);
  $("note").textContent = `${stage.note}; ${state.layout.boxes.size} boxes, drawn in ${Math.round(performance.now() - before)} ms`;
  document.querySelectorAll(".tab").forEach((t, i) => t.classList.toggle("on", i === state.stage));
}

function choose(key) {
  const stage = data[state.stage], b = state.layout.boxes.get(key);
  document.querySelectorAll(".on:not(.tab)").forEach(e => e.classList.remove("on"));
  if (!b) return;
  document.querySelectorAll(`[data-key="${CSS.escape(key)}"], [data-a="${CSS.escape(key)}"], [data-b="${CSS.escape(key)}"]`).forEach(e => e.classList.add("on"));
  const n = stage.nodes[b.nodes[0]], rows = [];
  const add = (name, value) => { if (value) rows.push(`<dt>${name}</dt><dd>${escaped(value)}</dd>`); };
  const folded = key[0] !== "#";
  if (folded) {
    const counts = {};
    b.nodes.forEach(i => { const m = stage.nodes[i]; counts[m[LABEL]] = (counts[m[LABEL]] || 0) + (m[KIND] === 3); });
    add("operations", Object.entries(counts).filter(e => e[1]).map(e => e[1] > 1 ? `${e[0]} × ${e[1]}` : e[0]).join(", "));
    add("bytes of results", size(b.nodes.reduce((s, i) => s + stage.nodes[i][BYTES], 0)));
  } else {
    add("K function", n[FUNCTION]); add("name", n[NAME]); add("attributes", n[ATTRIBUTES]); add("type", n[TYPE]);
    add("bytes", n[BYTES] ? size(n[BYTES]) : "");
    if (n[GROUP] >= 0) add("step", `${n[GROUP]}${stage.groups[n[GROUP]] ? ": " + stage.groups[n[GROUP]] : ""}`);
    add("reads", n[FROM].map(f => stage.nodes[f][LABEL]).join(", "));
  }
  let links = folded ? `<a data-open="${escaped(key)}">unfold</a>` : "", path = "";
  if (!folded) {
    for (const part of n[SCOPE].split("/").slice(0, -1)) { path += part + "/"; if (state.open.has(path)) links += `<a data-close="${escaped(path)}">fold ${escaped(path.slice(0, -1))}</a>`; }
    if (state.open.has("step " + n[GROUP])) links += `<a data-close="step ${n[GROUP]}">fold step ${n[GROUP]}</a>`;
  }
  $("side").innerHTML = `<h3>${escaped(b.full)}</h3>${links}<dl>${rows.join("")}</dl>`;
}

function toggle(key, open) {
  if (open) state.open.add(key); else for (const k of [...state.open]) if (k === key || k.startsWith(key)) state.open.delete(k);
  render(open ? key : null);
}

function pick(stage) {
  state.stage = stage; state.open.clear();
  const nodes = data[stage].nodes, layers = nodes.some(n => n[SCOPE]);
  state.fold = nodes.length < 120 ? "none" : layers ? "layers" : data[stage].groups.some(g => g) ? "steps" : "none";
  state.leaves = nodes.length < 400;
  $("fold").value = state.fold; $("leaves").checked = state.leaves;
  render();
  $("side").innerHTML = "<h3>" + escaped(data[stage].title) + "</h3><p>Click on a box to see what it is; twice to unfold it. Drag to move, wheel to zoom. Violet: nodes that run as one step.</p>";
}

data.forEach((s, i) => { const b = document.createElement("button"); b.className = "tab"; b.textContent = s.title; b.onclick = () => pick(i); $("tabs").append(b, " "); });
$("fold").onchange = e => { state.fold = e.target.value; state.open.clear(); render(); };
$("leaves").onchange = e => { state.leaves = e.target.checked; render(); };
$("fit").onclick = () => fit(true);
$("all").onclick = () => { state.open.clear(); render(); };
$("side").onclick = e => { const d = e.target.dataset; if (d.open) toggle(d.open, true); if (d.close) toggle(d.close, false); };
$("find").onchange = e => {
  const word = e.target.value.toLowerCase(), stage = data[state.stage];
  const i = word ? stage.nodes.findIndex(n => (n[NAME] + " " + n[LABEL] + " " + n[FUNCTION]).toLowerCase().includes(word)) : -1;
  if (i < 0) return;
  const key = boxOf(stage, stage.nodes[i], i), b = state.layout.boxes.get(key), r = $("canvas").getBoundingClientRect();
  if (!b) return;
  state.at = { k: 1, x: r.width / 2 - b.x, y: r.height / 2 - b.y };
  move(); choose(key);
};
let drag = null;
const canvas = $("canvas");
canvas.onpointerdown = e => { drag = { x: e.clientX, y: e.clientY, at: { ...state.at }, key: e.target.dataset.key, moved: false }; canvas.setPointerCapture(e.pointerId); };
canvas.onpointermove = e => {
  if (!drag) return;
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
  if (drag.moved) { state.at.x = drag.at.x + dx; state.at.y = drag.at.y + dy; move(); }
};
canvas.onpointerup = () => { if (drag && !drag.moved && drag.key) choose(drag.key); drag = null; };
canvas.ondblclick = e => { const at = document.elementFromPoint(e.clientX, e.clientY), key = at && at.dataset.key; if (key && key[0] !== "#") toggle(key, true); };
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const r = canvas.getBoundingClientRect(), f = Math.exp(-e.deltaY * 0.0015), k = Math.min(4, Math.max(0.02, state.at.k * f)), g = k / state.at.k;
  state.at = { k, x: e.clientX - r.left - (e.clientX - r.left - state.at.x) * g, y: e.clientY - r.top - (e.clientY - r.top - state.at.y) * g };
  move();
}, { passive: false });
// page.html#1,none opens the second graph with nothing folded.
const [wanted, fold] = location.hash.slice(1).split(",");
pick(data[wanted] ? +wanted : 0);
if (fold) { $("fold").value = fold; $("fold").onchange({ target: $("fold") }); }
)js";

}  // namespace horngate
