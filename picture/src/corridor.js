// The corridor: a lane for each NodeClaim, its pods below it, what is left alone after refusals below all; time from left to right.
import { select } from "d3-selection";
import { zoom as zooming, zoomIdentity } from "d3-zoom";
import { folded, h, put, s, table, toggle } from "./dom.js";
import { FEW, rows, title } from "./lanes.js";
import { counted, duration, place, shorter } from "./text.js";
import { tip } from "./tip.js";
import { axis, ticks } from "./view.js";

const ROW = 22;
const LANES = 16; // of a large world, drawn at once
const ROWS = 600; // of the table
const WORDS = {
  pending: "pod waits", launching: "claim, machine asked for", booting: "machine boots", initializing: "node registered", ready: "node initialized",
  bound: "pod bound", running: "pod runs", ended: "pod ended", leaving: "leaves", unready: "not ready", blocked: "left alone", lost: "machine gone",
};
const MARKS = { refused: "✕", unplaced: "⊘", disrupted: "◆", notice: "▽", taken: "▼", broken: "✖", power: "·", node: "·", waits: "" };
const GAP = 8; // pixels between a name and the bars
const SMALL = ["power", "node"]; // seen only where somebody looks for them
const MARK_WORDS = {
  refused: "Azure refuses the machine", unplaced: "Karpenter finds no place for the pod", disrupted: "Karpenter decides to remove it", notice: "Azure announces that it will take the machine", taken: "Azure takes the machine",
  broken: "Azure accepted it, its creation failed", power: "machine gains or loses power", node: "Node appears",
};

export function corridor(world, own, times, { id = "corridor", title: name = "Corridor", linked = true, told = true } = {}) {
  const opened = new Set(); // groups of lanes
  const box = h("div.chart");
  const legend = legendOf(world.lanes, world);
  let shown = world.lanes.length > FEW ? LANES : world.lanes.length;
  const more = h("button.more", { type: "button", onclick: () => { shown += 5 * LANES; draw(); } });
  const turn = (lane) => {
    if (opened.delete(lane.group)) shown -= lane.members.length;
    else shown += (opened.add(lane.group), lane.members.length);
    draw();
    [...box.querySelectorAll("[aria-expanded]")].find((one) => one.dataset.group === lane.group)?.focus();
  };
  const draw = () => {
    const lanes = rows(world.lanes, opened);
    put(box, chart(lanes.slice(0, shown), box.clientWidth || 900, world, own, times, linked, turn));
    more.hidden = shown >= lanes.length;
    more.textContent = `${lanes.length - shown} more lanes`;
  };
  own.listen(draw);
  new ResizeObserver(draw).observe(box);
  return h("section", { id }, h("h2", name),
    told && h("p.note", `From a pod that waits to the node that it runs on. Ctrl and wheel, or + and −, zoom; drag moves; a click, on a bar too, ${linked ? moment(world) : "marks a moment in both corridors"}.`),
    h("div.tools", zoomButtons(own),
      toggle("Draw quiet times short", own.even, (on) => own.change({ even: on, transform: zoomIdentity }))),
    legend, box, more, folded("The same as a table", () => asTable(world.lanes)));
}

/** What a click does, by the parts that the page has. */
function moment(world) {
  const parts = [world.machines.length ? "Nodes" : "", world.cost.length ? "Cost" : ""].filter(Boolean);
  return parts.length ? `sets the moment that ${parts.join(" and ")} ${parts.length > 1 ? "show" : "shows"}` : "marks a moment";
}

/** Every sign that is drawn, in the order of the corridor. */
function legendOf(lanes, world) {
  const parts = new Set(lanes.flatMap((lane) => lane.parts.map(([what]) => what)));
  const marks = new Set(lanes.flatMap((lane) => lane.marks.map(([, what]) => what)));
  const signs = Map.groupBy(Object.keys(MARK_WORDS).filter((what) => marks.has(what)), (what) => MARKS[what]); // one sign for power and node
  return h("p.legend", Object.keys(WORDS).filter((what) => parts.has(what)).map((what) => h("span", h(`i.${what}`), WORDS[what])),
    [...signs].map(([sign, all]) => h("span", h(`b.${all[0]}`, sign), all.map((what) => MARK_WORDS[what]).join(", or "))),
    world.moments.some((one) => one.kind === "step") ? h("span", h("i.step"), "a step of the scenario") : null, h("span", h("i.at"), "the moment that is shown"));
}

