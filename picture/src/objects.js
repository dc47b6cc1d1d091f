// The manifests as they were applied, with their places; and everything that was said.
import { folded, h, put, table } from "./dom.js";
import { duration, place } from "./text.js";

export function objects(world) {
  if (!world.objects.length) return null;
  return h("section", { id: "manifests" }, h("h2", "Manifests"), world.objects.slice(0, 300).map((one) => {
    const box = folded([h("b", one.object), " ", one.verb === "delete" ? "deleted " : one.text ? null : "changed ", h("span.place", `${place(one.place)} at ${duration(one.t)}`), one.refused.length ? h("span.bad", " refused") : null],
      () => [one.refused.map((text) => h("p.bad", text)), one.text ? h("pre", one.text) : null]);
    box.id = `object=${one.object}`;
    return box;
  }));
}

export function told(world) {
  if (!world.told.length) return null;
  return h("section", { id: "told" }, h("h2", "Events and logs"), folded(`${world.told.length} lines`, () => {
    const out = h("div");
    const draw = (query) => put(out, table("Events and logs", [
      { head: "at", numeric: true, cell: (one) => duration(one[0]) },
      { head: "by", cell: (one) => one[1] },
      { head: "about", cell: (one) => one[3] },
      { head: "said", cell: (one) => h(one[2] === "Warning" || one[2] === "error" ? "span.bad" : "span", one[4]) },
    ], world.told.filter((one) => !query || one.join(" ").toLowerCase().includes(query)).slice(0, 400)));
    draw("");
    return [h("div.tools", h("input", { type: "search", placeholder: "Search what was said", "aria-label": "Search events and logs", oninput: (event) => draw(event.target.value.trim().toLowerCase()) })), out];
  }));
}
