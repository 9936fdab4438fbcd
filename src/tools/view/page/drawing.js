// The drawing: Graphviz's if there is one, otherwise layers of plain boxes; pan, zoom, selection.

const drawing = { box: document.getElementById("drawing"), root: null, view: null, things: new Map() };

// The SVG of Graphviz, with the bundle object of each part. Its edges are numbered in the order of
// src/tools/viz/dot.cpp: inputs, outputs, wires.
function graphvizDrawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") return null;
  const root = document.importNode(parsed, true);
  for (const unwanted of root.querySelectorAll("script, foreignObject, image, a")) unwanted.remove();
  const edges = [
    ...data.inputs.map((port) => ({ kind: "port", port, side: "inputs" })),
    ...data.outputs.map((port) => ({ kind: "port", port, side: "outputs" })),
    ...data.wires.map((_, index) => ({ kind: "wire", index })),
  ];
  for (const group of root.querySelectorAll("g.edge")) {
    const thing = edges[parseInt(group.id.replace("edge", ""), 10) - 1];
    for (const path of group.querySelectorAll("path")) {
      const wide = path.cloneNode();  // a line is too thin to click
      wide.setAttribute("class", "wide");
      for (const name of ["stroke", "stroke-width", "stroke-dasharray"]) wide.removeAttribute(name);
      group.prepend(wide);
    }
    if (thing) adopt(group, thing);
  }
  for (const group of root.querySelectorAll("g.node")) {
    const [, kind, index] = /^(n|in|out)(\d+)$/.exec(group.querySelector("title").textContent) || [];
    if (kind === "n") adopt(group, { kind: "node", node: data.nodes[index] });
    if (kind === "in") adopt(group, { kind: "port", port: data.inputs[index], side: "inputs" });
    if (kind === "out") adopt(group, { kind: "port", port: data.outputs[index], side: "outputs" });
  }
  for (const title of root.querySelectorAll("title")) title.remove();
  for (const text of root.querySelectorAll("text")) text.textContent = shown(text.textContent);
  return root;
}

// Boxes in columns: a node is to the right of all nodes that it reads from.
function plainDrawing() {
  const columns = new Map(), place = new Map(), filled = [];
  const sources = new Map(data.nodes.map((node) => [node.name, []]));
  for (const wire of data.wires) {
    if (!wire.feedback) sources.get(nodeOf(wire.target)).push(nodeOf(wire.source));
  }
  for (const index of data.order) {
    const name = data.nodes[index].name;
    const column = Math.max(-1, ...sources.get(name).map((source) => columns.get(source))) + 1;
    columns.set(name, column);
    filled[column] = (filled[column] || 0) + 1;
    place.set(name, [column * 230, (filled[column] - 1) * 64]);
  }
  // A long chain is folded like text.
  const fold = Math.ceil(Math.sqrt(filled.length * 1.2)) + 2;
  if (filled.length > 30 && Math.max(...filled) <= 3) {
    const tall = 64 * Math.max(...filled) + 40;
    for (const [name, column] of columns) {
      const [, y] = place.get(name);
      place.set(name, [(column % fold) * 230, Math.floor(column / fold) * tall + y]);
    }
  }
  const root = svg("svg", { class: "plain" });
  data.wires.forEach((wire, index) => {
    const [x1, y1] = place.get(nodeOf(wire.source)), [x2, y2] = place.get(nodeOf(wire.target));
    const bend = Math.min(140, Math.max(40, Math.abs(x2 - x1 - 180) / 2));
    const d = `M${x1 + 180},${y1 + 22} C${x1 + 180 + bend},${y1 + 22} ${x2 - bend},${y2 + 22} ${x2},${y2 + 22}`;
    const group = svg("g", { class: wire.feedback ? "edge back" : "edge" }, svg("path", { class: "wide", d }), svg("path", { d }));
    adopt(group, { kind: "wire", index });
    root.append(group);
  });
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  for (const node of data.nodes) {
    const [x, y] = place.get(node.name);
    const group = svg("g", { class: "node", transform: `translate(${x},${y})` }, svg("rect", { width: 180, height: 44 }),
      svg("text", { x: 10, y: 19 }, cut(node.name, 24)),
      svg("text", { x: 10, y: 35, class: "faint" },
        (node.backend || "no model") + ", " + node.inputs.length + " in, " + node.outputs.length + " out"));
    adopt(group, { kind: "node", node });
    root.append(group);
  }
  return root;
}

