// How figures are written, everywhere on the page.
import { h } from "./dom.js";

/** 1 pod, 2 pods, 3,062 cases. */
export const counted = (number, noun) => `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;

/** Virtual seconds as Go writes durations, rounded to what can be read: 45s, 3m20s, 2h5m, 3d4h. */
export function duration(seconds) {
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds < 10 && seconds % 1) return `${Number(seconds.toFixed(1))}s`;
  const whole = Math.round(seconds);
  const parts = [["d", Math.floor(whole / 86400)], ["h", Math.floor(whole / 3600) % 24], ["m", Math.floor(whole / 60) % 60], ["s", whole % 60]];
  const first = parts.findIndex(([, value]) => value > 0);
  if (first < 0) return "0s";
  return parts.slice(first, first + 2).filter(([, value]) => value > 0).map(([unit, value]) => `${value}${unit}`).join("");
}

/** The same to the second, for a time that somebody multiplies by: 2h0m57s. */
export function exactly(seconds) {
  const whole = Math.round(seconds);
  const text = [["d", Math.floor(whole / 86400)], ["h", Math.floor(whole / 3600) % 24], ["m", Math.floor(whole / 60) % 60], ["s", whole % 60]];
  return text.slice(text.findIndex(([, value]) => value > 0)).map(([unit, value]) => `${value}${unit}`).join("");
}

/** USD per hour: 0.1920, 3.672, 12.34; the more digits, the smaller. */
export const price = (usd) => (usd === null || usd === undefined ? "no price" : `$${usd.toFixed(usd < 1 ? 4 : usd < 10 ? 3 : 2)}`);

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
