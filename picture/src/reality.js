// How true the simulation is on a cluster: what agrees, what differs and where it stands, why the rest cannot be compared.
import { group } from "d3-array";
import { folded, h, put, table } from "./dom.js";
import { counted } from "./text.js";

const ROWS = 60; // differences shown at once

export function reality(data) {
  const of = (state) => data.groups.filter((row) => row.state === state);
  const { equal, different, "not comparable": rest } = data.counts;
  const total = equal + different + rest;
  return [
    h("header", h("h1", data.title), h("p.facts", h("span", h("b", counted(total, "fact")), ` of ${counted(data.objects, "object")}`)),
      data.head.map((line) => h("p.note", line))),
    h("div.answers",
      answer("good", equal, "equal", of("equal"), equal + different ? `${share(equal, equal + different)} of what can be compared` : "nothing can be compared"),
      answer(different ? "bad" : "good", different, "different", of("different"), different ? fieldsOf(of("different")) : "no fact differs"),
      answer("warn", rest, "not comparable", of("not comparable"), "each with its reason, below")),
    differences(of("different")),
    reasons(of("not comparable")),
    agreeing(of("equal")),
  ];
}

const share = (part, all) => `${Math.floor((1000 * part) / all) / 10} %`; // never 100 % where something differs

function answer(kind, count, state, groups, line) {
  return h(`section.answer.${kind}`, h("h2.said", `${count.toLocaleString("en-US")} ${state}`), h("p.said", line),
    [...group(groups, (row) => row.kind)].map(([name, own]) => h("p.said.note", `${name}: ${sum(own).toLocaleString("en-US")}`)));
}

const sum = (rows) => rows.reduce((total, row) => total + row.count, 0);
const fieldsOf = (rows) => `in ${counted(new Set(rows.map((row) => `${row.kind} ${row.field}`)).size, "field")}`;

function differences(rows) {
  if (!rows.length) return null;
  const columns = [
    { head: "field", cell: (row) => [h("code", row.field), h("span.tag", row.kind)] },
    { head: "in the cluster", cell: (row) => h("code", row.theirs) },
    { head: "here", cell: (row) => h("code", row.ours) },
    { head: "times", numeric: true, cell: (row) => row.count },
    { head: "first", cell: (row) => [row.object, " ", h("span.place", row.place)] },
  ];
  const body = h("div");
  const draw = (wanted) => {
    const asked = rows.filter((row) => `${row.kind} ${row.field} ${row.theirs} ${row.ours} ${row.object}`.toLowerCase().includes(wanted.toLowerCase()));
    const more = asked.slice(ROWS);
    put(body, asked.length ? table("What differs", columns, asked.slice(0, ROWS)) : h("p.note", "No difference has this text."),
      more.length ? folded(counted(more.length, "more difference"), () => table("More that differs", columns, more)) : null);
  };
  draw("");
  return h("section", { id: "different" }, h("h2", "What differs"),
    h("form.controls", { onsubmit: (event) => event.preventDefault() },
      h("label", "Only with ", h("input", { type: "search", placeholder: "field, value or object", oninput: (event) => draw(event.target.value) }))), body);
}

function reasons(rows) {
  if (!rows.length) return null;
  const why = [...group(rows, (row) => row.why)].map(([text, own]) => ({ text, own, count: sum(own) })).sort((a, b) => b.count - a.count);
  return h("section", { id: "not-comparable" }, h("h2", "What cannot be compared, and why"),
    table("What cannot be compared", [
      { head: "reason", cell: (row) => row.text },
      { head: "facts", numeric: true, cell: (row) => row.count },
      { head: "fields", cell: (row) => listed(row.own) },
    ], why));
}

/** The fields of groups, the rest of a long list folded. */
function listed(rows) {
  const fields = [...new Set(rows.map((row) => row.field))];
  const words = (names) => names.map((name, index) => [index ? ", " : "", h("code", name)]);
  return fields.length <= 8 ? words(fields) : [words(fields.slice(0, 6)), folded(`and ${fields.length - 6} more`, () => words(fields.slice(6)))];
}

function agreeing(rows) {
  if (!rows.length) return null;
  return h("section", { id: "equal" }, h("h2", "What is equal"),
    folded(fieldsOf(rows).replace(/^in /, ""), () => table("What is equal", [
      { head: "field", cell: (row) => [h("code", row.field), h("span.tag", row.kind)] },
      { head: "times", numeric: true, cell: (row) => row.count },
    ], rows)));
}
