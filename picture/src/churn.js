// Cost against churn: each way of running the fleet as a point, and those that nothing beats in both.
import { group, mean } from "d3-array";
import { scaleLinear } from "d3-scale";
import { folded, h, put, s, table } from "./dom.js";
import { roving } from "./roving.js";
import { tip } from "./tip.js";
import { amount, counted, price } from "./text.js";

const HEIGHT = 320;
const SHAPES = ["●", "■", "▲", "◆", "★", "✚"];

/** The ways of running: rows that differ by their seed alone are one, with the mean of both figures. */
export function variants(rows, { axes }) {
  const named = axes.filter((axis) => axis.name !== "seed");
  return [...group(rows.filter((row) => !row.error && row.usd !== null), (row) => JSON.stringify(named.map((axis) => row[axis.name]))).values()].map((own) => ({
    name: named.map((axis) => own[0][axis.name]).join(", ") || "the one situation",
    row: own[0], rows: own, whole: own.every((row) => row.whole),
    usd: mean(own, (row) => row.usd), disruptions: mean(own, (row) => row.disruptions), machines: mean(own, (row) => row.machines),
  }));
}

/** Those that no other beats in both cost and disruptions, cheapest first. */
export function front(all) {
  const found = [];
  for (const one of all.filter((each) => each.whole).sort((a, b) => a.usd - b.usd || a.disruptions - b.disruptions)) {
    if (!found.length || one.disruptions < found.at(-1).disruptions - 1e-9) found.push(one);
  }
  return found;
}

export function churn(rows, all) {
  const points = variants(rows, all).sort((a, b) => a.usd - b.usd);
  const best = front(points);
  const marked = all.axes.filter((axis) => axis.name !== "seed" && axis.values.length <= SHAPES.length).sort((a, b) => b.values.length - a.values.length)[0];
  const box = h("div.chart");
  let drawn = 0;
  const draw = () => {
    const width = box.clientWidth || 900;
    if (width === drawn) return;
    drawn = width;
    put(box, chart(points, best, marked, width));
    roving(box, ".point", 1);
  };
  new ResizeObserver(draw).observe(box);
  draw();
  const columns = [
    { head: "", cell: (one) => (best.includes(one) ? h("b", "✓") : "") },
    { head: "which", cell: (one) => one.name },
    { head: "cost in all", numeric: true, cell: (one) => price(one.usd) },
    { head: "disruptions", numeric: true, cell: (one) => round(one.disruptions) },
    { head: "machines", numeric: true, cell: (one) => round(one.machines) },
    { head: "every pod placed", cell: (one) => (one.whole ? "yes" : h("b.bad", "no")) },
  ];
  return h("section", { id: "churn" }, h("h2", "Cost against churn"),
    h("p", "Left is cheaper, low is calmer. The line joins what nothing beats in both."),
    h("p.legend", marked ? marked.values.map((value, index) => h("span", h(`b.shape${index}`, SHAPES[index]), value || "(empty)")) : null, h("span", h("b.bad", "✕"), "not every pod has its place")),
    box, folded("The same as a table", () => table("Cost against churn", columns, points.slice(0, 500)), { open: points.length <= 12 }));
}

const round = (value) => Math.round(value * 10) / 10;

function chart(points, best, marked, whole) {
  const left = 44;
  const width = Math.max(120, whole - left - 26);
  const ends = (of) => {
    const all = points.map(of);
    const gap = (Math.max(...all) - Math.min(...all)) * 0.08 || Math.max(...all) * 0.05 || 1;
    return [Math.max(0, Math.min(...all) - gap), Math.max(...all) + gap];
  };
  const x = scaleLinear(ends((one) => one.usd), [0, width]).nice(5);
  const y = scaleLinear(ends((one) => one.disruptions), [HEIGHT - 40, 12]).nice(5);
  const inner = s("g", { transform: `translate(${left},0)` });
  for (const value of y.ticks(5)) inner.append(s("line.tick", { x1: 0, x2: width, y1: y(value), y2: y(value) }), s("text.axis.end", { x: -6, y: y(value) + 4 }, round(value)));
  for (const value of x.ticks(Math.max(2, Math.floor(width / 110)))) inner.append(s("line.tick", { x1: x(value), x2: x(value), y1: 12, y2: HEIGHT - 40 }), s("text.axis.mid", { x: x(value), y: HEIGHT - 24 }, amount(value)));
  inner.append(s("text.axis.end", { x: width, y: HEIGHT - 6 }, "USD in all →"), s("text.axis", { x: 4, y: 10 }, "↑ disruptions"));
  if (best.length > 1) inner.append(s("path.front", { d: best.map((one, index) => (index ? `H${x(one.usd)}V${y(one.disruptions)}` : `M${x(one.usd)},${y(one.disruptions)}`)).join("") }));
  for (const one of points) inner.append(point(one, x, y, marked));
  for (const one of best.slice(0, 8)) {
    const right = x(one.usd) > width * 0.6;
    const alike = points.filter((other) => other !== one && x(other.usd) === x(one.usd) && y(other.disruptions) === y(one.disruptions)).length;
    const name = `${one.name.length > 34 ? `${one.name.slice(0, 32)}…` : one.name}${alike ? ` and ${alike} more` : ""}`;
    inner.append(s(`text.named${right ? ".end" : ""}`, { x: x(one.usd) + (right ? -9 : 9), y: y(one.disruptions) - 7 }, name));
  }
  return s("svg", { width: whole, height: HEIGHT, viewBox: `0 0 ${whole} ${HEIGHT}`, role: "group", "aria-label": `Cost against churn of ${counted(points.length, "way")} of running the fleet; arrow keys go from the cheapest on` }, inner);
}

function point(one, x, y, marked) {
  const index = marked ? marked.values.indexOf(one.row[marked.name]) : 0;
  const said = [one.name, `${price(one.usd)} in all, ${counted(round(one.disruptions), "disruption")}, ${counted(round(one.machines), "machine")}${one.rows.length > 1 ? `; mean of ${one.rows.length} seeds` : ""}`];
  const waits = one.rows.find((row) => !row.whole);
  if (waits) said.push(waits.reason || "not every pod has its place");
  const mark = s(`text.point.${one.whole ? `shape${Math.max(0, index)}` : "bad"}`, { x: x(one.usd), y: y(one.disruptions) + 5, tabindex: -1, role: "img", "aria-label": said.join(": ") }, one.whole ? SHAPES[Math.max(0, index)] : "✕");
  return tip(mark, () => said);
}
