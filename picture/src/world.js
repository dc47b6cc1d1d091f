// The page of one world.
import { answers, refusals } from "./answers.js";
import { corridor } from "./corridor.js";
import { cost } from "./cost.js";
import { folded, h, table } from "./dom.js";
import { funnel } from "./funnel.js";
import { labels } from "./labels.js";
import { machines } from "./machines.js";
import { objects, told } from "./objects.js";
import { OUTCOMES, failure, mark, titled } from "./outcome.js";
import { coded, place } from "./text.js";
import { view } from "./view.js";

/** `sources` says what the sources of labels are called, and who they are. */
export function world(given, sources = {}) {
  const times = timesOf(given);
  const own = view(times, given.end);
  const parts = [
    ["Corridor", given.lanes.length ? corridor(given, own, times) : null], ["Nodes", given.machines.length ? machines(given, own) : null], ["Cost", cost(given, own, times)],
    ["Refusals", refusals(given)], ["Sizes", funnel(given)], ["Labels", labels(given, sources)], ["Manifests", objects(given)], ["Events and logs", told(given)],
  ].filter(([, part]) => part);
  return [head(given), expectations(given), answers(given),
    h("nav", { "aria-label": "Parts of the page" }, parts.map(([name, part]) => h("a", { href: `#${part.id}` }, name))),
    parts.map(([, part]) => part)];
}

function head(given) {
  const { header } = given;
  const scenario = header.scenario ?? {};
  const facts = [["Karpenter", `${header.release}${header.karpenter === "real" ? ", the real controller" : ""}`], ["Kubernetes", header.kubernetes], ["region", header.region], ["mode", header.mode], header.cluster !== "memory" ? ["cluster", header.cluster] : null].filter(Boolean);
  return h("header", h("h1", given.outcome && OUTCOMES[given.outcome] ? [mark(given.outcome), " "] : null, scenario.name ? titled(scenario.name) : `Karpenter ${header.release} in ${header.region}`),
    given.gist?.length ? h("p.gist", given.gist.map((one) => h("b", one))) : null,
    scenario.description ? h("p.said", coded(scenario.description)) : null,
    scenario.file ? h("p.place", place(scenario)) : null,
    h("p.facts", facts.map(([name, value]) => h("span", h("span.note", `${name} `), value))), header.command ? h("p", h("code", header.command)) : null,
    given.summary ? summary(given.summary) : null, notes(given.notes ?? []));
}

/** What a page is to say before anything else: sentences, and the fleets of one moment after the other. */
function summary({ lines, fleets }) {
  const columns = [{ head: "when", cell: (row) => h("b", row.when) }, { head: "nodes", cell: (row) => String(row.nodes), numeric: true }, { head: "USD per hour", cell: (row) => row.usd.toFixed(2), numeric: true }, { head: "sizes", cell: (row) => row.sizes }];
  return h("section.summary", lines.map((text) => h("p", text)), table("Before, meanwhile, after", columns, fleets));
}

const NOTES = 3; // shown at once

/** What it costs in a month, what is assumed and guessed. */
function notes(all) {
  const said = (some) => some.map((text) => h("p.note", text));
  return all.length <= NOTES ? said(all) : [said(all.slice(0, NOTES - 1)), folded(`${all.length - NOTES + 1} more to know`, () => said(all.slice(NOTES - 1)))];
}

function expectations(given) {
  const failed = given.expectations.filter((one) => !one.held && !one.kept);
  const kept = given.expectations.filter((one) => !one.held && one.kept).map((one) => h("p.note", h("code", one.text), ` does not hold, and need not: ${one.kept}`));
  if (!failed.length) return kept.length ? h("section", kept) : null;
  return h("section.case.failed", h("h2", `${failed.length} of ${given.expectations.length} expectations do not hold`), failed.map((one) =>
    failure({ expectation: one.text, place: one, differences: one.differences ?? [], why: one.why })), kept);
}

/** All times at which something is drawn. */
export function timesOf(given) {
  const found = new Set();
  for (const lane of given.lanes) {
    for (const [, from] of lane.parts) found.add(from);
    for (const [t] of lane.marks) found.add(t);
  }
  for (const one of given.moments) found.add(one.t);
  for (const [t] of given.cost) found.add(t);
  return [...found].sort((a, b) => a - b);
}
