// Nodes as bars at one moment: what they hold, what they cost, what is new, gone, empty or kept; before and after are two moments.
import { folded, h, put } from "./dom.js";
import { at as costAt, usdOf } from "./cost.js";
import { agentPool, bytes, cores, counted, duration, price, shorter, zoneName } from "./text.js";
import { tip } from "./tip.js";

const CARDS = 12; // at once; where there are more, those that are alike are one card
const BARS = [["cpu", "cpu", cores], ["memory", "memory", bytes], ["pods", "pods", String], ["nvidia.com/gpu", "GPU", String]];

/** What holds at a time of a list of [t, ...]. */
const last = (list, t) => {
  let found;
  for (const one of list) if (one[0] <= t + 1e-9) found = one;
  return found;
};

const priceAt = (machine, t) => last(machine.prices, t) ?? machine.prices[0];

/** Whether the price of a spot machine is that of one on demand, for no spot price is known. */
export const asOnDemand = (machine, t) => priceAt(machine, t)?.[2] === true;

/** A machine as it is at a time, or null where it is not there. */
export function stateAt(machine, t) {
  const state = last(machine.states, t)?.[1];
  const is = state !== undefined && state !== "deleted";
  const on = machine.power.length ? last(machine.power, t)?.[1] === true : is;
  if (!is && !on) return null;
  const usage = is ? last(machine.usage, t) : undefined;
  const since = machine.claim ? machine.initialized ?? Infinity : 0; // Karpenter initializes only its own
  const priced = priceAt(machine, t)?.[1] ?? null;
  return {
    state: is ? (on ? (state === "created" ? "booting" : state) : "without its machine") : "booting",
    on, dark: is && !on, registered: !machine.claim || t + 1e-9 >= (machine.registered ?? Infinity), dear: on && asOnDemand(machine, t), price: on ? priced : 0, pods: usage?.[1] ?? [], requests: usage?.[2] ?? {}, allocatable: usage?.[3] ?? {},
    initialized: is && t + 1e-9 >= since,
    note: last(machine.notes.filter(([at, kind]) => kind !== "blocked" || at >= since), t),
  };
}

export function machines(world, own) {
  const stops = stopsOf(world);
  let index = stops.length - 1;
  let many = CARDS / 2; // of cards of many
  const grid = h("div.cards");
  const workload = workloadsOf(world);
  const head = h("p.moment", { "aria-live": "polite" });
  const total = h("p.total");
  const slider = h("input", { type: "range", min: 0, max: stops.length - 1, step: 1, value: index, "aria-label": "Moment" });
  const go = (to) => own.change({ at: stops[Math.max(0, Math.min(stops.length - 1, to))].t });
  slider.addEventListener("input", () => go(Number(slider.value)));
  const draw = () => {
    index = Math.max(0, stops.findLastIndex((stop) => stop.t <= own.at + 1e-9));
    slider.value = index;
    const before = index ? stops[index - 1] : null;
    put(head, h("b", duration(stops[index].t)), " ", stops[index].texts.map((one) => h(`span.what.${one.kind}`, one.text)));
    slider.setAttribute("aria-valuetext", `${duration(stops[index].t)} ${stops[index].texts.map((one) => one.text).join("; ")}`);
    cards(world, grid, total, stops[index].t, before?.t, many, () => { many += MORE; draw(); }, workload);
  };
  own.listen(draw);
  draw();
  return h("section", { id: "nodes" }, h("h2", "Nodes"),
    h("p.note", "At one moment, beside the moment before: dashed is gone since, a bold frame is new. Arrow keys on the slider go from moment to moment."),
    h("div.tools", h("button", { type: "button", onclick: () => go(index - 1), "aria-label": "moment before" }, "◀"), slider, h("button", { type: "button", onclick: () => go(index + 1), "aria-label": "next moment" }, "▶")),
    head, total, grid);
}

