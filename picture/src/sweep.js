// The table of a sweep: what is cheapest, what breaks where, what changes placement, and what it costs to move less.
import { group } from "d3-array";
import { folded, h, put, table } from "./dom.js";
import { churn } from "./churn.js";
import { roving } from "./roving.js";
import { answers } from "./sweep_answers.js";
import { tip } from "./tip.js";
import { bare, counted, price } from "./text.js";

const ROWS = 25; // rows of the table shown at once
const MOST = 2000;
const WHOLE = 32; // letters of a value that stand in one line
const STEPS = 5; // shades of cost

export function sweep(data) {
  const rows = rowsOf(data);
  const axes = data.axes.map((name) => ({ name, values: [...new Set(rows.map((row) => row[name]))] })).filter((axis) => axis.values.length > 1);
  const all = { title: data.title, rows, axes, measure: data.over_time ? "usd" : "usd_per_hour", overTime: data.over_time };
  const state = { only: {}, ...sides(axes), byCost: true };
  const body = h("div");
  const draw = () => {
    const asked = rows.filter((row) => Object.entries(state.only).every(([name, value]) => row[name] === value));
    put(body, asked.length ? [map(asked, all, state), data.over_time ? churn(asked, all) : null, list(asked, all)] : h("p.note", "No situation is like that."));
  };
  draw();
  return [h("header", h("h1", data.title), h("p.facts", h("span", h("b", counted(rows.length, "situation"))),
    axes.map((axis) => h("span", `${axis.values.length} × ${axis.name}`))), (data.notes ?? []).map((note) => h("p.note", note))), answers(all), controls(all, state, draw), body];
}

/** Rows as objects; a column is a list of values, or of positions in a list of texts. */
function rowsOf({ columns, count }) {
  const of = Object.entries(columns).map(([name, column]) => [name, Array.isArray(column) ? (n) => column[n] : (n) => column.texts[column.at[n]]]);
  return Array.from({ length: count }, (_, number) => {
    const row = Object.fromEntries(of.map(([name, value]) => [name, value(number)]));
    row.whole = !row.error && !row.pending && !row.rejected && row.settled;
    row.ranked = row.whole && row.usd !== null && row.usd_per_hour !== null; // of a size without a price nobody knows the cost
    return row;
  });
}

/** What a table has down and across at first: regions and cases where there are such, else the longest axes. */
function sides(axes) {
  const rank = (axis) => (axis.name === "region" ? 1e9 : axis.name === "seed" ? -1 : axis.name === "case" ? 1e6 : axis.values.length);
  const order = [...axes].sort((a, b) => rank(b) - rank(a)).map((axis) => axis.name);
  return { down: order[0] ?? "", across: order[1] ?? "" };
}

function controls({ axes }, state, draw) {
  if (!axes.length) return null;
  const choose = (label, options, value, change) =>
    h("label", `${label} `, h("select", { onchange: (event) => { change(event.target.value); draw(); } },
      options.map(([one, text]) => h("option", { value: one, selected: one === value }, text))));
  const names = axes.map((axis) => [axis.name, axis.name]);
  return h("form.controls", { onsubmit: (event) => event.preventDefault() },
    axes.map((axis) => choose(axis.name, [["", "all"], ...axis.values.map((value) => [value, value || "(empty)"])], "", (value) => {
      if (value) state.only[axis.name] = value;
      else delete state.only[axis.name];
    })),
    axes.length > 1 && choose("Down", names, state.down, (value) => { state.down = value; }),
    axes.length > 1 && choose("across", names, state.across, (value) => { state.across = value; }),
    choose("Order", [["cost", "by cost"], ["plan", "as in the plan"]], "cost", (value) => { state.byCost = value === "cost"; }));
}