function zoomButtons(own) {
  const by = (factor) => () => own.change({ transform: own.transform.scale(factor) });
  return h("span.zoom", h("button", { type: "button", "aria-label": "zoom in", onclick: by(1.6) }, "+"), h("button", { type: "button", "aria-label": "zoom out", onclick: by(1 / 1.6) }, "−"),
    h("button", { type: "button", onclick: () => own.change({ transform: zoomIdentity }) }, "All"));
}

function chart(lanes, whole, world, own, times, linked, turn) {
  const narrow = whole < 560;
  const left = narrow ? 0 : Math.min(260, whole * 0.27);
  const row = narrow ? ROW + 14 : ROW;
  const width = Math.max(60, whole - left - 8);
  const height = lanes.length * row + 26;
  const scale = own.scale(width);
  const clip = `clip${Math.round(Math.random() * 1e9)}`;
  const plot = s("g", { "clip-path": `url(#${clip})` });
  const inner = s("g", { transform: `translate(${left},0)` }, s("clipPath", { id: clip }, s("rect", { x: -1, y: 0, width: width + 2, height })), plot);
  for (const t of ticks(own, width, times)) {
    plot.append(s("line.tick", { x1: scale(t), x2: scale(t), y1: 0, y2: height - 18 }));
  }
  for (const one of axis(own, width, times, duration)) plot.append(s(`text.axis${one.turned ? ".end" : ""}`, { x: one.x, y: height - 5 }, one.text));
  for (const moment of world.moments.filter((one) => one.kind === "step")) {
    plot.append(tip(s("line.step", { x1: scale(moment.t), x2: scale(moment.t), y1: 0, y2: height - 18 }), () => [`${duration(moment.t)} ${moment.text}`, place(moment.place)]));
  }
  const names = s("g");
  const wide = nameWidth();
  lanes.forEach((lane, index) => {
    const y = index * row;
    names.append(laneName(linked ? lane : { ...lane, place: undefined, line: lane.place }, y, (narrow ? whole : left) - GAP, narrow, turn, wide));
    for (const part of lane.parts) plot.append(partOf(lane, part, y + (narrow ? 17 : 4), scale, own));
    for (const mark of lane.marks) if (MARKS[mark[1]] !== "") plot.append(markOf(lane, mark, y + (narrow ? 17 : 4), scale, width));
  });
  const at = scale(own.at);
  plot.append(s("line.at", { x1: at, x2: at, y1: 0, y2: height - 18 }));
  const svg = s("svg.lanes", { width: whole, height, viewBox: `0 0 ${whole} ${height}`, role: "group", tabindex: 0, "aria-label": `Corridor: ${counted(lanes.length, "lane")} over ${duration(own.end)}` }, names, inner);
  movable(svg, inner, left, width, own);
  return svg;
}

/** A name that is wider than its room without its middle: names differ at their ends. `measure` tells the pixels of a text. */
function cut(text, room, measure) {
  let shown = text;
  for (let kept = text.length - 1; kept > 1 && measure(shown) > room; kept -= 1) {
    const end = Math.floor(kept / 2);
    shown = `${text.slice(0, kept - end)}…${text.slice(text.length - end)}`;
  }
  return shown;
}

/** The width of a lane's name in pixels, by the fonts of style/world.css. */
function nameWidth() {
  const context = document.createElement("canvas").getContext("2d");
  return (text, lane) => {
    context.font = `${lane.kind === "claim" || lane.kind === "node" ? 600 : 400} 12px system-ui, sans-serif`;
    return context.measureText(text).width;
  };
}

function laneName(lane, y, room, narrow, turn, width) {
  const x = lane.below ? 12 : 0;
  const text = `${lane.group ? (lane.opened ? "▾ " : "▸ ") : ""}${title(lane)}`;
  const told = s(`text.name.${lane.kind}`, { x, y: y + (narrow ? 12 : 16) }, cut(text, room - x, (shown) => width(shown, lane)));
  tip(told, () => [text, lane.kind === "blocked" && !lane.group ? lane.name : "", place(lane.place ?? lane.line), lane.zone ?? "", lane.pods && lane.pods.length > 1 ? lane.pods.slice(0, 8).map(shorter).join(", ") : ""].filter(Boolean));
  if (lane.group) return opener(told, lane, () => turn(lane));
  if (!lane.place) return told;
  return s("a", { href: `#object=${encodeURIComponent(lane.owner || `Pod/${shorter(lane.name)}`)}` }, told);
}

/** The name of a group as the button that opens and closes it. */
function opener(told, lane, turn) {
  for (const [name, value] of Object.entries({ role: "button", tabindex: 0, "aria-expanded": String(lane.opened), "data-group": lane.group, class: `${told.getAttribute("class")} group` })) told.setAttribute(name, value);
  told.addEventListener("click", turn);
  told.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    turn();
  });
  return told;
}

