// The questions that a sweep is made for, answered in a sentence each.
import { group } from "d3-array";
import { front, variants } from "./churn.js";
import { h } from "./dom.js";
import { bare, counted, price } from "./text.js";

const FEW = 4; // values, and reasons, that are named

export function answers(all) {
  const cards = [cheapest(all), prices(all), breaks(all), ...changes(all), all.overTime ? churned(all) : null].filter(Boolean);
  return h("div.answers", cards.map(([kind, title, ...lines]) => h(`section.answer.${kind}`, h("h2.said", title), lines.map((line) => h("p.said", line)))));
}

const where = (row, axes) => axes.map((axis) => `${axis.name} ${row[axis.name] || "(empty)"}`).join(", ") || "the one situation";

function cheapest({ rows, axes, measure, overTime }) {
  const whole = rows.filter((row) => row.ranked).sort((a, b) => a[measure] - b[measure]);
  const unknown = rows.filter((row) => row.whole && !row.ranked);
  if (!whole.length) return ["bad", unknown.length ? "No price is known of the sizes, wherever every pod has its place" : "Nowhere does every pod have its place"];
  const [best] = whole;
  const last = whole.at(-1);
  const same = whole.filter((row) => row[measure] === best[measure]);
  const free = axes.filter((axis) => new Set(same.map((row) => row[axis.name])).size > 1);
  const fixed = axes.filter((axis) => !free.includes(axis));
  return ["good", `Cheapest: ${fixed.length ? where(best, fixed) : counted(same.length, "situation")}`,
    `${price(best[measure])} ${overTime ? `in ${best.hours.toFixed(1)} h` : "per hour"}, ${counted(best.nodes, "node")}: ${bare(best.sizes) || "none"}`,
    free.length && same.length > 1 ? `The same at ${free.map((axis) => some([...new Set(same.map((row) => row[axis.name]))], axis)).join("; ")}` : null,
    unknown.length ? `Left out: ${counted(unknown.length, "situation")} with a size of which no price is known (${bare(unknown[0].sizes)})` : null,
    last[measure] > best[measure] ? `Dearest: ${price(last[measure])}, ${dearer(last[measure] / (best[measure] || 1))} (${where(last, axes)})` : null];
}

/** Which prices are no record: supposed ones, and guesses. */
function prices({ rows }) {
  const ran = rows.filter((row) => !row.error);
  const guessed = ran.filter((row) => row.guessed_prices);
  const sizes = [...new Set(guessed.flatMap((row) => bare(row.guessed_prices).split(", ")))].sort();
  const supposed = [...group(ran.filter((row) => row.supposed_prices), (row) => row.supposed_prices)]
    .map(([text, own]) => (own.length === ran.length ? text : `${text}, in ${own.length} of ${ran.length}`));
  if (!guessed.length && !supposed.length) return null;
  const title = guessed.length ? `${guessed.length} of ${counted(ran.length, "situation")} at prices on spot that are guesses` : "Prices on spot are supposed";
  return ["warn", title, guessed.length ? `Guessed: ${sizes.slice(0, FEW).join(", ")}${sizes.length > FEW ? ` and ${sizes.length - FEW} more` : ""}` : null, ...supposed.slice(0, FEW)];
}

const dearer = (times) => (times < 2 ? `${((times - 1) * 100).toFixed(times < 1.1 ? 1 : 0)} % more` : `${times.toFixed(1)} times as much`);

/** Some values of an axis: all of them, a few by name, or how many. */
function some(values, axis) {
  if (values.length === axis.values.length) return `every ${axis.name}`;
  return `${axis.name} ${values.length <= FEW ? values.join(", ") : `${values.slice(0, FEW - 1).join(", ")} and ${values.length - FEW + 1} more`}`;
}

function breaks({ rows, axes }) {
  const broken = rows.filter((row) => !row.whole);
  if (!broken.length) return ["good", "Nothing breaks", `Every pod has its place in ${rows.length === 1 ? "it" : `all ${counted(rows.length, "situation")}`}.`];
  const reasons = [...group(broken, (row) => (row.error ? `failed: ${row.error}` : row.reason || "never at rest"))].sort((a, b) => b[1].length - a[1].length);
  return ["bad", `Not every pod has its place in ${broken.length} of ${counted(rows.length, "situation")}`,
    ...reasons.slice(0, FEW).map(([reason, own]) => h("div.item", h("b", `${own.length}: `), at(own, rows, axes), h("p.note", reason))),
    reasons.length > FEW ? `and ${counted(reasons.length - FEW, "more reason")}` : null];
}

/** Where some rows are: the values that all of them share, by axis. */
function at(own, rows, axes) {
  const parts = axes.map((axis) => [axis, [...new Set(own.map((row) => row[axis.name]))]]).filter(([axis, values]) => values.length < axis.values.length);
  const text = parts.map(([axis, values]) => some(values, axis)).join("; ");
  return text || "everywhere";
}

/** For each axis: at which values workloads get other sizes, all else alike: than at the release before, or than at the first value. */
function changes({ rows, axes }) {
  return axes.filter((axis) => axis.name !== "seed").map((axis) => {
    const others = axes.filter((one) => one !== axis);
    const alike = [...group(rows.filter((row) => !row.error), (row) => JSON.stringify(others.map((one) => row[one.name]))).values()].map((own) => new Map(own.map((row) => [row[axis.name], row.placement])));
    const found = axis.values.slice(1).map((value, index) => {
      const before = axis.values[axis.name === "karpenter" ? index : 0];
      const pairs = alike.filter((one) => one.has(before) && one.has(value));
      return { value, before, of: pairs.length, changed: pairs.filter((one) => one.get(before) !== one.get(value)).length };
    }).filter((one) => one.changed);
    if (!found.length) return ["good", `${axis.name}: no value changes where pods go`, `Workloads get the same sizes at all ${axis.values.length} values.`];
    const most = [...found].sort((a, b) => b.changed / b.of - a.changed / a.of);
    return ["warn", `${axis.name}: ${found.length} of ${counted(axis.values.length, "value")} ${found.length === 1 ? "changes" : "change"} where pods go`,
      ...most.slice(0, FEW).map((one) => h("div.item", h("b", one.value), ` in ${one.changed} of ${one.of}, against ${one.before}`)),
      most.length > FEW ? `and ${most.length - FEW} more` : null];
  });
}

function churned(all) {
  const best = front(variants(all.rows, all));
  if (!best.length) return null;
  return ["good", "Cost against churn: nothing is both cheaper and calmer than these",
    ...best.slice(0, FEW + 2).map((one) => h("div.item", h("b", one.name), ` ${price(one.usd)}, ${counted(round(one.disruptions), "disruption")}`)),
    best.length > FEW + 2 ? `and ${best.length - FEW - 2} more` : null];
}

const round = (value) => Math.round(value * 10) / 10;
