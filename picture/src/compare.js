// Two stories side by side: what differs first, then both as pictures on one axis of time.
import { corridor } from "./corridor.js";
import { at as costAt } from "./cost.js";
import { folded, h, put, table } from "./dom.js";
import { stateAt } from "./machines.js";
import { counted, duration, price } from "./text.js";
import { view } from "./view.js";
import { timesOf } from "./world.js";

export function compare(data) {
  const body = h("div");
  const show = (pair) => put(body, pairOf(pair, data.names));
  const first = Math.max(0, data.pairs.findIndex((pair) => real(pair).length));
  const choose = h("select", { onchange: () => show(data.pairs[choose.value]) }, data.pairs.map((pair, index) => h("option", { value: index }, `${pair.name}: ${counted(real(pair).length, "difference")}`)));
  choose.value = first;
  show(data.pairs[first]);
  const count = data.pairs.reduce((sum, pair) => sum + real(pair).length, 0);
  return [
    h("header", h("h1", data.title), h("p.facts", data.names.map((name, index) => h("span", h("b", index ? "B " : "A "), name)), h("span", h("b", count ? counted(count, "difference") : "no difference")))),
    data.pairs.length > 1 ? h("div.tools", h("label", "Case ", choose)) : null, body];
}

const LONG = 320; // characters of one side that are shown at once
const real = (pair) => pair.differences.filter((one) => !one.kept);

function pairOf(pair, names) {
  const [a, b] = pair.worlds;
  const end = Math.max(a.end, b.end);
  const times = [...new Set([...timesOf(a), ...timesOf(b)])].sort((x, y) => x - y);
  const own = view(times, end);
  const parts = [["differences", "Differences"], ["figures", "Figures"], ["corridor-a", "Corridor A"], ["corridor-b", "Corridor B"], ["nodes", "Nodes at the end"]];
  const more = [pair.also.map((text) => h("p", h("b", text))), pair.notes.map((note) => h("p.note", note))];
  if (pair.nothing) return [more, differences(pair), h("p.note", pair.nothing)];
  return [more,
    h("nav", { "aria-label": "Parts of the page" }, parts.map(([id, text]) => h("a", { href: `#${id}` }, text))),
    differences(pair), figures(a, b),
    corridor(a, own, times, { id: "corridor-a", title: `Corridor of A: ${names[0]}`, linked: false }),
    corridor(b, own, times, { id: "corridor-b", title: `Corridor of B: ${names[1]}`, linked: false, told: false }),
    h("section", { id: "nodes" }, h("h2", "Nodes at the end"), h("div.sides", nodes(a, `A: ${names[0]}`), nodes(b, `B: ${names[1]}`)))];
}

function differences(pair) {
  if (!pair.differences.length) return h("section", { id: "differences" }, h("h2", "What differs"), h("p", "Nothing: both come to the same."));
  const kinds = [...new Set(pair.differences.map((one) => one.about))];
  const state = { kind: "", query: "" };
  const out = h("div");
  const draw = () => {
    const found = pair.differences.filter((one) => (!state.kind || one.about === state.kind) && JSON.stringify(one).toLowerCase().includes(state.query));
    put(out, table("Differences", [
      { head: "what", cell: (one) => [h(one.grave ? "b.bad" : "b", one.about), ` ${one.name}`, one.text ? h("p", one.text) : null, one.notes.map((note) => h("p.note", note)), one.kept ? h("p.note", `may differ: ${one.kept}`) : null] },
      { head: "A", cell: (one) => side(one.a, one.b) },
      { head: "B", cell: (one) => side(one.b, one.a) },
    ], found.slice(0, 500)), found.length > 500 ? h("p.note", `${found.length - 500} more: search`) : null);
  };
  draw();
  return h("section.even", { id: "differences" }, h("h2", "What differs"), h("div.tools",
    kinds.length > 1 ? h("label", "About ", h("select", { onchange: (event) => { state.kind = event.target.value; draw(); } }, ["", ...kinds].map((kind) => h("option", { value: kind }, kind ? `${kind} (${pair.differences.filter((one) => one.about === kind).length})` : "all")))) : null,
    h("input", { type: "search", placeholder: "Search differences", "aria-label": "Search differences", oninput: (event) => { state.query = event.target.value.trim().toLowerCase(); draw(); } })), out);
}

/** One side of a difference; long ones are cut until they are opened. */
function side(text, other) {
  if (!text) return other ? h("span.note", "nothing") : null;
  return text.length > LONG ? folded(h("span.side", `${text.slice(0, LONG - 60)}…`), () => h("p.side", text)) : h("span.side", text);
}

/** What both come to, in figures; what differs stands out. */
function figures(a, b) {
  const rows = [
    ["Karpenter", (one) => one.header.release], ["Kubernetes", (one) => one.header.kubernetes], ["region", (one) => one.header.region], ["mode", (one) => one.header.mode],
    ["Karpenter is", (one) => one.header.karpenter], ["cluster", (one) => one.header.cluster],
    ["USD per hour at the end", (one) => price(one.cost.length ? costAt(one.cost, one.end)[1] : 0)], ["USD in all", (one) => price(one.spent)],
    ["nodes at the end", (one) => one.machines.filter((machine) => stateAt(machine, one.end)).length],
    ["NodeClaims", (one) => one.lanes.filter((lane) => lane.kind === "claim").length],
    ["pods waiting at the end", (one) => one.pending.reduce((sum, group) => sum + group.count, 0)],
    ["requests that Azure refused", (one) => one.refusals.length], ["decisions to remove nodes", (one) => one.disruptions.length], ["virtual time", (one) => duration(one.end)],
  ].map(([name, of]) => ({ name, a: String(of(a)), b: String(of(b)) }));
  const asTable = (some) => table("Figures", [{ head: "figure", cell: (row) => row.name }, { head: "A", cell: (row) => row.a }, { head: "B", cell: (row) => row.b }], some);
  const differ = rows.filter((row) => row.a !== row.b);
  const same = rows.filter((row) => row.a === row.b);
  return h("section.even", { id: "figures" }, h("h2", "Figures"), differ.length ? asTable(differ) : h("p", "All are the same."), same.length ? folded(`${counted(same.length, "figure")} the same`, () => asTable(same)) : null);
}

function nodes(world, name) {
  const there = world.machines.map((machine) => ({ machine, now: stateAt(machine, world.end) })).filter((one) => one.now);
  return h("div.world", h("h3", name), there.length ? table(`Nodes of ${name}`, [
    { head: "size", cell: ({ machine }) => [machine.size.replace("Standard_", ""), machine.capacity_type === "spot" ? h("span.badge.spot", "spot") : null] },
    { head: "zone", cell: ({ machine }) => machine.zone },
    { head: "NodePool", cell: ({ machine }) => machine.nodepool },
    { head: "pods", numeric: true, cell: ({ now }) => now.pods.length },
    { head: "per hour", numeric: true, cell: ({ now }) => price(now.price) },
  ], there.slice(0, 200)) : h("p.note", "none"));
}
