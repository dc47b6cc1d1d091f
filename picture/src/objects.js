// The manifests as they were applied, with their places; and everything that was said.
import { folded, h, put, table } from "./dom.js";
import { counted, duration, place } from "./text.js";

const FIRST = 4; // manifests shown at once; the others are folded

export function objects(world) {
  if (!world.objects.length) return null;
  const rest = world.objects.length > FIRST ? folded(counted(world.objects.length - FIRST, "more manifest"), () => world.objects.slice(FIRST).map(manifest), { name: "details.rest" }) : null;
  const section = h("section", { id: "manifests" }, h("h2", "Manifests"), world.objects.slice(0, FIRST).map(manifest), rest);
  section.addEventListener("reveal", (event) => { // what a link names may be folded
    if (world.objects.slice(FIRST).some((one) => idOf(one) === event.detail)) rest.unfold();
  });
  return section;
}

const idOf = (one) => `object=${one.object}`;

function manifest(one) {
  const box = folded([h("b", one.object), " ", one.verb === "delete" ? "deleted " : one.text ? null : "changed ", h("span.place", `${place(one.place)} at ${duration(one.t)}`), one.refused.length ? h("span.bad", " refused") : null],
    () => [one.refused.map((text) => h("p.bad", text)), one.text ? h("pre", one.text) : null]);
  box.id = idOf(one);
  return box;
}

const LINES = 400; // of what was said, shown at once

export function told(world) {
  if (!world.told.length) return null;
  return h("section", { id: "told" }, h("h2", "Events and logs"), folded(world.untold ? `the first ${world.told.length.toLocaleString("en-US")} of ${counted(world.told.length + world.untold, "line")}` : counted(world.told.length, "line"), () => {
    const out = h("div");
    let query = "";
    let many = LINES;
    const draw = () => {
      const found = world.told.filter((one) => !query || one.join(" ").toLowerCase().includes(query));
      put(out, query ? h("p.note", `${counted(found.length, "line")} found`) : null, table("Events and logs", [
      { head: "at", numeric: true, cell: (one) => duration(one[0]) },
      { head: "by", cell: (one) => one[1] },
      { head: "about", cell: (one) => one[3] },
      { head: "said", cell: (one) => h(one[2] === "Warning" || one[2] === "error" ? "span.bad" : "span", one[4]) },
    ], found.slice(0, many)), found.length > many ? h("button.more", { type: "button", onclick: () => { many += LINES; draw(); } }, `${(found.length - many).toLocaleString("en-US")} more`) : null,
      world.untold && found.length <= many ? h("p.note", `${counted(world.untold, "later line")} ${world.untold === 1 ? "is" : "are"} not on this page; the trace has all of them.`) : null);
    };
    draw();
    return [h("div.tools", h("input", { type: "search", placeholder: "Search what was said", "aria-label": "Search events and logs", oninput: (event) => { query = event.target.value.trim().toLowerCase(); many = LINES; draw(); } })), out];
  }));
}
