// Two stories side by side: what differs first, then both as pictures on one axis of time.
import { corridor } from "./corridor.js";
import { at as costAt, spentOf, usdOf } from "./cost.js";
import { folded, h, put, table } from "./dom.js";
import { asOnDemand, stateAt } from "./machines.js";
import { coded, counted, duration, price, zoneName } from "./text.js";
import { view } from "./view.js";
import { timesOf } from "./world.js";

export function compare(data) {
  const body = h("div");
  const show = (pair) => put(body, pairOf(pair, data.names, Boolean(data.groups)));
  const first = Math.max(0, data.pairs.findIndex((pair) => real(pair).length));
  const choose = h("select", { onchange: () => show(data.pairs[choose.value]) }, data.pairs.map((pair, index) => h("option", { value: index }, `${pair.name}: ${counted(real(pair).length, "difference")}`)));
  choose.value = first;
  show(data.pairs[first]);
  const count = data.pairs.reduce((sum, pair) => sum + real(pair).length, 0);
  return [
    h("header", h("h1", data.title), h("p.facts", data.names.map((name, index) => h("span", h("b", index ? "B " : "A "), name)), data.groups ? null : h("span", h("b", count ? counted(count, "difference") : "no difference")))),
    data.cost ? h("section", { id: "cost" }, h("h2", "What it costs"), data.cost.map((line) => h(line.startsWith("  ") ? "p.said.part" : "p.said", line.trim()))) : null,
    data.groups ? summary(data) : null,
    data.pairs.length > 1 ? h("div.tools.case-of", h("label", "Case ", choose)) : null, body];
}

/** What is new, gone and changed over all cases; what follows from it is folded. */
function summary(data) {
  const own = data.groups.filter((one) => !one.follows);
  const follow = data.groups.filter((one) => one.follows);
  return h("section.even", { id: "summary" }, h("h2", "In short"), h("p", data.summary), data.note ? h("p.note", coded(data.note)) : null,
    Object.entries(data.titles).map(([change, title]) => {
      const some = own.filter((one) => one.change === change);
      return some.length ? [h("h3", title), groups(some, change)] : null;
    }),
    follow.length ? folded(`${counted(follow.length, "more")} that follow from these`.replace("mores", "more"), () => groups(follow, "changed", true)) : null);
}

const CUT = 220; // characters of a side that are shown at once

const GROUPS = 8; // differences of a kind that are shown at once

function groups(some, change, follows = false) {
  const columns = [
    { head: "what", cell: (one) => [h("b", one.what), follows ? h("p.note", `because of: ${one.follows}`) : null] },
    { head: "of", cell: (one) => one.objects || (one.cases.length > 1 ? `in ${one.cases.length} cases` : "") },
    ...(change === "changed" ? ["left", "right"].map((side) => ({ head: side === "left" ? "A" : "B", cell: (one) => one.values.map((value) => h("span.line", side_(value[side], CUT, value[side === "left" ? "right" : "left"], one.shared ? onlyIn(side, value[side]) : ""), one.values.length > 1 && value.facts > 1 ? h("span.note", ` ×${value.facts}`) : null)) }))
      : [{ head: "value", cell: (one) => side_(one.values.length === 1 ? one.values[0].right || one.values[0].left || one.text : one.text, CUT, "", one.shared ? onlyIn(change === "gone" ? "left" : "right", one.text) : "") }]),
  ];
  if (follows || some.length <= GROUPS) return table("Differences in groups", columns, some.slice(0, 300));
  return [table("Differences in groups", columns, some.slice(0, GROUPS - 2)), folded(counted(some.length - GROUPS + 2, "more difference"), () => table("More differences in groups", columns, some.slice(GROUPS - 2, 300)))];
}

const LONG = 320; // characters of one side that are shown at once
const real = (pair) => pair.differences.filter((one) => !one.kept);

