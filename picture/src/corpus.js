// A run of many cases: what is not as expected first, then all by file, by tag or by duration. Rows are made when they are looked at.
import { group, sum } from "d3-array";
import { folded, h, put, toggle } from "./dom.js";
import { OUTCOMES, held, isBad, mark, reasons, titled } from "./outcome.js";
import { coded, counted, millis, place } from "./text.js";

const FIRST = 60; // bad cases shown at once
const ROWS = 300; // cases of a search, or of a group, shown at once
const FILES = 400; // files from which on folders are folded

/** The whole page of a run; `show` opens the picture of a case. */
export function corpus(run) {
  const undrawn = (one) => Boolean(run.unpictured) && one.world === undefined && one.outcome !== "skipped" && one.outcome !== "error";
  const cases = run.cases.map((one) => ({ ...one, undrawn: undrawn(one), name: one.id.slice(one.place.file.length + 2), tags: one.tags ?? [] }));
  for (const one of cases) one.text = [one.id, one.tags.join(" "), one.gist?.join(" "), one.reason, one.error, JSON.stringify(one.failures)].join(" ").toLowerCase();
  const state = { query: "", outcomes: new Set(), tag: "", by: "file" };
  const found = h("div", { "aria-live": "polite" });
  const draw = () => {
    const asked = cases.filter((one) => matches(one, state));
    put(found, list(asked, state, asked.length !== cases.length));
  };
  draw();
  return [head(run, cases), controls(run, cases, state, draw), found];
}

function matches(one, { query, outcomes, tag }) {
  return (!outcomes.size || outcomes.has(one.outcome)) && (!tag || one.tags.includes(tag)) && query.split(/\s+/).every((word) => one.text.includes(word));
}

function head(run, cases) {
  const bad = cases.filter(isBad).length;
  return h("header",
    h("h1", bad ? `${counted(bad, "case")} of ${cases.length.toLocaleString("en-US")} not as expected` : cases.length ? `${counted(cases.length, "case")}, all as expected` : "no scenarios"),
    share(cases, "share big"),
    h("p.note", `${counted(run.expectations, "expectation")} in ${run.seconds.toFixed(2)} s, ${counted(new Set(cases.map((one) => one.place.file)).size, "file")}`),
    (run.notes ?? []).map((note) => h("p.note", note)),
    run.unpictured && h("p.note", coded(run.unpictured)));
}

/** How many ended in which way, as a bar of shares. */
function share(cases, name) {
  const order = Object.keys(OUTCOMES);
  const counts = order.map((outcome) => [outcome, cases.filter((one) => one.outcome === outcome).length]).filter(([, count]) => count);
  const told = counts.map(([outcome, count]) => `${count} ${OUTCOMES[outcome].word}`).join(", ");
  return h(`span.${name.split(" ").join(".")}`, { role: "img", "aria-label": told, title: told },
    counts.map(([outcome, count]) => h(`i.${outcome}`, { style: { "flex-grow": String(count) } })));
}

function controls(run, cases, state, draw) {
  const search = h("input", { type: "search", placeholder: "Search names, tags, reasons ( / )", "aria-label": "Search cases", autocomplete: "off" });
  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      state.query = search.value.trim().toLowerCase();
      draw();
    }, 80);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      search.focus();
    }
  });
  const chips = Object.keys(OUTCOMES).filter((outcome) => run.counts[outcome]).map((outcome) =>
    toggle([mark(outcome), ` ${OUTCOMES[outcome].word} `, h("b", run.counts[outcome].toLocaleString("en-US"))], false, (on) => {
      if (on) state.outcomes.add(outcome);
      else state.outcomes.delete(outcome);
      draw();
    }));
  const tags = [...group(cases.flatMap((one) => one.tags), (tag) => tag)].map(([tag, all]) => [tag, all.length]).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const choose = (label, options, change) =>
    h("label", `${label} `, h("select", { onchange: (event) => { change(event.target.value); draw(); } }, options.map(([value, text]) => h("option", { value }, text))));
  return h("form.controls", { role: "search", onsubmit: (event) => event.preventDefault() }, search,
    h("div.chips", chips),
    tags.length > 0 && choose("Tag", [["", "all"], ...tags.map(([tag, count]) => [tag, `${tag} (${count})`])], (value) => { state.tag = value; }),
    choose("Group by", [["file", "file"], ["tag", "tag"], ["time", "duration"]], (value) => { state.by = value; }));
}