function partOf(lane, part, y, scale, own) {
  const [what, from, to, ...said] = part;
  const x = scale(from);
  const width = Math.max(what === "pending" || what === "blocked" ? 2 : 1, scale(Math.min(to, own.end)) - x);
  const zones = what === "blocked" ? [...new Set(lane.parts.map((part) => part[3]))] : [""];
  const height = (ROW - 8) / zones.length;
  const rect = s(`rect.part.${what}`, { x, y: y + (what === "blocked" ? zones.indexOf(said[0]) * height : 0), width, height: zones.length > 1 ? height - 1 : height });
  return tip(rect, () => {
    const last = lane.marks.filter(([t, kind, text]) => text && t <= to && t >= from && (kind === "waits" || kind === "unplaced")).at(-1);
    return [`${title(lane)}: ${WORDS[what] ?? what}`, part.spread && part.spread[1] > part.spread[0] ? `from ${duration(part.spread[0])} to ${duration(part.spread[1])} on` : `${duration(from)} – ${duration(to)} (${duration(to - from)})`, ...said.filter(Boolean), what === "pending" && last ? last[2] : ""].filter(Boolean);
  });
}

const EDGE = 6; // pixels from either end that a sign needs to be whole

function markOf(lane, [t, what, text], y, scale, width) {
  const at = scale(t);
  const x = at < -1 || at > width + 1 ? at : Math.max(EDGE, Math.min(width - EDGE, at));
  const big = !SMALL.includes(what);
  const mark = s(`text.mark.${what}`, { x, y: y + (big ? 11.5 : 12), "text-anchor": "middle", ...(big ? { tabindex: 0, role: "img", "aria-label": `${duration(t)} ${text}` } : {}) }, MARKS[what]);
  return tip(mark, () => [`${duration(t)} ${title(lane)}`, text]);
}

/** Zooming, moving and choosing a moment, by pointer and by keys. */
function movable(svg, inner, left, width, own) {
  const behaviour = zooming().scaleExtent([1, 2000]).extent([[0, 0], [width, 1]]).translateExtent([[0, 0], [width, 1]])
    .filter((event) => (event.type === "wheel" ? event.ctrlKey || event.metaKey : !event.button))
    .on("zoom", (event) => { if (event.sourceEvent) own.change({ transform: event.transform }); });
  const hit = s("rect.hit", { x: 0, y: 0, width, height: svg.getAttribute("height") }); // takes what no bar takes
  inner.prepend(hit);
  select(inner).call(behaviour).on("dblclick.zoom", null).property("__zoom", own.transform);
  inner.addEventListener("click", (event) => {
    const x = event.clientX - svg.getBoundingClientRect().left - left;
    own.change({ at: Math.max(0, Math.min(own.end, own.scale(width).invert(x))) });
  });
  svg.addEventListener("keydown", (event) => {
    const moves = { "+": () => own.transform.scale(1.6), "=": () => own.transform.scale(1.6), "-": () => own.transform.scale(1 / 1.6), ArrowLeft: () => own.transform.translate(60 / own.transform.k, 0), ArrowRight: () => own.transform.translate(-60 / own.transform.k, 0), Home: () => zoomIdentity };
    if (!moves[event.key] || event.target !== svg) return;
    event.preventDefault();
    const next = behaviour.constrain()(moves[event.key](), [[0, 0], [width, 1]], [[0, 0], [width, 1]]);
    own.change({ transform: next.k < 1 ? zoomIdentity : next });
    document.querySelector("svg.lanes")?.focus();
  });
}

function asTable(lanes) {
  const found = lanes.flatMap((lane) => [...lane.parts.map(([what, from, to, ...said]) => ({ lane, t: from, what: WORDS[what] ?? what, to, said: said.filter(Boolean).join(", ") })),
    ...lane.marks.filter(([, , text]) => text).map(([t, what, text]) => ({ lane, t, what: what === "waits" ? "kube-scheduler" : MARK_WORDS[what] ?? what, to: null, said: text }))].sort((a, b) => a.t - b.t));
  const all = table("Corridor as a table", [
    { head: "lane", cell: (row) => title(row.lane) },
    { head: "from", numeric: true, cell: (row) => duration(row.t) },
    { head: "for", numeric: true, cell: (row) => (row.to === null ? "" : duration(row.to - row.t)) },
    { head: "what", cell: (row) => row.what },
    { head: "said", cell: (row) => row.said },
  ], found.slice(0, ROWS));
  return [all, found.length > ROWS ? h("p.note", `${counted(found.length - ROWS, "later row")} ${found.length - ROWS === 1 ? "is" : "are"} not on this page; the trace has all.`) : null];
}
