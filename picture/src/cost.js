// USD per hour over time, on the time axis of the corridor.
import { area, curveStepAfter, line } from "d3-shape";
import { scaleLinear } from "d3-scale";
import { folded, h, put, s, table } from "./dom.js";
import { amount, counted, duration, monthly, price } from "./text.js";
import { axis } from "./view.js";

const HEIGHT = 150;

/** USD per hour of a step; where a machine has no known price the figure is less than what is paid. */
export const usdOf = ([, usd, , unknown]) => (!unknown ? price(usd) : usd ? `at least ${price(usd)}` : "unknown price");

/** USD of a month of such hours; "" where nothing is known of it. */
export const monthOf = ([, usd, , unknown]) => (unknown ? (usd ? `at least ${monthly(usd)}` : "") : monthly(usd));

export function cost(world, own, times) {
  if (!world.cost.length) return null;
  const steps = [[0, 0, 0], ...world.cost, [world.end, ...world.cost.at(-1).slice(1)]];
  const box = h("div.chart");
  const now = h("p", { "aria-live": "polite" });
  const draw = () => {
    put(box, chart(steps, box.clientWidth || 900, own, times));
    const step = at(world.cost, own.at);
    put(now, h("b", `${usdOf(step)} per hour`), ` for ${counted(step[2], "machine")} at ${duration(own.at)}. The most was ${price(Math.max(...steps.map((step) => step[1])))}; ${spentOf(world)} in all over ${duration(world.end)} of virtual time.`);
  };
  own.listen(draw);
  new ResizeObserver(draw).observe(box);
  draw();
  return h("section", { id: "cost" }, h("h2", "Cost"), now, h("p.note", "USD per hour"), box, folded("The same as a table", () => table("Cost over time", [
    { head: "from", numeric: true, cell: (row) => duration(row[0]) },
    { head: "per hour", numeric: true, cell: usdOf },
    { head: "machines", numeric: true, cell: (row) => row[2] },
  ], world.cost)));
}

/** USD in all; the least that it can be where a machine ran without a known price. */
export const spentOf = (world) => `${world.cost.some((step) => step[3]) ? "at least " : ""}${price(world.spent)}`;

/** The step that holds at a time. */
export function at(steps, t) {
  let found = [0, 0, 0];
  for (const step of steps) if (step[0] <= t + 1e-9) found = step;
  return found;
}

function chart(steps, whole, own, times) {
  const left = whole < 560 ? 52 : Math.min(260, whole * 0.27);
  const width = Math.max(60, whole - left - 8);
  const x = own.scale(width);
  const y = scaleLinear([0, Math.max(...steps.map((step) => step[1])) || 1], [HEIGHT - 22, 8]).nice(4);
  const clip = `clip${Math.round(Math.random() * 1e9)}`;
  const plot = s("g", { "clip-path": `url(#${clip})` });
  const inner = s("g", { transform: `translate(${left},0)` }, s("clipPath", { id: clip }, s("rect", { x: -1, y: 0, width: width + 2, height: HEIGHT })), plot);
  for (const value of y.ticks(4)) inner.prepend(s("line.tick", { x1: 0, x2: width, y1: y(value), y2: y(value) }), s("text.axis.end", { x: -6, y: y(value) + 4 }, amount(value)));
  for (const one of axis(own, width, times, duration)) plot.append(s(`text.axis${one.turned ? ".end" : ""}`, { x: one.x, y: HEIGHT - 5 }, one.text));
  plot.append(
    s("path.area", { d: area().curve(curveStepAfter).x((step) => x(step[0])).y0(y(0)).y1((step) => y(step[1]))(steps) }),
    s("path.line", { d: line().curve(curveStepAfter).x((step) => x(step[0])).y((step) => y(step[1]))(steps) }),
    s("line.at", { x1: x(own.at), x2: x(own.at), y1: 0, y2: HEIGHT - 18 }));
  return s("svg", { width: whole, height: HEIGHT, viewBox: `0 0 ${whole} ${HEIGHT}`, role: "img", "aria-label": `Cost over time; the most is ${price(Math.max(...steps.map((step) => step[1])))} per hour` }, inner);
}
