// How figures are written, everywhere on the page.
import { h } from "./dom.js";

/** 1 pod, 2 pods, 3,062 cases. */
export const counted = (number, noun) => `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;

/** Virtual seconds to a tenth, as `duration_text` in harness/wording.py writes them: 46.2s, 3m20s, 1h1.3s, 2d4h. */
export function duration(seconds) {
  if (seconds < 0) return `-${duration(-seconds)}`;
  let left = Math.floor(seconds * 10 + 0.5);
  let text = "";
  for (const [unit, length] of [["d", 864000], ["h", 36000], ["m", 600]]) {
    if (left >= length) text += `${Math.floor(left / length)}${unit}`;
    left %= length;
  }
  return left || !text ? `${text}${left / 10}s` : text;
}

/** USD as `hourly` in harness/trace/prices.py writes them: 0.1920, 1,234.5000; for axes, which say the unit once. */
export const amount = (usd) => usd.toLocaleString("en-US", { minimumFractionDigits: 4, maximumFractionDigits: 4 });

/** A price as all texts have it: 0.1920 USD. */
export const price = (usd) => (usd === null || usd === undefined ? "no price" : `${amount(usd)} USD`);

const HOURS_OF_A_MONTH = 730; // as in harness/trace/prices.py

/** What a price of an hour comes to in a month, as the commands write it: 140.16 USD per month of 730 hours. */
export const monthly = (usd) => `${(usd * HOURS_OF_A_MONTH).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD per month of ${HOURS_OF_A_MONTH} hours`;

/** Sizes without what all of them begin with, each in one line with its number. */
export const bare = (sizes) => sizes.replaceAll("Standard_", "").replaceAll(" × ", "\u00a0×\u00a0");

/** Where a machine is; Karpenter calls "in no zone" 0. */
export const zoneName = (zone) => (zone === "0" ? "no zone" : zone);

/** Real time of a case. */
export const millis = (seconds) => (seconds >= 1 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds * 1000)} ms`);

/** file:line of a place; the column is for editors. */
export const place = (one) => (one ? `${one.file}:${one.line}` : "");

/** Cores: 250m, 3.5, 16. */
export const cores = (value) => (value < 1 && value > 0 ? `${Math.round(value * 1000)}m` : `${Number(value.toFixed(2))}`);

/** Bytes: 512Mi, 27.4Gi. */
export const bytes = (value) => (value < 1024 ** 3 ? `${Math.round(value / 1024 ** 2)}Mi` : `${Number((value / 1024 ** 3).toFixed(1))}Gi`);

/** A text whose `names` between backticks are code. */
export const coded = (text) => text.split("`").map((part, index) => (index % 2 ? h("code", part) : part));

/** A key without its domain, for narrow places. */
export const short = (name) => name.slice(name.lastIndexOf("/") + 1);

/** A pod of a trace (`namespace/name`) as all texts name it: without namespace default. */
export const shorter = (name) => name.replace(/^default\//, "");

/** The agent pool of a Node by the name that AKS gives it; "" for another Node. */
export function agentPool(name) {
  const [, pool] = /^aks-([a-z0-9]+)-[0-9]+-vmss/.exec(name) ?? [];
  return pool ? `agent pool ${pool}` : "";
}
