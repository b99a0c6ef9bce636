// Pointer work on the strip of the widget that this view stands in: a click reads a block, dragging the mark moves the cut.
// In a heat map a click, Enter or the space bar chooses a cell, and arrow keys go from cell to cell.
// It only says where the pointer was, or which cell is meant; what that means is decided in the kernel.
// Everything done here can also be done with the controls of the widget.

const EVERY_MS = 60;

function within(strip, event) {
  const box = strip.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// Which heat map, row and column a cell is; the heads of rows and columns don't count.
function place_of(cell) {
  const table = cell.closest(".hnb-heat");
  return { column: Number(table.dataset.column), at: cell.parentElement.sectionRowIndex, n: cell.cellIndex - 1 };
}

function cell_at(root, { column, at, n }) {
  return root.querySelector(`.hnb-heat[data-column="${column}"] tbody`)?.rows[at]?.querySelectorAll("td")[n];
}

function choose_cells(root, model, signal) {
  let kept = null; // the cell that had the focus when the kernel was asked to draw the table anew
  const choose = (cell) => {
    kept = place_of(cell);
    model.send({ kind: "cell", ...kept });
  };
  const cell_of = (event) => event.target.closest?.(".hnb-heat td");

  root.addEventListener("click", (event) => {
    const cell = cell_of(event);
    if (cell) choose(cell);
  }, { signal });

  root.addEventListener("keydown", (event) => {
    const cell = cell_of(event);
    if (!cell) return;
    const step = STEPS[event.key];
    if (!step && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) return choose(cell);
    const { column, at, n } = place_of(cell);
    cell_at(root, { column, at: at + step[0], n: n + step[1] })?.focus();
  }, { signal });

  const drawn = new MutationObserver(() => {
    const is_lost = document.activeElement === document.body || document.activeElement === null;
    if (kept && is_lost) cell_at(root, kept)?.focus({ preventScroll: true });
  });
  drawn.observe(root, { childList: true, subtree: true });
  signal.addEventListener("abort", () => drawn.disconnect());
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
    if (root) {
      listen(root, model, ended.signal);
      choose_cells(root, model, ended.signal);
    }
    else if (waits++ < 600) requestAnimationFrame(attach);
  };
  attach();
  return () => ended.abort();
}

export default { render };
