// Two stories side by side: what differs first, then both as pictures on one axis of time.
import { corridor } from "./corridor.js";
import { at as costAt } from "./cost.js";
import { h, put, table } from "./dom.js";
import { stateAt } from "./machines.js";
import { counted, duration, price } from "./text.js";
import { view } from "./view.js";
import { timesOf } from "./world.js";

export function compare(data) {
  const [a, b] = data.worlds;
  const names = data.names;
  const end = Math.max(a.end, b.end);
  const times = [...new Set([...timesOf(a), ...timesOf(b)])].sort((x, y) => x - y);
  const own = view(times, end);
  return [
    h("header", h("h1", data.differences.length ? counted(data.differences.length, "difference") : "No difference"),
      h("p.facts", names.map((name, index) => h("span", h("b", index ? "B " : "A "), name))),
      data.notes.map((note) => h("p.note", note))),
    h("nav", { "aria-label": "Parts of the page" }, [["differences", "Differences"], ["figures", "Figures"], ["corridor-a", "Corridor A"], ["corridor-b", "Corridor B"], ["nodes", "Nodes at the end"]].map(([id, text]) => h("a", { href: `#${id}` }, text))),
    differences(data), figures(a, b),
    corridor(a, own, times, { id: "corridor-a", title: `Corridor of A: ${names[0]}` }),
    corridor(b, own, times, { id: "corridor-b", title: `Corridor of B: ${names[1]}` }),
    h("section", { id: "nodes" }, h("h2", "Nodes at the end"), h("div.sides", nodes(a, `A: ${names[0]}`), nodes(b, `B: ${names[1]}`))),
  ];
}

function differences(data) {
  if (!data.differences.length) return h("section", { id: "differences" }, h("p", "Both come to the same."));
  const kinds = [...new Set(data.differences.map((one) => one.about))];
  const state = { kind: "", query: "" };
  const out = h("div");
  const draw = () => {
    const found = data.differences.filter((one) => (!state.kind || one.about === state.kind) && JSON.stringify(one).toLowerCase().includes(state.query));
    put(out, table("Differences", [
      { head: "about", cell: (one) => [h("b", one.about), " ", one.name] },
      { head: "A", cell: (one) => side(one.a) },
      { head: "B", cell: (one) => side(one.b) },
    ], found.slice(0, 500)), found.length > 500 ? h("p.note", `${found.length - 500} more: search`) : null);
  };
  draw();
  return h("section", { id: "differences" }, h("h2", "What differs"), h("div.tools",
    h("label", "About ", h("select", { onchange: (event) => { state.kind = event.target.value; draw(); } }, ["", ...kinds].map((kind) => h("option", { value: kind }, kind ? `${kind} (${data.differences.filter((one) => one.about === kind).length})` : "all")))),
    h("input", { type: "search", placeholder: "Search differences", "aria-label": "Search differences", oninput: (event) => { state.query = event.target.value.trim().toLowerCase(); draw(); } })), out);
}

const side = (text) => (text === null || text === "" ? h("span.note", "nothing") : h("span.side", text));

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
  return h("section", { id: "figures" }, h("h2", "Figures"), table("Figures", [
    { head: "", cell: (row) => row.name },
    { head: "A", cell: (row) => row.a },
    { head: "B", cell: (row) => (row.a === row.b ? h("span.note", row.b) : h("b.differs", row.b)) },
  ], rows));
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
