// The labels of a Node and everybody who wrote them; what was overwritten is struck through.
import { h, put, table, toggle } from "./dom.js";
import { counted, duration } from "./text.js";

const WORDS = { set: "", same: "says the same", overwrote: "overwrites", removed: "removes", refused: "is refused", withheld: "withholds" };

export function labels(world) {
  if (!world.labels.length) return null;
  const state = { node: 0, query: "", contested: false };
  const box = h("div");
  const draw = () => put(box, rows(world.labels[state.node], state));
  const search = h("input", { type: "search", placeholder: "Search keys, values and writers", "aria-label": "Search labels", oninput: (event) => { state.query = event.target.value.trim().toLowerCase(); draw(); } });
  const choose = h("label", "Node ", h("select", { onchange: (event) => { state.node = Number(event.target.value); draw(); } }, world.labels.map((one, index) => h("option", { value: index }, one.node))));
  draw();
  return h("section", { id: "labels" }, h("h2", "Labels"), h("p.note", "Who wrote each label of a Node, in order. What was overwritten is struck through."),
    h("div.tools", choose, search, toggle("Only where writers differ", false, (on) => { state.contested = on; draw(); })), box);
}

const contested = (row) => row.writes.some((one) => ["overwrote", "removed", "refused", "withheld"].includes(one.kind));

function rows(node, state) {
  const found = node.keys.filter((row) => (!state.contested || contested(row)) && JSON.stringify(row).toLowerCase().includes(state.query));
  if (!found.length) return h("p.note", "No label is like that.");
  return [h("p.note", `${counted(found.length, "key")} of ${node.keys.length}`), table(`Labels of ${node.node}`, [
    { head: "key", cell: (row) => h("code", row.key) },
    { head: "value", cell: (row) => (row.value === null ? h("span.note", "none") : h("code", row.value || '""')) },
    { head: "written by", cell: (row) => writes(row) },
  ], found)];
}

function writes(row) {
  const lasting = row.writes.findLastIndex((one) => one.kind === "set" || one.kind === "overwrote" || one.kind === "removed");
  return h("ol.writes", row.writes.map((one, index) => {
    const over = ["set", "overwrote", "same"].includes(one.kind) && index < lasting;
    const not = one.kind === "refused" || one.kind === "withheld";
    const value = one.value === undefined ? null : h(over || not ? "s" : "code", one.value || '""');
    return h(`li${over || not ? ".over" : ""}`, h("b", one.by), one.from && one.from !== one.by ? h("span.note", ` from ${one.from}`) : null, " ", WORDS[one.kind] ? `${WORDS[one.kind]} ` : null, value, h("span.note", ` ${duration(one.t)}`));
  }));
}
