// Many things of one kind: one stop for Tab, and arrow keys between them.

/** One stop for Tab, arrow keys between the others. */
export function roving(box, selector, across) {
  const all = [...box.querySelectorAll(selector)];
  if (!all.length) return;
  all[0].setAttribute("tabindex", 0);
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
  box.addEventListener("keydown", (event) => {
    const from = all.indexOf(event.target);
    const to = all[from + (steps[event.key] ?? 0)];
    if (from < 0 || !steps[event.key] || !to) return;
    event.preventDefault();
    event.target.setAttribute("tabindex", -1);
    to.setAttribute("tabindex", 0);
    to.focus();
  });
}