/** The moments by time, with what happens at each; the end is one, too. */
function stopsOf(world) {
  const stops = new Map([[0, []]]);
  for (const one of world.moments) {
    if (!stops.has(one.t)) stops.set(one.t, []);
    stops.get(one.t).push(one);
  }
  for (const machine of world.machines) for (const [t] of machine.usage) if (!stops.has(t)) stops.set(t, [{ kind: "pods", text: "pods move" }]);
  for (const [t] of world.cost) if (!stops.has(t)) stops.set(t, [{ kind: "power", text: "machines gain or lose power" }]);
  if (!stops.has(world.end)) stops.set(world.end, []);
  stops.get(world.end).push({ kind: "end", text: "the end" });
  if (!stops.get(0).length) stops.get(0).push({ kind: "step", text: "the start" });
  return [...stops].sort((a, b) => a[0] - b[0]).map(([t, texts]) => ({ t, texts }));
}

function cards(world, grid, total, t, before, many, more, workload) {
  const all = world.machines.map((machine) => ({ machine, now: stateAt(machine, t), was: before === undefined ? null : stateAt(machine, before) })).filter((one) => one.now || one.was)
    .sort((a, b) => a.machine.nodepool.localeCompare(b.machine.nodepool) || a.machine.name.localeCompare(b.machine.name));
  const there = all.filter((one) => one.now);
  const step = costAt(world.cost, t);
  const usd = step[1];
  const past = before === undefined ? step : costAt(world.cost, before);
  const waiting = world.lanes.filter((lane) => lane.kind === "pod" && lane.parts.some(([what, from, to]) => what === "pending" && from <= t && (to > t || to === world.end))).reduce((sum, lane) => sum + lane.pods.length, 0);
  put(total, h("b.usd", { "data-usd": usd }, `${usdOf(step)} per hour`), usdOf(past) !== usdOf(step) ? ` (was ${usdOf(past)})` : "", ` · ${counted(there.length, "node")}`, ` · ${counted(there.reduce((sum, one) => sum + one.now.pods.length, 0), "pod")} on them`, waiting ? [" · ", h("b.bad", `${counted(waiting, "pod")} waiting`)] : "");
  const groups = all.length > CARDS ? [...Map.groupBy(all, (one) => look(one, workload)).values()] : all.map((one) => [one]);
  put(grid, groups.slice(0, all.length > CARDS ? many : CARDS).map((some) => card(some, world, workload)), all.length ? null : h("p.note", "No node is there at this moment."),
    all.length > CARDS && groups.length > many ? h("button.more", { type: "button", onclick: more }, `${groups.slice(many).flat().length} more`) : null);
}

const MORE = 48; // cards that a click on "more" adds
const kindOf = ({ now, was }) => (!now ? "gone" : was ? "same" : "new");

/** What a card shows but its name and zone. */
function look(one, workload) {
  const shown = one.now ?? one.was;
  const { nodepool, size, capacity_type: type } = one.machine;
  return JSON.stringify([kindOf(one), nodepool, size, type, shown.state, shown.on, shown.price, shown.initialized, shown.note && common(shown.note[2]), shown.requests, [...Map.groupBy(shown.pods, workload)].map(([name, pods]) => [name, pods.length])]);
}

/** A note as it is on every card of a group: without since when, and for which pods. */
const common = (text) => text.replace(/, since .*$/s, "");

/** A card of machines that look alike, mostly one. */
function card(some, world, workload) {
  const { machine, now, was } = some[0];
  const shown = now ?? was;
  const kind = kindOf(some[0]);
  const count = some.length > 1 ? ` ×${some.length}` : "";
  const zones = [...Map.groupBy(some, (one) => zoneName(one.machine.zone))].map(([zone, all]) => (zone && count ? `${zone} ×${all.length}` : zone)).filter(Boolean).join(", ");
  const spot = machine.capacity_type === "spot";
  return h(`article.card.${kind}${now?.dark ? ".dark" : ""}`, { "data-node": machine.name, "data-usd": now ? (now.price ?? 0) * some.length : 0 },
    h("header", h("h3", machine.size.replace("Standard_", "") || machine.name, count, " ", spot ? h("span.badge.spot", "spot") : null, kind === "same" ? null : h(`span.badge.${kind}`, kind)),
      h("span.usd", price(now && !now.on ? 0 : shown.price), count ? h("span.note", " each") : null)),
    shown.dear ? h("p.note", "on-demand price; no spot price known") : null,
    h("p.place", count ? `${some.length} nodes` : machine.name, zones ? ` · ${zones}` : "", machine.nodepool ? (shown.registered ? ` · ${machine.nodepool}` : ` · NodePool ${machine.nodepool}, not registered yet`) : ` · ${agentPool(machine.name) || "not Karpenter's"}`),
    bars(shown, world),
    podList(shown, was && now ? was : null, workload),
    reason(now, was, count ? common : (text) => text),
    count ? folded("each of them", () => h("p.pods", some.map((one) => h("span.line.place", one.machine.name, one.machine.zone ? ` · ${zoneName(one.machine.zone)}` : "")))) : null);
}

