// A note beside the pointer, or beside what has the focus.
import { h, put } from "./dom.js";

let box;

/** Lets an element say more when it is pointed at, or focused. `content` returns its lines. */
export function tip(element, content) {
  const show = (event) => {
    box ??= document.body.appendChild(h("div.tip", { role: "status" }));
    put(box, content().map((line, index) => h(index ? "p" : "p.first", line)));
    box.hidden = false;
    const at = event.clientX === undefined ? element.getBoundingClientRect() : { left: event.clientX, bottom: event.clientY };
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(at.left + 12, innerWidth - width - 8))}px`;
    box.style.top = `${at.bottom + 14 + height > innerHeight ? Math.max(4, at.bottom - height - 14) : at.bottom + 14}px`;
  };
  const hide = () => {
    if (box) box.hidden = true;
  };
  element.addEventListener("pointermove", show);
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", show);
  element.addEventListener("blur", hide);
  return element;
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && box) box.hidden = true;
});
