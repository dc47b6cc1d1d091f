// From the sizes that a region sells to the one that was launched: each filter with what it takes away, and where a size went.
import { folded, h, put } from "./dom.js";
import { duration, short } from "./text.js";

const WORDS = { sold: "sold in the region", offerings: "zones and capacity types that can be had" /* in traces that tell no more */, ordered: "named in the NodeClaim", launched: "launched", provider: "what Karpenter's Azure provider leaves out" };

export function funnel(world) {
  if (!world.asked.length || !Object.keys(world.funnels).length) return null;
  const box = h("div");
  const [group, number] = world.opens;
  const state = { group, number };
  const draw = () => {
    const one = world.asked[state.group];
    put(box, h("div.tools", world.asked.length > 1 ? h("label", "For ", select("Which pods", world.asked.map(named), state.group, (value) => { state.group = value; state.number = lookedLast(world.asked[value].tries); })) : null,
      one.tries.length > 1 ? h("label", "Karpenter tried ", select("Which try", one.tries.map((tried) => option(tried, world)), state.number, (value) => { state.number = value; })) : null),
    picture(one, one.tries[state.number], world));
  };
  const select = (label, options, chosen, change) => {
    const list = h("select", { "aria-label": label, onchange: () => { change(Number(list.value)); draw(); box.querySelector(`[aria-label="${label}"]`)?.focus(); } }, options.map((text, index) => h("option", { value: index }, text)));
    list.value = chosen;
    return list;
  };
  draw();
  return h("section", { id: "sizes" }, h("h2", "Sizes"), h("p.note", "What is left of the sizes after each filter, for pods and a NodePool that Karpenter tried for them. Open a filter to see what it takes away."), box);
}

const named = (one) => `${/^[A-Z]\w*\//.test(one.name) ? short(one.name) : one.name}${one.count > 1 ? ` ×${one.count}` : ""}${one.waits ? " (waits)" : ""}`;

/** The last try that looked at sizes. */
const lookedLast = (tries) => Math.max(0, tries.findLastIndex((one) => one.funnel !== null));

function option(tried, world) {
  const came = tried.claim ? world.claims[tried.claim]?.launched || tried.claim : tried.funnel === null && !tried.nodepool ? tried.why : "nothing";
  return `${tried.nodepool ? `NodePool ${tried.nodepool} ` : ""}at ${duration(tried.t)}${tried.last > tried.t ? `, last at ${duration(tried.last)}` : ""} → ${came.length > 60 ? `${came.slice(0, 58)}…` : came}`;
}

/** Every filter with what is left and what it removed, from all that the region sells. */
export function stepsOf(one, sizes, claim = {}) {
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
  if (claim.ordered?.length) keep("ordered", claim.ordered);
  if (claim.launched) keep("launched", [claim.launched]);
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

function picture(group, tried, world) {
  const whom = h("p", tried.nodepool ? [h("b", `NodePool ${tried.nodepool}`), " "] : null, `for ${named(group)}`);
  const why = tried.why ? h("p.bad", `at ${duration(tried.last)}: ${tried.why}`) : null;
  if (tried.funnel === null) return [whom, why, h("p.note", "No size was looked at.")];
  if (tried.unlooked) return [whom, why, h("p.note", "No size was looked at for this: the NodePool itself does not suit. What the filters would leave of its sizes plays no part.")];
  const one = world.funnels[tried.funnel];
  const sizes = world.sizes[one.sizes];
  const words = { ...world.filters, ...WORDS };
  const claim = world.claims[tried.claim] ?? {};
  const steps = stepsOf(one, sizes, claim);
  const own = steps.filter((step) => step.provider);
  const rest = steps.filter((step) => !step.provider && step.name !== "sold" && (step.left || step.removed.length)); // nothing is taken from nothing
  const row = (step) => filter(step, sizes, words);
  const sum = { name: "provider", left: own.at(-1)?.left, removed: own.flatMap((step) => step.removed) };
  whom.append(": ", steps.filter((step) => !step.provider || step === own.at(-1)).map((step) => step.left.toLocaleString("en-US")).filter((text, index, all) => text !== all[index - 1]).join(" → "));
  return [whom, why, h("div.funnel", row(steps[0]), own.length ? folded(line(sum, sizes, words), () => h("div.inner", own.map(row)), { name: "details.filter" }) : null, rest.map(row)), search(steps, sizes, claim, words)];
}

function line(step, sizes, words) {
  const bar = h("span.track", { "aria-hidden": "true" }, h("i", { style: { width: `${step.left ? Math.max(0.4, (100 * step.left) / sizes.sold) : 0}%` } }));
  return [h("span.name", words[step.name] ?? step.name.replaceAll("-", " ")), bar,
    h("span.n.removed", step.removed.length ? `−${step.removed.length.toLocaleString("en-US")}` : ""), h("span.n.left", step.left.toLocaleString("en-US"))];
}

/** A filter as a line that opens to the sizes that it takes away. */
function filter(step, sizes, words) {
  const names = step.removed;
  const list = (some) => h("p.sizes", some.map((name) => h("code", name.replace("Standard_", ""))));
  return names.length ? folded(line(step, sizes, words), () => (step.kept ? [h("p", h("b", "Taken away:")), list(names), h("p", h("b", "Left:")), list(step.kept)] : step.reasons?.length ? step.reasons.map((each) => [h("p", h("b", `${each.text}:`)), list(each.names)]) : list(names)), { name: "details.filter" }) : h("div.filter", line(step, sizes, words));
}

function search(steps, sizes, claim, words) {
  const out = h("p", { "aria-live": "polite" });
  const input = h("input", { type: "search", placeholder: "Where did a size go? For example D4s_v5", "aria-label": "Find a size", autocomplete: "off" });
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase().replace("standard_", "");
    if (!wanted) return put(out);
    const found = steps.flatMap((step) => step.removed.filter((name) => name.toLowerCase().includes(wanted)).map((name) => [name, told(step, name, words)]));
    const gone = new Set(steps.flatMap((step) => step.removed));
    for (const name of sizes.offered) if (!gone.has(name) && name.toLowerCase().includes(wanted)) found.push([name, claim.launched === name ? "launched" : "left"]);
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
