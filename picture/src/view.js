// What all charts of a page share: the part of time that is shown, its scale, and the moment that is looked at.
import { scaleLinear } from "d3-scale";
import { zoomIdentity } from "d3-zoom";

/** A view on the time of a story. `times` are the moments at which something happens, `end` is the last one. */
export function view(times, end) {
  const listeners = [];
  const own = {
    at: end,
    end,
    transform: zoomIdentity,
    even: isCrowded(times, end),
    listen: (listener) => listeners.push(listener),
    change(values) {
      Object.assign(own, values);
      for (const listener of listeners) listener(own, values);
    },
    /** Seconds to pixels of a chart of that width, before it is zoomed. */
    base(width) {
      const last = Math.max(end, 1e-3);
      if (!own.even) return scaleLinear([0, last], [0, width]);
      const stops = [...new Set([0, ...times.filter((t) => t > 0 && t < last).map((t) => Math.round(t * 10) / 10), last])].sort((a, b) => a - b);
      let sum = 0;
      const along = stops.map((t, index) => (sum += index ? Math.log1p((t - stops[index - 1]) / 2) : 0));
      return scaleLinear(stops, along.map((one) => (one * width) / (sum || 1)));
    },
    /** Seconds to pixels as it is zoomed. */
    scale(width) {
      const base = own.base(width);
      return Object.assign((t) => own.transform.applyX(base(t)), { invert: (x) => base.invert(own.transform.invertX(x)) });
    },
  };
  return own;
}

/** Whether most of what happens would stand in a small part of a true axis. */
function isCrowded(times, end) {
  const sorted = times.filter((t) => t >= 0 && t <= end).sort((a, b) => a - b);
  if (sorted.length < 4) return false;
  const gaps = [...sorted.slice(1).map((t, index) => t - sorted[index]), end - sorted.at(-1)].sort((a, b) => b - a);
  return end > 0 && (gaps[0] + (gaps[1] ?? 0)) / end > 0.6;
}

const STEPS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800];

/** The words of the axis, each with its place; the last one ends at its tick where it has no room behind it. */
export function axis(own, width, times, write) {
  const scale = own.scale(width);
  let end = -Infinity;
  return ticks(own, width, times).flatMap((t) => {
    const text = write(t);
    const room = text.length * 7;
    const turned = scale(t) + 2 + room > width;
    const x = scale(t) + (turned ? -2 : 2);
    const from = turned ? x - room : x;
    if (from < end) return [];
    end = from + room;
    return [{ t, x, text, turned }];
  });
}

/** Times for the axis, at least `gap` pixels apart. */
export function ticks(own, width, times, gap = 74) {
  const scale = own.scale(width);
  const from = Math.max(0, scale.invert(0));
  const to = Math.min(own.end, scale.invert(width));
  if (!own.even) {
    const step = STEPS.find((one) => scale(from + one) - scale(from) >= gap) ?? 604800 * Math.ceil((to - from) / 604800 / 8 || 1);
    const found = [];
    for (let t = Math.ceil(from / step) * step; t <= to + 1e-9; t += step) found.push(t);
    return found;
  }
  const found = [];
  let last = -Infinity;
  for (const t of [...new Set([0, ...times])].sort((a, b) => a - b)) {
    const x = scale(t);
    if (x >= -1 && x <= width + 1 && x - last >= gap) {
      found.push(t);
      last = x;
    }
  }
  return own.end > 0 && scale(own.end) <= width + 1 ? [...found.filter((t) => !t || scale(own.end) - scale(t) >= 1.7 * gap), own.end] : found;
}
