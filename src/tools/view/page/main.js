// Selects the content by the page's address; keys, search, theme and print.

const panel = document.getElementById("panel"), search = document.getElementById("search");

// Returns the object that an address (#node=policy) refers to, or null.
function thingAt(address) {
  const at = address.indexOf("=");
  if (at < 0) return null;
  let name = "";
  try { name = decodeURIComponent(address.slice(at + 1)); } catch { return null; }
  const kind = address.slice(0, at);
  if (kind === "node" && nodes.has(name)) return { kind, node: nodes.get(name) };
  if ((kind === "inputs" || kind === "outputs") && data[kind].includes(name)) return { kind: "port", port: name, side: kind };
  const index = data.wires.findIndex((wire) => wire.source + "\n" + wire.target === name);
  return kind === "wire" && index >= 0 ? { kind, index } : null;
}

function show() {
  const address = location.hash.slice(1), thing = thingAt(address);
  const back = el("p", { class: "small" }, link("← the whole bundle", () => go("")));
  const content = !thing ? showOverview()
    : [back, thing.kind === "node" ? showNode(thing.node) : thing.kind === "wire" ? showWire(thing.index) : showPort(thing.port, thing.side)];
  panel.replaceChildren(...content.flat(4).filter(Boolean));
  panel.scrollTop = 0;
  markChosen(thing ? addressOf(thing) : "");
  document.title = shown(thing ? labelOf(thing) + " · " + data.title : data.title);
}

function go(address) {
  if (location.hash.slice(1) === address) show();
  else location.hash = address;
}

function onSearch() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [address, groups] of drawing.things) {
    const thing = thingAt(address);
    const text = thing ? labelOf(thing).toLowerCase() : "";
    const matches = words.length === 0 || words.every((word) => text.includes(word));
    for (const group of groups) group.classList.toggle("dim", !matches);
  }
  if (words.length === 0) show();
  else panel.replaceChildren(...showResults(words));
}

// Returns the next node in the order of execution, or the previous one.
function step(by) {
  const thing = thingAt(location.hash.slice(1));
  const now = thing && thing.kind === "node" ? data.order.indexOf(data.nodes.indexOf(thing.node)) : by > 0 ? -1 : data.order.length;
  const next = data.order[now + by];
  if (next !== undefined) go(addressOf({ kind: "node", node: data.nodes[next] }));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("leapp-theme", theme); } catch { /* a page from a file may have no storage */ }
}
const dark = () => document.documentElement.dataset.theme === "dark";

const KEYS = [
  ["/", "search", () => search.focus()], ["Esc", "the whole bundle", () => { search.value = ""; onSearch(); go(""); fitDrawing(); }],
  ["j", "next node", () => step(1)], ["k", "node before", () => step(-1)],
  ["+", "zoom in", () => zoom(0.8)], ["-", "zoom out", () => zoom(1.25)], ["0", "fit the drawing", fitDrawing],
  ["←", "pan", () => pan(60, 0)], ["→", "pan", () => pan(-60, 0)], ["↑", "pan", () => pan(0, 60)], ["↓", "pan", () => pan(0, -60)],
  ["t", "light or dark", () => setTheme(dark() ? "light" : "dark")], ["?", "these keys", () => showKeys()],
];
const ARROWS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", "=": "+" };

function showKeys() {
  const dialog = document.getElementById("keys");
  dialog.replaceChildren(el("h2", null, "Keys"), table(null, KEYS.map(([key, what]) => [el("kbd", null, key), what])),
    el("p", { class: "faint small" }, "Drag to pan, scroll to zoom. Tab and Enter choose in the drawing."));
  dialog.showModal();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
  const key = ARROWS[event.key] || event.key;
  if (event.target === search) {
    if (key === "Esc") { search.value = ""; onSearch(); search.blur(); }
    if (key === "Enter") { const first = panel.querySelector(".results .link"); if (first) { first.click(); search.blur(); } }
    return;
  }
  const scrolls = panel.contains(event.target) && "←→↑↓".includes(key);
  const found = KEYS.find(([name]) => name === key);
  if (!found || scrolls) return;
  event.preventDefault();
  found[2]();
}

// For printing, shows all panels one after the other.
function preparePrint() {
  const whole = drawing.root.cloneNode(true);
  whole.setAttribute("class", (whole.getAttribute("class") || "") + " whole");
  whole.setAttribute("viewBox", [drawing.whole.x, drawing.whole.y, drawing.whole.width, drawing.whole.height].join(" "));
  const theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  window.addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = theme;
    document.getElementById("printed").replaceChildren();
  }, { once: true });
  const printed = document.getElementById("printed");
  printed.replaceChildren(whole, ...showOverview().flat(4).filter(Boolean),
    ...data.order.map((index) => el("article", null, showNode(data.nodes[index]))));
  for (const box of printed.querySelectorAll("details")) { box.showAll(); box.open = true; }
}

function resizePanel(event) {
  event.preventDefault();
  const move = (next) => { panel.style.width = Math.min(Math.max(window.innerWidth - next.clientX, 260), window.innerWidth - 200) + "px"; };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", () => window.removeEventListener("pointermove", move), { once: true });
}

function begin() {
  let theme = null;
  try { theme = localStorage.getItem("leapp-theme"); } catch { /* none */ }
  document.documentElement.dataset.theme = theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.getElementById("title").textContent = shown(data.title);
  const frequency = data.configs.frequency;
  document.getElementById("facts").textContent = shown([plural(data.nodes.length, "node"), plural(data.wires.length, "wire"),
    typeof frequency === "number" ? number(frequency) + " Hz" : null, data.diff ? "compared with " + data.diff.before : null].filter(Boolean).join(" · "));
  makeDrawing();
  show();
  window.addEventListener("hashchange", show);
  window.addEventListener("keydown", onKey);
  window.addEventListener("beforeprint", preparePrint);
  search.addEventListener("input", onSearch);
  document.getElementById("divider").addEventListener("pointerdown", resizePanel);
  for (const [id, act] of Object.entries({ fit: fitDrawing, theme: () => setTheme(dark() ? "light" : "dark"), print: () => window.print(), help: showKeys })) {
    document.getElementById(id).addEventListener("click", act);
  }
  document.documentElement.dataset.ready = "yes";
}

begin();
