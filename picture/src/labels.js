// The labels of a Node and everybody who wrote them, in plain words; what was overwritten is struck through.
import { folded, h, put, table, toggle } from "./dom.js";
import { counted, duration, place } from "./text.js";

export function labels(world, sources) {
  if (!world.labels.length) return null;
  const state = { node: 0, query: "", contested: false };
  const box = h("div");
  const draw = () => put(box, rows(world.labels[state.node], state, sources));
  const search = h("input", { type: "search", placeholder: "Search keys, values and writers", "aria-label": "Search labels", oninput: (event) => { state.query = event.target.value.trim().toLowerCase(); draw(); } });
  const choose = h("label", "Node ", h("select", { onchange: (event) => { state.node = Number(event.target.value); draw(); } },
    world.labels.map((one, index) => h("option", { value: index }, `${one.node}${one.gone === null ? "" : ` (removed at ${duration(one.gone)})`}`))));
  draw();
  return h("section", { id: "labels" }, h("h2", "Labels"), h("p.note", "Who wrote each label of a Node, in order, and where the value comes from. What was overwritten is struck through."),
    h("div.tools", choose, search, toggle("Only where writers differ", false, (on) => { state.contested = on; draw(); })),
    world.unlabelled > 0 ? h("p.note", `${counted(world.unlabelled, "more Node")} ${world.unlabelled === 1 ? "is" : "are"} not on this page; the trace has their labels.`) : null, box, key(world, sources));
}

const WRITERS = {
  kubelet: "kubelet creates the Node, with the labels that Karpenter gave it with the machine and its own",
  Karpenter: "Karpenter's registration copies the NodeClaim's labels to the Node, over what is there",
  "cloud-node-manager": "Azure's cloud-node-manager writes what it reads from the machine",
};
const named = (by) => (by === "karpenter" ? "Karpenter" : by);

/** Who the writers and the sources are that the page names. */
function key(world, sources) {
  const writes = world.labels.flatMap((one) => one.keys.flatMap((row) => row.writes));
  const by = new Set(writes.map((one) => named(one.by)));
  const from = new Set(writes.map((one) => one.from));
  const items = [...Object.entries(WRITERS).filter(([name]) => by.has(name)), ...Object.entries(sources).filter(([name]) => from.has(name)).map(([name, one]) => [[one.name, h("span.note", ` (from: ${name})`)], one.text])];
  return folded("Who the writers are, and where values come from", () => h("dl.key", items.map(([name, text]) => h("div", h("dt", name), h("dd", text)))), { open: world.machines.length <= 12, name: "details.sources" });
}

const contested = (row) => row.writes.some((one) => ["overwrote", "removed", "refused", "withheld"].includes(one.kind));

/** The groups of a Node's labels, what a reader looks for first; the others by who wrote them. */
function groups(node, sources) {
  const name = (row) => {
    if (contested(row)) return "Writers differ";
    if (row.writes.some((one) => one.nodepool)) return "From your NodePool";
    const [first] = row.writes;
    const from = sources[first.from]?.name;
    return `Written by ${named(first.by)}${from ? `, from ${from}` : ""}`;
  };
  const found = Map.groupBy(node.keys, name);
  const first = ["Writers differ", "From your NodePool"];
  return [...first.filter((one) => found.has(one)).map((one) => [one, found.get(one), true]), ...[...found].filter(([one]) => !first.includes(one)).sort((a, b) => b[1].length - a[1].length).map(([one, all]) => [one, all, false])];
}

function rows(node, state, sources) {
  const asked = state.contested || state.query;
  const found = node.keys.filter((row) => (!state.contested || contested(row)) && JSON.stringify(row).toLowerCase().includes(state.query));
  if (!found.length) return h("p.note", "No label is like that.");
  const removed = node.gone === null ? null : h("p.bad", `This Node is not there any more: it was removed at ${duration(node.gone)}.`);
  const told = h("p.note", `${asked ? `${counted(found.length, "key")} of ${node.keys.length}` : counted(node.keys.length, "key")} on Node ${node.node}`);
  if (asked) return [removed, told, labelTable(`Labels of ${node.node}`, found, sources)];
  const group = ([name, all, open]) => folded([h("b", name), h("span.note", ` ${all.length}`)], () => labelTable(name, all, sources), { open, name: "details.group" });
  const all = groups(node, sources);
  const rest = all.filter(([, , open]) => !open);
  return [removed, told, all.filter(([, , open]) => open).map(group),
    rest.length ? folded([h("b", "Karpenter's, kubelet's and Azure's own"), h("span.note", ` ${rest.reduce((sum, [, some]) => sum + some.length, 0)}`)], () => rest.map(group), { name: "details.group.others" }) : null];
}

const labelTable = (caption, found, sources) => table(caption, [
  { head: "key", cell: (row) => h("code", row.key) },
  { head: "value", cell: (row) => (row.value === null ? h("span.note", "none") : h("code", row.value || '""')) },
  { head: "written by", cell: (row) => writes(row, sources) },
], found);

/** What became of a sender's value, around the value. */
const SAID = {
  set: (value) => [" wrote ", value], same: () => " says the same", overwrote: (value) => [" overwrote it with ", value], removed: () => " removed it",
  refused: (value) => [" asked for ", value, ", and the API server refused"], withheld: (value) => [" was not told ", value, ", for it may not set this key"],
};

function writes(row, sources) {
  const lasting = row.writes.findLastIndex((one) => ["set", "overwrote", "removed"].includes(one.kind));
  return h("ol.writes", row.writes.map((one, index) => {
    const over = ["set", "overwrote", "same"].includes(one.kind) && index < lasting;
    const not = one.kind === "refused" || one.kind === "withheld";
    const value = one.value === undefined ? null : h(over || not ? "s" : "code", one.value || '""');
    const then = index && ["overwrote", "removed"].includes(one.kind) ? "then " : null;
    return h(`li${over || not ? ".over" : ""}`, then, h("b", named(one.by)), SAID[one.kind](value), origin(one, sources), h("span.note", ` at ${duration(one.t)}`));
  }));
}

/** Where a value comes from: the user's NodePool with its place, or a source in plain words. */
function origin(one, sources) {
  if (one.nodepool) {
    const { name, part, place: where } = one.nodepool;
    return h("span.note", { title: sources[one.from]?.text }, ` from ${part} of `, h("a", { href: `#object=${encodeURIComponent(`NodePool/${name}`)}` }, `NodePool ${name}`), where ? [" ", h("span.place", place(where))] : null);
  }
  const source = sources[one.from];
  return source || (one.from && one.from !== one.by) ? h("span.note", { title: source?.text }, ` from ${source?.name ?? one.from}`) : null;
}
