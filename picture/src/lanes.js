// The lanes of a corridor in their order; in a large world those of one NodePool to which the same happened are one line, which opens.
import { agentPool, counted, duration, short, shorter } from "./text.js";

export const FEW = 30; // lanes that are drawn each for itself
const OWNERS = 6; // workloads below a machine that have lines of their own
const CLOSED = 4; // offerings left alone that have lines of their own

/** Claims and nodes in their order, each with its pods; pods of no node first, for they are what one looks for. */
export function ordered(lanes) {
  const { pods, machines, blocked, below } = parted(lanes);
  return [...pods, ...machines.flatMap((lane) => [lane, ...below(lane)]), ...blocked];
}

function parted(lanes) {
  const pods = lanes.filter((lane) => lane.kind === "pod");
  const machines = lanes.filter((lane) => lane.kind === "claim" || lane.kind === "node");
  const nodes = new Set(machines.map((lane) => lane.node));
  const on = Map.groupBy(pods.filter((lane) => lane.node), (lane) => lane.node);
  return {
    machines, blocked: lanes.filter((lane) => lane.kind === "blocked"), pods: pods.filter((lane) => !nodes.has(lane.node)),
    below: (lane) => (lane.node ? (on.get(lane.node) ?? []).map((pod) => ({ ...pod, below: true })) : []),
  };
}

/** The rows that are drawn: lanes, and groups of lanes ({group, members, opened}) with their members where `opened` has them. */
export function rows(lanes, opened) {
  if (lanes.length <= FEW) return ordered(lanes);
  const { pods, machines, blocked, below } = parted(lanes);
  const found = workloads(pods, "", opened, false);
  for (const [key, all] of Map.groupBy(machines, (lane) => story(lane, [lane.kind, lane.nodepool, lane.size, lane.capacity_type]))) {
    if (all.length === 1) found.push(all[0], ...workloads(below(all[0]), all[0].name, opened, true));
    else {
      const group = groupOf(key, all, opened);
      found.push(group, ...(group.opened ? all.flatMap((lane) => [{ ...lane, below: true }, ...workloads(below(lane), lane.name, opened, true)]) : workloads(all.flatMap(below), key, opened, true)));
    }
  }
  if (blocked.length <= CLOSED) return [...found, ...blocked];
  const group = { ...groupOf("blocked", blocked, opened), parts: union(blocked.flatMap((lane) => lane.parts)), marks: [] };
  return [...found, group, ...(group.opened ? blocked : [])];
}

/** What happened to a lane, without when. */
const story = (lane, of) => JSON.stringify([of, lane.parts.map(([what]) => what), seen(lane).map(([, what]) => what)]);

const seen = (lane) => lane.marks.filter(([, what]) => what !== "waits"); // the others are words only

/** Pods by workload and by what happened to them; where these are many, in one line for all to which the same happened. */
function workloads(pods, of, opened, below) {
  const owners = new Map(Map.groupBy(pods, (lane) => story(lane, [of, lane.owner || lane.name])));
  if (owners.size <= OWNERS) return lines(owners, opened, below);
  return lines(Map.groupBy(pods, (lane) => story(lane, [of])), opened, below);
}

function lines(groups, opened, below) {
  return [...groups].flatMap(([key, all]) => {
    if (all.length === 1) return all;
    const group = { ...groupOf(key, all, opened), below };
    return group.opened ? [group, ...all.map((lane) => ({ ...lane, below: true }))] : [group];
  });
}

function groupOf(key, members, opened) {
  const [first] = members;
  const alike = first.kind === "blocked" ? {} : { parts: merged(members.map((lane) => lane.parts)), marks: [...first.marks.filter(([, what]) => what === "waits"), ...together(members.map(seen))] };
  return { ...first, place: undefined, ...alike, group: key, members, opened: opened.has(key), pods: members.flatMap((lane) => lane.pods ?? []) };
}

/** A part of the same kind of each member: from where the first one begins to where the next kind begins; `spread` is when they begin. */
const merged = (all) => all[0].map((part, index) => {
  const starts = all.map((parts) => parts[index][1]);
  const next = all.flatMap((parts) => (parts[index + 1] ? [parts[index + 1][1]] : []));
  const end = next.length ? Math.min(...next) : Math.max(...all.map((parts) => parts[index][2]));
  return Object.assign([part[0], Math.min(...starts), Math.max(end, Math.min(...starts)), ""], { spread: [Math.min(...starts), Math.max(...starts)] });
});

/** A mark of the same kind of each member, at the first one; the words are those of one. */
const together = (all) => all[0].map((mark, index) => {
  const same = all.map((marks) => marks[index]).sort((a, b) => a[0] - b[0]);
  return [same[0][0], mark[1], `${same[0][2]} (and ${all.length - 1} more, until ${duration(same.at(-1)[0])})`];
});

/** The times at which any of the parts is there. */
function union(parts) {
  const found = [];
  for (const [what, from, to] of [...parts].sort((a, b) => a[1] - b[1])) {
    const last = found.at(-1);
    if (last && from <= last[2]) last[2] = Math.max(last[2], to);
    else found.push([what, from, to, ""]);
  }
  return found;
}

/** What a lane or a group is called. */
export function title(lane) {
  const size = `${lane.size ? ` ${lane.size.replace("Standard_", "")}` : ""}${lane.capacity_type === "spot" ? " spot" : ""}`;
  if (lane.group) {
    const owners = new Set(lane.members.map((one) => one.owner || one.name));
    if (lane.kind === "blocked") return `left alone: ${lane.members.length} sizes or families`;
    if (lane.kind === "pod") return owners.size > 1 ? `${owners.size} workloads: ${counted(lane.pods.length, "pod")}` : `${short([...owners][0])} ×${lane.pods.length}`;
    const pools = new Set(lane.members.map((one) => agentPool(one.name)));
    const kind = lane.nodepool || (pools.size === 1 && agentPool(lane.members[0].name)) || "nodes";
    return `${kind} ×${lane.members.length}${size}`;
  }
  if (lane.kind === "pod") return `${lane.pods.length > 1 && lane.owner ? short(lane.owner) : shorter(lane.name)}${lane.pods.length > 1 ? ` ×${lane.pods.length}` : ""}`;
  if (lane.kind === "blocked") return lane.name.replace("Standard_", "").replace(/(family )standard(\w+)Family/, "$1$2").replace(/( vCPUs) on,/, "$1,");
  return `${lane.name}${size}`;
}