function list(asked, state, filtered) {
  const bad = asked.filter(isBad);
  const parts = [];
  if (filtered) parts.push(h("p.note", asked.length ? `${counted(asked.length, "case")} found` : "No case is like that."));
  if (bad.length) {
    parts.push(h("section", h("h2", "Not as expected"), more(bad, FIRST, (one) => badCase(one))));
  }
  if (filtered && asked.length <= ROWS) parts.push(h("section", h("h2", "Found"), rows(asked)));
  else if (state.by === "time") parts.push(h("section", h("h2", "Longest first"), rows([...asked].sort((a, b) => b.seconds - a.seconds))));
  else if (asked.length) parts.push(state.by === "tag" ? byTag(asked) : byFile(asked));
  return parts;
}

function badCase(one) {
  return h(`article.case.${one.outcome}`,
    h("h3", mark(one.outcome), " ", titled(one.name)),
    h("p.place", place(one.place), " · ", millis(one.seconds), one.tags.map((tag) => h("span.tag", tag))),
    reasons(one),
    one.world !== undefined && h("p", h("a", { href: `#case=${one.world}` }, "What happened, as a picture")));
}

/** The first of many, and a button for the next ones. */
function more(all, step, one) {
  const box = h("div");
  let shown = 0;
  const button = h("button.more", { type: "button" });
  const next = () => {
    const part = all.slice(shown, shown + step).map(one);
    shown += part.length;
    button.before(...part);
    if (shown < all.length) button.textContent = `${(all.length - shown).toLocaleString("en-US")} more`;
    else button.remove();
  };
  button.addEventListener("click", next);
  box.append(button);
  next();
  return box;
}

function byFile(cases) {
  const folders = group(cases, (one) => one.place.file.replace(/[^/]*$/, ""), (one) => one.place.file);
  const longest = Math.max(...[...folders.values()].flatMap((files) => [...files.values()].map((all) => sum(all, (one) => one.seconds))));
  const many = sum(folders.values(), (files) => files.size) > FILES;
  return [...folders].map(([folder, files]) => {
    const all = [...files.values()].flat();
    const content = () => h("div.groups", [...files].map(([file, own]) => grouped(file.slice(folder.length), own, longest, own.length === cases.length)));
    const title = [h("span.name", folder || "./"), share(all, "share"), h("span.n", counted(all.length, "case")), h("span.n", millis(sum(all, (one) => one.seconds)))];
    return h("section.folder", folded(title, content, { open: !many }));
  });
}

function byTag(cases) {
  const tags = new Map();
  for (const one of cases) for (const tag of one.tags.length ? one.tags : ["without a tag"]) tags.set(tag, [...(tags.get(tag) ?? []), one]);
  const groups = [...tags].sort((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0]));
  const longest = Math.max(...groups.map(([, all]) => sum(all, (one) => one.seconds)));
  return h("section", h("div.groups", groups.map(([tag, all]) => grouped(tag, all, longest))));
}

function grouped(name, cases, longest, open = false) {
  const seconds = sum(cases, (one) => one.seconds);
  const bar = h("span.time", { "aria-hidden": "true" }, h("i", { style: { width: `${(100 * seconds) / (longest || 1)}%` } }));
  return folded([h("span.name", name), share(cases, "share"), h("span.n", cases.length.toLocaleString("en-US")), bar, h("span.n", millis(seconds))], () => rows(cases), { open });
}

function rows(cases) {
  return more(cases, ROWS, (one) =>
    folded([mark(one.outcome), h("span.name", titled(one.name), one.gist && h("span.gist", one.gist.map((text) => h("b", text))), one.undrawn && h("span.note", " (no picture)")), one.reason && h("span.note", one.reason), h("span.n", millis(one.seconds))],
      () => [h("p.place", place(one.place), one.tags.map((tag) => h("span.tag", tag))), reasons(one), held(one),
        one.undrawn && h("p.note", "No picture was drawn of this case: beside its expectations nothing is told here of pods that wait or of what Azure refused."),
        one.world !== undefined && h("p", h("a", { href: `#case=${one.world}` }, "What happened, as a picture"))], { name: "details.row" }));
}
