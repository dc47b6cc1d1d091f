// Elements without markup: text is always text, so nothing that a manifest says can become part of the page.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: h("p.note", {title: "…"}, "text", child, [children], null). */
export function h(name, ...rest) {
  return fill(document.createElement(name.split(".")[0]), name, rest);
}

/** The same in SVG. */
export function s(name, ...rest) {
  return fill(document.createElementNS(SVG, name.split(".")[0]), name, rest);
}

function fill(element, name, rest) {
  const [, ...classes] = name.split(".");
  if (classes.length) element.classList.add(...classes);
  for (const one of rest.flat(Infinity)) {
    if (one === null || one === undefined || one === false) continue;
    if (one instanceof Node) element.append(one);
    else if (typeof one === "object") attributes(element, one);
    else element.append(String(one));
  }
  return element;
}

function attributes(element, given) {
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, text] of Object.entries(value)) element.style.setProperty(name, text);
    else element.setAttribute(key, value === true ? "" : value);
  }
}

/** The element's content, replaced. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

/** A folded part whose content is made when it is first opened, so that a long page stays light. */
export function folded(summary, content, { open = false, name = "details" } = {}) {
  const box = h(name, h("summary", summary));
  let made = false;
  const make = () => {
    if (made || !box.open) return;
    made = true;
    box.append(...[content()].flat(Infinity).filter(Boolean));
  };
  box.addEventListener("toggle", make);
  box.open = open;
  make();
  box.unfold = () => { // at once, where a toggle is told later
    box.open = true;
    make();
  };
  return box;
}

/** A button that is on or off. */
export function toggle(text, on, change, ...rest) {
  const button = h("button.chip", { type: "button", "aria-pressed": String(on) }, text, ...rest);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    change(now, button);
  });
  return button;
}

/** A table; a cell is text, an element, or a list of them. Columns: {head, numeric, cell(row)}. */
export function table(caption, columns, rows, rowProps = () => null) {
  return h("div.scroll", { tabindex: 0, role: "region", "aria-label": caption },
    h("table", h("caption.hidden", caption),
      h("thead", h("tr", columns.map((one) => h(one.numeric ? "th.n" : "th", { scope: "col" }, one.head)))),
      h("tbody", rows.map((row) => h("tr", rowProps(row), columns.map((one) => h(one.numeric ? "td.n" : "td", { "data-head": one.head }, one.cell(row))))))));
}
