// The questions that one comes with, answered first: what waits and why, what Azure refused, what it costs, what left.
import { monthOf, spentOf, usdOf } from "./cost.js";
import { folded, h, table } from "./dom.js";
import { asOnDemand, stateAt } from "./machines.js";
import { counted, duration, place, price } from "./text.js";

export function answers(world) {
  return h("section.answers", { id: "short", "aria-label": "In short" }, [rejected(world), runaways(world), waiting(world), refused(world), taken(world), costs(world), left(world)].filter(Boolean));
}

const REFUSALS = 3; // with their words, of many shown at once; the others are folded
const FEW = 6; // which are not many
const REASONS = 3; // told whole; of more the others are a line each, which opens
const CLAIMS = 4; // of equal refusals, with their names
const NAMED = 3; // Nodes that go at a time, by their names
const LINES = 3; // of these, shown at once
const link = (object, text) => h("a", { href: `#object=${encodeURIComponent(object)}` }, text);

function waiting(world) {
  const pods = world.lanes.filter((lane) => lane.kind === "pod").reduce((sum, lane) => sum + lane.pods.length, 0);
  if (!world.pending.length) return pods ? h("div.answer.good", h("h3", "Pods"), h("p", "No pod waits at the end.")) : null;
  const count = world.pending.reduce((sum, one) => sum + one.count, 0);
  const all = world.pending;
  const whole = all.length <= REASONS ? all : all.slice(0, 2);
  const rest = all.slice(whole.length);
  const line = (one) => folded([h("b", told(one)), " ", h("span.note", cut(one.advice?.[0] ?? one.why ?? one.scheduler))], () => reasonOf(one));
  return h(`div.answer.bad${all.length > 1 ? ".wide" : ""}`, h("h3", `${counted(count, "pod")} waiting`), h("div.items", whole.map(reasonOf)), rest.slice(0, LINES).map(line),
    rest.length > LINES ? folded(counted(rest.length - LINES, "more reason"), () => rest.slice(LINES).map(line)) : null);
}

/** What was repeated without end, until the run was stopped. */
function runaways(world) {
  if (!world.runaways.length) return null;
  return h("div.answer.bad.wide", h("h3", world.runaways.length === 1 ? "A runaway: the same again and again" : `${world.runaways.length} runaways: the same again and again`), world.runaways.map((one) => h("div.item",
    h("p", h("b", one.subject), h("span.note", ` ${counted(one.count, "loop")}, then the run was stopped`)),
    one.course ? h("p.said", `Again and again: ${one.course}; nothing ends it but a change of the objects or of Azure.`) : null,
    h("ul", one.loops.map((text) => h("li.said", text))),
    one.fault ? h("p.said", "Label at fault: ", h("code", one.fault)) : null)));
}

const told = (one) => `${one.pods[0]}${one.count > 1 ? ` and ${one.count - 1} more` : ""}`;
const cut = (text) => (text.length > 110 ? `${text.slice(0, 108)}…` : text);

function reasonOf(one) {
  const each = one.tried.length > 1 ? one.tried.filter((tried) => tried.why) : []; // Karpenter joins these to one sentence
  return h("div.item",
    h("p", h("b", told(one)), h("span.place", ` since ${duration(one.since)} ${place(one.place)}`)),
    one.why && !each.length ? h("p.said", h("span.note", "Karpenter: "), one.why) : null,
    each.length ? [h("p.said", h("span.note", "Karpenter, of each NodePool:")), h("ul", each.slice(0, 6).map((tried) => h("li.said", h("b", tried.nodepool), ` ${tried.why}`)), each.length > 6 ? h("li.note", `and ${each.length - 6} more`) : null)] : null,
    one.tries || one.target ? h("p.said", h("span.note", "Karpenter: "), one.tries || `has a place for ${one.count > 1 ? "them" : "it"} on ${one.target}`) : null,
    (one.closed ?? []).map((text) => h("p.said", text)),
    one.causes?.length ? h("p.said.causes", one.causes.join("\n")) : null,
    one.scheduler ? h("p.said", h("span.note", "kube-scheduler: "), one.scheduler) : null,
    (one.advice ?? []).slice(0, 4).map((text) => h("p.said.advice", text)));
}

function refused(world) {
  if (!world.refusals.length) return null;
  const codes = Map.groupBy(world.refusals, (one) => one.error || String(one.status));
  return h("div.answer.warn", h("h3", `Azure refused ${counted(world.refusals.length, "request")}`), [...codes].map(([code, all]) => {
    const what = [...new Set(all.map(offer).filter(Boolean))];
    return h("p.said", h("b", code), ` ×${all.length}`, what.length ? ` ${what.slice(0, 4).join("; ")}${what.length > 4 ? ` and ${what.length - 4} more` : ""}` : "");
  }), h("p", h("a", { href: "#refusals" }, "each with its words")));
}

const offer = (one) => [one.size?.replace("Standard_", ""), { Regular: "on-demand", Spot: "spot" }[one.priority] ?? one.priority, one.size ? (one.zone ? `in ${one.zone}` : "without a zone") : null].filter(Boolean).join(" ");