function bars(shown, world) {
  return BARS.filter(([name]) => shown.allocatable[name]).map(([name, word, write]) => {
    const room = shown.allocatable[name];
    const used = shown.requests[name] ?? 0;
    const parts = name === "pods" ? [[used, `${used} pods`]] : shown.pods.map((pod) => [world.requests[pod]?.[name] ?? 0, `${shorter(pod)}: ${write(world.requests[pod]?.[name] ?? 0)}`]).filter(([amount]) => amount > 0);
    const track = h("span.track", { role: "img", "aria-label": `${word} ${write(used)} of ${write(room)}` },
      parts.slice(0, 120).map(([amount, text]) => tip(h("i", { style: { width: `${Math.min(100, (100 * amount) / room)}%` } }), () => [text])));
    return h(`div.bar${used > room ? ".over" : ""}`, h("span.word", word), track, h("span.n", `${write(used)} / ${write(room)}`));
  });
}

const HASH = "[bcdfghjklmnpqrstvwxz2456789]{7,10}"; // of a pod's template, in a ReplicaSet's name (k8s.io/apimachinery/pkg/util/rand, SafeEncodeString)
const OF_DEPLOYMENT = new RegExp(`^ReplicaSet/(.+)-${HASH}$`);
const LIKE_ONE = new RegExp(`^(.+)-${HASH}-[a-z0-9]{5}$`);

/** The workload that made a pod, `Kind/name`. Dumps mostly lack Deployments, and mostly what made a pod; names tell of it then. */
function madeBy(owner, pod) {
  const [, deployment] = (owner ? OF_DEPLOYMENT.exec(owner) : LIKE_ONE.exec(shorter(pod))) ?? [];
  return deployment ? `Deployment/${deployment}` : owner || `Pod/${shorter(pod)}`;
}

/** The workload of each pod, with its kind where one of another kind has the same name; a pod of none is its own. */
function workloadsOf(world) {
  const workloads = new Map(world.lanes.flatMap((lane) => (lane.kind === "pod" ? lane.pods.map((pod) => [pod, madeBy(lane.owner, pod)]) : [])));
  const bare = (workload) => workload.slice(workload.indexOf("/") + 1);
  const alike = Map.groupBy(new Set(workloads.values()), bare);
  return (pod) => {
    const workload = workloads.get(pod) ?? madeBy("", pod);
    return alike.get(bare(workload))?.length > 1 ? workload : bare(workload);
  };
}

function podList(shown, was, workload) {
  if (!shown.pods.length) return null;
  const before = new Set(was?.pods ?? []);
  const all = [...Map.groupBy(shown.pods, workload)];
  return h("p.pods", all.slice(0, 6).map(([name, pods]) => h(`span.pod${was && pods.some((pod) => !before.has(pod)) ? ".new" : ""}`, { title: pods.slice(0, 20).map(shorter).join(", ") }, name, pods.length > 1 ? ` ×${pods.length}` : "")), all.length > 6 ? ` +${all.length - 6}` : "");
}

/** Why it is as it is: on its way, empty, kept, or about to leave. */
function reason(now, was, words) {
  if (!now) return h("p.why.gone", was.note && was.note[1] !== "blocked" ? `gone: ${words(was.note[2])}` : "gone");
  const lines = [];
  if (now.state !== "ready") lines.push(h("span", now.state));
  else if (!now.initialized) lines.push(h("span", "not initialized yet"));
  if (now.initialized && !now.pods.length) lines.push(h("span.empty", "empty"));
  if (now.note && now.note[1] !== "blocked") lines.push(h("b", words(now.note[2])));
  else if (now.note && now.initialized) lines.push(h("span", `kept at ${duration(now.note[0])}: ${words(now.note[2])}`));
  return lines.length ? h("p.why", lines.flatMap((one, index) => (index ? [" · ", one] : [one]))) : null;
}