function pairOf(pair, names, grouped) {
  const [a, b] = pair.worlds;
  const end = Math.max(a.end, b.end);
  const times = [...new Set([...timesOf(a), ...timesOf(b)])].sort((x, y) => x - y);
  const own = view(times, end);
  const parts = [grouped ? ["summary", "In short"] : ["differences", "Differences"], ["figures", "Figures"], ["corridor-a", "Corridor A"], ["corridor-b", "Corridor B"], ["nodes", "Nodes at the end"]];
  const more = [pair.also.map((text) => h("p", h("b", text))), pair.notes.map((note) => h("p.note", note))];
  const told = grouped && real(pair).length ? folded(h("b", `Every fact that differs (${pair.differences.length})`), () => differences(pair)) : differences(pair);
  if (pair.nothing) return [more, told, h("p.note", pair.nothing)];
  return [more,
    h("nav", { "aria-label": "Parts of the page" }, parts.map(([id, text]) => h("a", { href: `#${id}` }, text))),
    told, figures(a, b),
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
const side = (text, other) => (text ? side_(text, LONG, other) : other ? h("span.note", "nothing") : null);

/** What both sides have in a list is not told again: this one has only these more, or none. */
const onlyIn = (side, text) => (text ? `only in ${side === "left" ? "A" : "B"}: ` : "the same, none more");

/** A text, cut where it is long: to the part from where on it is not the `other`'s. */
function side_(text, most, other = "", before = "") {
  if (!text) return h("span.note", before || "nothing");
  if (text.length <= most) return h("span.side", before, text);
  let same = 0;
  while (same < text.length && text[same] === other?.[same]) same += 1;
  const from = same < most - 80 || same === text.length ? 0 : same - 40;
  const to = from + most - 40;
  return folded(h("span.side", before, `${from ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`), () => h("p.side", text));
}

/** What both come to, in figures; what differs stands out. */
function figures(a, b) {
  const rows = [
    ["Karpenter", (one) => one.header.release], ["Kubernetes", (one) => one.header.kubernetes], ["region", (one) => one.header.region], ["mode", (one) => one.header.mode],
    ["Karpenter is", (one) => one.header.karpenter], ["cluster", (one) => one.header.cluster],
    ["USD per hour at the end", (one) => usdOf(costAt(one.cost, one.end))], ["spot at on-demand price (upper bound)", (one) => there(one).filter((machine) => asOnDemand(machine, one.end)).length], ["without a known price", (one) => one.unpriced.join("; ") || "none"], ["USD in all, over the virtual time", (one) => `${spentOf(one)} over ${duration(one.end)}`],
    ["nodes at the end", (one) => there(one).length], ["their sizes", (one) => tally(there(one).map((machine) => machine.size.replace("Standard_", "")))],
    ["their zones", (one) => tally(there(one).map((machine) => zoneName(machine.zone) || "no zone"))], ["spot among them", (one) => there(one).filter((machine) => machine.capacity_type === "spot").length],
    ["NodeClaims", (one) => one.lanes.filter((lane) => lane.kind === "claim").length],
    ["pods waiting at the end", (one) => one.pending.reduce((sum, group) => sum + group.count, 0)],
    ["requests that Azure refused", (one) => one.refusals.length], ["decisions to remove nodes", (one) => one.disruptions.length], ["virtual time", (one) => duration(one.end)],
  ].map(([name, of]) => ({ name, a: String(of(a)), b: String(of(b)) }));
  const differ = rows.filter((row) => row.a !== row.b);
  const same = rows.filter((row) => row.a === row.b);
  return h("section.even", { id: "figures" }, h("h2", "Figures"),
    h("p", differ.length ? `${counted(differ.length, "figure")} of ${rows.length} differ: ${differ.map((row) => row.name).join(", ")}.` : `All ${rows.length} are the same.`),
    differ.some((row) => row.name === "their zones") ? h("p.note", "A launch draws its zone among those that are as good.") : null,
    differ.length ? table("Figures that differ", [{ head: "figure", cell: (row) => h("b", row.name) }, { head: "A", cell: (row) => h("b.differs", row.a) }, { head: "B", cell: (row) => h("b.differs", row.b) }], differ) : null,
    same.length ? [h("p", "The same on both sides:"), h("p.facts", same.map((row) => h("span", h("span.note", `${row.name} `), row.a)))] : null);
}

const there = (world) => world.machines.filter((machine) => stateAt(machine, world.end));

/** `eastus-1 ×2, eastus-2`. */
const tally = (names) => [...Map.groupBy([...names].sort(), (name) => name)].map(([name, all]) => (all.length > 1 ? `${name} ×${all.length}` : name)).join(", ") || "none";

const FEW = 12; // nodes that have a row each; where there are more, those alike share one

function nodes(world, name) {
  const all = world.machines.map((machine) => ({ machine, now: stateAt(machine, world.end) })).filter((one) => one.now);
  const alike = ({ machine, now }) => JSON.stringify([machine.size, machine.capacity_type, machine.nodepool, now.price]);
  const there = (all.length > FEW ? [...Map.groupBy(all, alike).values()] : all.map((one) => [one])).map((some) => ({ ...some[0], some }));
  return h("div.world", h("h3", name), there.length ? table(`Nodes of ${name}`, [
    { head: "size", cell: ({ machine, some }) => [machine.size.replace("Standard_", ""), some.length > 1 ? ` ×${some.length}` : null, machine.capacity_type === "spot" ? h("span.badge.spot", "spot") : null] },
    { head: "zone", cell: ({ some }) => (some.length > 1 ? tally(some.map((one) => zoneName(one.machine.zone) || "no zone")) : zoneName(some[0].machine.zone)) },
    { head: "NodePool", cell: ({ machine }) => machine.nodepool },
    { head: "pods", numeric: true, cell: ({ some }) => some.reduce((sum, one) => sum + one.now.pods.length, 0) },
    { head: "per hour", numeric: true, cell: ({ now, some }) => [price(now.price), some.length > 1 ? " each" : null, now.dear ? h("span.note.line.wrapped", "on-demand price; no spot price known") : null] },
  ], there.slice(0, 200)) : h("p.note", "none"));
}