// Makes a part of the drawing selectable.
function adopt(group, thing) {
  group.classList.add("thing");
  group.setAttribute("tabindex", "0");
  group.setAttribute("role", "button");
  group.setAttribute("aria-label", shown(labelOf(thing)));
  group.addEventListener("click", () => { if (!drawing.dragged) go(addressOf(thing)); });
  group.addEventListener("keydown", (event) => { if (event.key === "Enter") go(addressOf(thing)); });
  const address = addressOf(thing);
  if (!drawing.things.has(address)) drawing.things.set(address, []);
  drawing.things.get(address).push(group);
}

function makeDrawing() {
  drawing.root = (data.svg && graphvizDrawing(data.svg)) || plainDrawing();
  drawing.root.removeAttribute("width");
  drawing.root.removeAttribute("height");
  drawing.box.append(drawing.root);
  if (data.drawing_remark) drawing.box.append(remark("Drawn by this page itself: " + data.drawing_remark));
  const box = drawing.root.getBBox();  // Graphviz's own box has other units
  drawing.whole = { x: box.x - 24, y: box.y - 24, width: box.width + 48, height: box.height + 48 };
  if (data.diff) markChanged();
  fitDrawing();
  for (const [name, handle] of Object.entries({ wheel: onWheel, pointerdown: onPointerDown })) {
    drawing.box.addEventListener(name, handle, { passive: false });
  }
}

function markChanged() {
  const changed = new Set(data.diff.differences.map((each) => each.where.split(/[/:]/)[0]));
  for (const node of data.nodes) {
    if (!changed.has(node.name)) continue;
    for (const group of drawing.things.get(addressOf({ kind: "node", node })) || []) group.classList.add("changed");
  }
}

function setView(view) {
  drawing.view = view;
  drawing.root.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
}

// Shows the whole drawing, but never enlarged: a small pipeline in a wide window keeps its size.
function fitDrawing() {
  const size = drawing.box.getBoundingClientRect();
  const scale = Math.max(drawing.whole.width / size.width, drawing.whole.height / size.height, 0.62) || 1;
  const width = size.width * scale, height = size.height * scale;
  setView({ x: drawing.whole.x + (drawing.whole.width - width) / 2,
            y: drawing.whole.y + (drawing.whole.height - height) / 2, width, height });
}

function zoom(factor, px, py) {
  const size = drawing.box.getBoundingClientRect(), view = drawing.view;
  const fx = px === undefined ? 0.5 : (px - size.left) / size.width;
  const fy = py === undefined ? 0.5 : (py - size.top) / size.height;
  const width = Math.min(Math.max(view.width * factor, 60), drawing.whole.width * 20);
  const height = width * view.height / view.width;
  setView({ x: view.x + (view.width - width) * fx, y: view.y + (view.height - height) * fy, width, height });
}

function pan(dx, dy) {
  const size = drawing.box.getBoundingClientRect(), view = drawing.view;
  setView({ ...view, x: view.x - dx * view.width / size.width, y: view.y - dy * view.height / size.height });
}

function onWheel(event) {
  event.preventDefault();
  zoom(Math.exp(event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX, event.clientY);
}

function onPointerDown(event) {
  if (event.button !== 0) return;
  let from = [event.clientX, event.clientY];
  drawing.dragged = false;
  const move = (next) => {
    const dx = next.clientX - from[0], dy = next.clientY - from[1];
    if (!drawing.dragged && Math.hypot(dx, dy) < 4) return;
    drawing.dragged = true;
    drawing.box.classList.add("dragging");
    pan(dx, dy);
    from = [next.clientX, next.clientY];
  };
  const up = () => {
    window.removeEventListener("pointermove", move);
    drawing.box.classList.remove("dragging");
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", up, { once: true });
}

function markChosen(address) {
  for (const group of drawing.root.querySelectorAll(".chosen")) group.classList.remove("chosen");
  for (const group of drawing.things.get(address) || []) {
    group.classList.add("chosen");
    bringIntoView(group);
  }
}

// Pans until the object is visible, without zooming.
function bringIntoView(group) {
  const at = group.getBoundingClientRect(), size = drawing.box.getBoundingClientRect();
  if (at.width === 0 || at.right > size.left && at.left < size.right && at.bottom > size.top && at.top < size.bottom) return;
  pan((size.left + size.right - at.left - at.right) / 2, (size.top + size.bottom - at.top - at.bottom) / 2);
}
