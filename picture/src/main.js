// The page: its data is JSON in the document, its content is made here.
import "./style/base.css";
import "./style/corpus.css";
import "./style/sweep.css";
import "./style/world.css";
import { compare } from "./compare.js";
import { corpus } from "./corpus.js";
import { h, put } from "./dom.js";
import { sweep } from "./sweep.js";
import { world } from "./world.js";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.getElementById("page");

/** What the address asks for: a case of a run as a picture, or the page itself. */
function show() {
  const asked = /^#case=(\d+)$/.exec(location.hash);
  if (data.page === "compare") put(root, compare(data));
  else if (data.page === "sweep") put(root, sweep(data));
  else if (data.page !== "run") put(root, world(data.world, data.sources));
  else if (data.cases.length === 1 && data.worlds.length === 1) put(root, world(data.worlds[0], data.sources));
  else if (asked && data.worlds?.[asked[1]]) put(root, h("p", h("a", { href: "#" }, "◀ all cases")), world(data.worlds[asked[1]], data.sources));
  else put(root, corpus(data, true));
  scrollTo(0, 0);
}

addEventListener("hashchange", (event) => {
  const inside = /^#(object=|[a-z-]+$)/.test(location.hash) && !/^#case=/.test(location.hash);
  if (inside) open(location.hash);
  else if (new URL(event.oldURL).hash !== location.hash) show();
});

/** Opens and shows the manifest that a link names. */
function open(hash) {
  const id = decodeURIComponent(hash.slice(1));
  document.getElementById("manifests")?.dispatchEvent(new CustomEvent("reveal", { detail: id }));
  const found = document.getElementById(id);
  if (!found) return;
  if (found.tagName === "DETAILS") found.open = true;
  found.scrollIntoView({ block: "start" });
}

show();
if (location.hash) open(location.hash);