/** Machines that Azure took away while they ran. */
function taken(world) {
  if (!world.taken.length) return null;
  return h("div.answer.bad", h("h3", `Azure took ${counted(world.taken.length, "machine")}`), world.taken.slice(0, 6).map((one) =>
    h("p", h("b", duration(one.t)), ` ${offer({ ...one, priority: one.capacity_type })}`, h("span.place.line", one.claim || one.vm))),
  world.taken.length > 6 ? h("p.note", `and ${world.taken.length - 6} more, marked in the corridor`) : null);
}

function costs(world) {
  if (!world.cost.length) return null;
  const last = world.cost.at(-1);
  const dear = world.machines.filter((one) => stateAt(one, world.end)?.on && asOnDemand(one, world.end)).length;
  return h("div.answer", h("h3", `${usdOf(last)} per hour at the end`), monthOf(last) ? h("p", monthOf(last)) : null, h("p", `${counted(last[2], "machine")}; ${spentOf(world)} over ${duration(world.end)}`),
    world.without_power ? h("p.note", `${counted(world.without_power, "more machine")} asked for, without power yet: not in this price`) : null,
    dear ? h("p.note", `upper bound: ${counted(dear, "spot machine")} at on-demand price`) : null,
    world.unpriced.map((text) => h("p.note", text)));
}

function left(world) {
  if (!world.disruptions.length) return null;
  const kinds = world.departures.map(({ what, count, savings, notes }) => h("div.item",
    h("p", h("b", what), ` ×${count}`, savings ? `, ${savings < 0 ? "costs" : "saves"} ${price(Math.abs(savings))} per hour` : ""), notes.map((text) => h("p.note", text))));
  return h(`div.answer${kinds.length > 1 ? ".wide" : ""}`, h("h3", `${counted(world.disruptions.length, "decision")} to remove nodes`), ends(world.disruptions.filter((one) => !one.problem)), h("div.items", kinds));
}

/** Which Nodes are decided on first, and which last. */
function ends(decisions) {
  if (decisions.length < 2) return null;
  const [first, last] = [decisions[0].t, decisions.at(-1).t];
  return (first === last ? [["all", first]] : [["first", first], ["last", last]]).map(([word, t]) => {
    const same = decisions.filter((one) => one.t === t);
    const nodes = [...new Set(same.flatMap((one) => one.nodes ?? []).map(({ node }) => node).filter(Boolean))];
    const why = [...new Set(same.map((one) => `${one.decision} for ${one.reason}`))].join(", ");
    return nodes.length ? h("p", h("b", word), ` at ${duration(t)}: ${nodes.slice(0, NAMED).join(", ")}${nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : ""}`, h("span.note", ` (${why})`)) : null;
  });
}

function rejected(world) {
  const found = world.rejections.filter((one) => !["launch", "nodepool-filter"].includes(one.layer)); // these are told with what Azure refused, and with the pods that wait
  if (!found.length) return null;
  const applied = new Set(world.objects.map((one) => one.object));
  return h("div.answer.bad", h("h3", `${counted(new Set(found.map((one) => one.object)).size, "object")} refused`), found.slice(0, 4).map((one) =>
    h("p", applied.has(one.object) ? link(one.object, one.object) : h("b", one.object), h("span.note", ` by ${one.layer}`), one.count > 1 ? ` ×${one.count}` : "", h("span.said", ` ${one.text}`))),
  found.length > 4 ? h("p.note", `and ${found.length - 4} more, under Manifests`) : null);
}

/** Every refusal of Azure in its own words. */
export function refusals(world) {
  if (!world.refusals.length) return null;
  const columns = [
    { head: "at", numeric: true, cell: (one) => [duration(one.t), one.count > 1 ? [one.last > one.t ? ` – ${duration(one.last)}` : "", h("b", ` ×${one.count}`)] : null] },
    { head: "code", cell: (one) => [h("b", one.error || one.status), one.fault ? h("span.note", one.fault === one.error ? " declared fault" : ` fault ${one.fault}`) : null] },
    { head: "asked for", cell: (one) => [offer(one) || `${one.operation} ${one.name}`, one.claims.slice(0, CLAIMS).map((name) => h("span.place.line", name)), one.claims.length > CLAIMS ? h("span.place.line", `and ${one.claims.length - CLAIMS} more`) : null] },
    { head: "Karpenter then leaves alone", cell: (one) => (one.blocked.length ? one.blocked.map(({ time, what }) => h("span.line", h("b", time), ` ${what}`)) : h("span.note", "nothing")) },
    { head: "in Azure's words", cell: (one) => (one.message.length > 260 ? folded(`${one.message.slice(0, 200)}…`, () => h("p", one.message)) : one.message) },
  ];
  const all = alike(world.refusals);
  const first = all.length > FEW ? REFUSALS : FEW;
  return h("section", { id: "refusals" }, h("h2", "What Azure refused"), table("What Azure refused", columns, all.slice(0, first)),
    all.length > first ? folded(counted(all.length - first, "more refusal"), () => table("More of what Azure refused", columns, all.slice(first, 400))) : null);
}

/** Refusals of the same in the same words are one, the first, with their number. */
const alike = (refusals) => [...Map.groupBy(refusals, (one) => JSON.stringify([one.error, one.status, one.message, one.size, one.zone, one.priority, one.fault, one.operation])).values()]
  .map((all) => ({ ...all[0], count: all.length, last: all.at(-1).t, claims: [...new Set(all.map((one) => one.claim).filter(Boolean))] }));
