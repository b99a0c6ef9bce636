// Pointer work on the strip of the widget that this view stands in: a click reads a block, dragging the mark moves the cut.
// It only says where the pointer was, as a part of the strip's width; what that means is decided in the kernel.
// Everything done here can also be done with the controls of the widget.

const EVERY_MS = 60;

function within(strip, event) {
  const box = strip.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

function listen(root, model, signal) {
  let dragged = null;
  let last = 0;
  const column = (node) => Number(node.closest("[data-column]")?.dataset.column ?? 0);
  const say = (kind, strip, event) => model.send({ kind, share: within(strip, event), column: column(strip) });
  const strip_of = (event) => event.target.closest?.(".hnb-strip");

  root.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest?.(".hnb-handle");
    if (!handle) return;
    dragged = handle.closest(".hnb-strip");
    event.preventDefault();
  }, { signal });

  window.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const strip = dragged.isConnected ? dragged : root.querySelector(".hnb-strip");
    if (!strip) return;
    dragged = strip;
    const handle = strip.querySelector(".hnb-handle");
    if (handle) handle.style.left = `${100 * within(strip, event)}%`;
    if (event.timeStamp - last < EVERY_MS) return;
    last = event.timeStamp;
    say("drag", strip, event);
  }, { signal });

  window.addEventListener("pointerup", (event) => {
    if (!dragged) return;
    const strip = dragged.isConnected ? dragged : root.querySelector(".hnb-strip");
    dragged = null;
    if (strip) say("drag", strip, event);
  }, { signal });

  root.addEventListener("click", (event) => {
    const strip = strip_of(event);
    if (strip && !event.target.closest(".hnb-handle")) say("click", strip, event);
  }, { signal });
}

function render({ model, el }) {
  el.classList.add("hnb-pointer");
  const ended = new AbortController();
  let waits = 0;
  const attach = () => {
    if (ended.signal.aborted) return;
    const root = el.closest(".hnb-widget");
    if (root) listen(root, model, ended.signal);
    else if (waits++ < 600) requestAnimationFrame(attach);
  };
  attach();
  return () => ended.abort();
}

export default { render };
