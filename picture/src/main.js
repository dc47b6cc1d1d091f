// The page: its data is JSON in the document, its content is made here.
import "./style/base.css";
import "./style/corpus.css";
import "./style/sweep.css";
import "./style/world.css";
import { compare } from "./compare.js";
import { corpus } from "./corpus.js";
import { h, put } from "./dom.js";
import { unpacked } from "./packing.js";
import { reality } from "./reality.js";
import { sweep } from "./sweep.js";
import { world } from "./world.js";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.getElementById("page");

/** What the address asks for: a case of a run as a picture, or the page itself. */
function show() {
  const asked = caseOf(location.hash);
  if (data.page === "compare") put(root, compare(data));
  else if (data.page === "reality") put(root, reality(data));
  else if (data.page === "sweep") put(root, sweep(data));
  else if (data.page !== "run") put(root, world(data.world, data.sources));
  else if (data.cases.length === 1 && data.worlds.length === 1) put(root, world(data.worlds[0], data.sources));
  else if (asked && data.worlds?.[asked.number]) picture(data.worlds[asked.number]);
  else if (asked && data.packed) unpack(asked.number, location.hash);
  else put(root, corpus(data, true));
  scrollTo(0, 0);
  if (location.hash) open(location.hash);
}

/** The case of an address, and the part of its picture: `#case=3`, `#case=3/refusals`. */
function caseOf(hash) {
  const found = /^#case=(\d+)(?:\/(.+))?$/.exec(hash);
  return found && { number: Number(found[1]), part: found[2] ?? "" };
}

const back = () => h("p", h("a", { href: "#" }, "◀ all cases"));
const picture = (one) => put(root, back(), world(one, data.sources));

/** The picture of a case of a long run, which has to be unpacked first. */
async function unpack(number, hash) {
  try {
    const found = await unpacked(data.packed, number);
    if (location.hash !== hash) return;
    picture(found);
    open(hash);
  } catch (error) {
    put(root, back(), h("p.bad", `This picture could not be unpacked (${error.message}). It needs a browser of 2023 or later; harness run FILE -k NAME --html PAGE draws one case alone.`));
  }
}

addEventListener("hashchange", (event) => {
  const inside = /^#(object=|[a-z-]+$)/.test(location.hash) && !/^#case=/.test(location.hash);
  const before = caseOf(new URL(event.oldURL).hash);
  const now = caseOf(location.hash);
  if (inside) {
    open(location.hash);
    if (before) history.replaceState(null, "", `#case=${before.number}/${location.hash.slice(1)}`); // a link that can be sent
  } else if (before && now?.part && now.number === before.number) open(location.hash);
  else if (new URL(event.oldURL).hash !== location.hash) show();
});

/** Opens and shows the part or the manifest that a link names. */
function open(hash) {
  const id = decodeURIComponent(caseOf(hash)?.part ?? hash.slice(1));
  if (!id) return;
  document.getElementById("manifests")?.dispatchEvent(new CustomEvent("reveal", { detail: id }));
  const found = document.getElementById(id);
  if (!found) return;
  if (found.tagName === "DETAILS") found.open = true;
  found.scrollIntoView({ block: "start" });
}

show();
