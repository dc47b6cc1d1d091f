// What became of a case: its name, its mark, its differences, its reasons.
import { h } from "./dom.js";
import { place } from "./text.js";

export const OUTCOMES = {
  failed: { mark: "✗", word: "failed", bad: true },
  error: { mark: "!", word: "error", bad: true },
  xpassed: { mark: "?", word: "passed unexpectedly", bad: true },
  xfailed: { mark: "~", word: "failed as expected" },
  skipped: { mark: "–", word: "skipped" },
  passed: { mark: "✓", word: "passed" },
};

export const isBad = (one) => OUTCOMES[one.outcome].bad === true;

export const mark = (outcome) =>
  h(`span.mark.${outcome}`, { title: OUTCOMES[outcome].word }, h("span.hidden", OUTCOMES[outcome].word), h("span", { "aria-hidden": "true" }, OUTCOMES[outcome].mark));

/** A name with its parameters set off; the text is still the one that `-k` finds. */
export const titled = (name) => name.split(/(?<=\S)(?=\[[^[\]]*\]$)/).map((part, index) => (index ? h("span.of", part) : part));

/** The reasons of a case that did not go as expected. */
export function reasons(one) {
  return [
    one.reason && h("p.note", one.reason),
    one.outcome === "xpassed" && h("p", "It is marked xfail and passes: remove the mark."),
    one.error && h("pre.found", one.error),
    ...one.failures.map(failure),
  ];
}

export function failure(one) {
  return h("div.failure",
    h("p", h("code", one.expectation), " ", h("span.place", place(one.place))),
    h("dl.difference", one.differences.flatMap((found) => [
      h("dt", "expected"), h("dd.expected", prefix(found), found.expected),
      h("dt", "found"), h("dd.found", prefix(found), found.found || "nothing"),
      found.note && [h("dt", "note"), h("dd.why", found.note)],
    ]), one.why?.length ? [h("dt", "why"), h("dd.why", one.why.join("\n"))] : null));
}

const prefix = (found) => (found.path ? h("span.path", `${found.path}: `) : null);

/** All expectations of a case that hold, one line each. */
export const held = (one) =>
  one.held.length ? h("ul.held", one.held.map((label) => h("li", h("code", label)))) : null;