/** Cost by two axes, and where not every pod has its place. */
function map(asked, all, { down, across, byCost }) {
  const columns = across && across !== down ? [...new Set(asked.map((row) => row[across]))] : [""];
  const cells = group(asked, (row) => row[down] ?? "", (row) => (columns.length > 1 || columns[0] ? row[across] : ""));
  const lines = [...cells].map(([value, own]) => ({ value, own, best: Math.min(...[...own.values()].flat().map((row) => costOf(row, all))) }));
  if (byCost) lines.sort((a, b) => a.best - b.best);
  const sorted = asked.filter((row) => row.ranked).map((row) => row[all.measure]).sort((a, b) => a - b);
  const shade = (usd) => (sorted[0] === sorted.at(-1) ? 0 : Math.min(STEPS - 1, Math.floor((STEPS * (usd - sorted[0])) / (sorted.at(-1) - sorted[0]))));
  const box = h("table.map", h("caption.hidden", "Cost, and where pods wait"),
    h("thead", h("tr", h("th", { scope: "col" }, down), columns.map((column) => h("th.n", { scope: "col" }, column || "all")))),
    h("tbody", lines.map(({ value, own }) => h("tr", h("th", { scope: "row" }, value || "all"), columns.map((column) => cell(own.get(column) ?? [], all, shade))))));
  roving(box, "td", columns.length);
  return h("section", { id: "map" }, h("h2", all.overTime ? "What it costs in all, and what breaks" : "What it costs per hour, and what breaks"),
    h("p.legend", h("span", h("i.q0"), "cheap"), h("span", h("i.q4"), "dear"), h("span", h("b.bad", "✕"), "not every pod has its place")),
    h("p.note", "A cell of several situations has the cheapest one. Arrow keys go from cell to cell."),
    h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Cost and what breaks" }, box));
}

const costOf = (row, all) => (row.ranked ? row[all.measure] : Infinity);

function cell(rows, all, shade) {
  if (!rows.length) return h("td.n");
  const whole = rows.filter((row) => row.ranked).sort((a, b) => costOf(a, all) - costOf(b, all));
  const broken = rows.filter((row) => !row.whole);
  const best = whole[0];
  const marks = [best ? price(best[all.measure]) : broken.length ? null : "no price", broken.length ? h("b.bad", `${best ? " " : ""}✕${rows.length > 1 ? ` ${broken.length}/${rows.length}` : ` ${told(broken[0])}`}`) : null];
  const found = h(`td.n${best ? `.q${shade(best[all.measure])}` : ".none"}`, { tabindex: -1 }, marks);
  return tip(found, () => [
    all.axes.map((axis) => [...new Set(rows.map((row) => row[axis.name]))]).filter((values) => values.length === 1).map(([value]) => value).join(", ") || counted(rows.length, "situation"),
    ...(best ? [`${price(best[all.measure])}${all.overTime ? ` in ${best.hours.toFixed(1)} h, ${counted(best.disruptions, "disruption")}` : " per hour"}: ${bare(best.sizes) || "no nodes"}`] : []),
    ...(best?.guessed_prices ? [`at prices on spot that are guesses: ${bare(best.guessed_prices)}`] : []),
    ...(best?.supposed_prices ? [best.supposed_prices] : []),
    ...(whole.length > 1 ? [`${price(whole.at(-1)[all.measure])} where it is dearest of ${whole.length}`] : []),
    ...(broken.length ? [`${counted(broken.length, "situation")} without a place for every pod: ${broken[0].error || broken[0].reason || "never at rest"}`] : []),
  ]);
}

const told = (row) => (row.error ? "failed" : row.pending ? `${row.pending} of ${row.pods} pods wait` : row.rejected ? "refused objects" : "never at rest");

/** A value of an axis, in one line unless it is long. */
const axisValue = (text) => (text && text.length <= WHOLE ? h("span.whole", text) : text);

const whyNot = (row) => row.error || row.reason || (row.error === "" && !row.settled ? "never at rest" : "");

function list(asked, all) {
  const order = [...asked].sort((a, b) => costOf(a, all) - costOf(b, all));
  const shown = all.overTime ? ["usd", "disruptions", "machines", "usd_per_hour"] : ["usd_per_hour"];
  const columns = [
    ...all.axes.map((axis) => ({ head: axis.name, cell: (row) => axisValue(String(row[axis.name])) })),
    ...shown.map((name) => ({ head: name.replace(/_/g, " ").replace("usd", "USD"), numeric: true, cell: (row) => (name.startsWith("usd") ? price(row[name]) : row[name]) })),
    { head: "nodes", numeric: true, cell: (row) => row.nodes },
    { head: "pods", numeric: true, cell: (row) => (row.pending ? h("b.bad", `${row.bound} of ${row.pods}`) : row.pods) },
    { head: "sizes", cell: (row) => h("div.room", bare(row.sizes)) },
    ...(asked.some((row) => row.guessed_prices) ? [{ head: "guessed prices", cell: (row) => bare(row.guessed_prices) }] : []),
    ...(asked.some(whyNot) ? [{ head: "why not", cell: whyNot }] : []),
  ];
  const rest = order.slice(ROWS, MOST);
  return h("section", { id: "rows" }, h("h2", "All situations, cheapest first"), table("Situations", columns, order.slice(0, ROWS)),
    rest.length ? folded(`${counted(rest.length, "more row")}${order.length > MOST ? ` of ${order.length - ROWS}: choose above, or read the table` : ""}`, () => table("More situations", columns, rest)) : null);
}
