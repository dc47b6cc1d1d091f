// From the sizes that a region sells to the one that was launched: each filter with what it takes away, and where a size went.
import { folded, h, put } from "./dom.js";
import { counted, duration } from "./text.js";

const WORDS = { sold: "sold in the region", offerings: "zones and capacity types that can be had" /* in traces that tell no more */, ordered: "named in the NodeClaim", launched: "launched" };

export function funnel(world) {
  if (!world.funnels.length) return null;
  const box = h("div");
  const choose = h("select", { "aria-label": "Which funnel", onchange: () => draw(world.funnels[choose.value]) },
    world.funnels.map((one, index) => h("option", { value: index }, `${one.nodepool} for ${one.pods[0]?.replace(/^default\//, "") ?? "nobody"}${one.pods.length > 1 ? " and others" : ""} at ${duration(one.t)}${one.last > one.t ? `, last at ${duration(one.last)}` : ""}${one.claim ? ` → ${one.launched || one.claim}` : " → nothing"}`)));
  const draw = (one) => put(box, picture(one, world.sizes[one.sizes], { ...world.filters, ...WORDS }));
  const first = world.funnels.findIndex((one) => one.opens);
  choose.value = Math.max(0, first);
  draw(world.funnels[Math.max(0, first)]);
  return h("section", { id: "sizes" }, h("h2", "Sizes"), h("p.note", "What is left of the sizes after each filter, for a pod and a NodePool. Open a filter to see what it takes away."),
    world.funnels.length > 1 ? h("div.tools", choose) : null, box);
}

/** Every filter with what is left and what it removed, from all that the region sells. */
export function stepsOf(one, sizes) {
  const steps = [{ name: "sold", left: sizes.sold, removed: [] }];
  let left = sizes.sold;
  for (const [filter, names] of Object.entries(sizes.dropped)) steps.push({ name: filter, provider: true, left: (left -= names.length), removed: names });
  for (const step of one.steps) {
    const removed = positions(step.removed).map((position) => sizes.offered[position]);
    if (removed.length || step.filter !== "limits") steps.push({ name: step.filter, left: (left -= removed.length), removed, reasons: reasonsOf(step, sizes) });
  }
  const gone = new Set(steps.flatMap((step) => step.removed));
  let there = sizes.offered.filter((name) => !gone.has(name));
  const keep = (name, kept) => {
    if (kept.length < left) steps.push({ name, left: (left = kept.length), removed: there.filter((one) => !kept.includes(one)), kept });
    there = kept;
  };
  if (one.ordered.length) keep("ordered", one.ordered);
  if (one.launched) keep("launched", [one.launched]);
  return steps;
}

/** Why something cannot be had, with the sizes of which it is said. */
const reasonsOf = (step, sizes) => Object.entries(step.closed ?? {}).map(([text, places]) => ({ text, names: places.map((place) => sizes.offered[place]) }));

/** `0-14,17` as numbers. */
const positions = (text) => (text ? text.split(",").flatMap((part) => {
  const [low, high = low] = part.split("-").map(Number);
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}) : []);

const TAKEN = { ordered: "not named in the NodeClaim: its pods do not fit together, or cheaper ones are enough", launched: "named in the NodeClaim, not launched" };

function picture(one, sizes, words) {
  const steps = stepsOf(one, sizes);
  const rows = steps.map((step) => {
    const bar = h("span.track", { "aria-hidden": "true" }, h("i", { style: { width: `${step.left ? Math.max(0.4, (100 * step.left) / sizes.sold) : 0}%` } }));
    const line = [h("span.name", words[step.name] ?? step.name.replaceAll("-", " "), step.provider ? h("span.note", " provider") : null), bar,
      h("span.n.removed", step.removed.length ? `−${step.removed.length.toLocaleString("en-US")}` : ""), h("span.n.left", step.left.toLocaleString("en-US"))];
    const names = step.kept ?? step.removed;
    const list = (some) => h("p.sizes", some.map((name) => h("code", name.replace("Standard_", ""))));
    return names.length ? folded(line, () => (step.reasons?.length ? step.reasons.map((each) => [h("p", h("b", `${each.text}:`)), list(each.names)]) : list(names)), { name: "details.filter" }) : h("div.filter", line);
  });
  return [
    h("p", h("b", one.nodepool), ` for ${one.pods.join(", ") || "no pod"}: `, steps.map((step) => step.left.toLocaleString("en-US")).filter((text, index, all) => text !== all[index - 1]).join(" → ")),
    one.why ? h("p.bad", `at ${duration(one.said)}: ${one.why}`) : null, h("div.funnel", rows), search(steps, sizes, one, words)];
}

function search(steps, sizes, one, words) {
  const out = h("p", { "aria-live": "polite" });
  const input = h("input", { type: "search", placeholder: "Where did a size go? For example D4s_v5", "aria-label": "Find a size", autocomplete: "off" });
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase().replace("standard_", "");
    if (!wanted) return put(out);
    const found = steps.flatMap((step) => step.removed.filter((name) => name.toLowerCase().includes(wanted)).map((name) => [name, told(step, name, words)]));
    const gone = new Set(steps.flatMap((step) => step.removed));
    for (const name of sizes.offered) if (!gone.has(name) && name.toLowerCase().includes(wanted)) found.push([name, one.launched === name ? "launched" : "left"]);
    found.sort((a, b) => Number(b[0].toLowerCase() === `standard_${wanted}`) - Number(a[0].toLowerCase() === `standard_${wanted}`) || a[0].length - b[0].length);
    return put(out, found.length ? found.slice(0, 12).map(([name, what]) => h("span.line", h("code", name), ` ${what}`)) : "No size that is sold there has this in its name.", found.length > 12 ? h("span.line.note", `and ${found.length - 12} more`) : null);
  });
  return h("div.find", input, out);
}

/** Where a size went, with the reason where it cannot be had. */
function told(step, name, words) {
  if (TAKEN[step.name]) return TAKEN[step.name];
  const reason = step.reasons?.find((each) => each.names.includes(name));
  return reason ? `cannot be had now: ${reason.text}` : `taken away by: ${words[step.name] ?? step.name}`;
}
