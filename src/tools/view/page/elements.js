"use strict";
// All content of a bundle becomes text of the page here, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

// Characters that are invisible or change the direction of the text: shown as \u202e.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function shown(text) {
  return String(text).replace(UNSEEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "onclick") element.addEventListener("click", value);
    else if (key === "style") for (const [name, to] of Object.entries(value)) element.style.setProperty(name, to);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function table(head, rows, numbers) {
  const right = (i) => (numbers && numbers.includes(i) ? { class: "number" } : null);
  return el("div", { class: "scroll" }, el("table", null,
    head && el("thead", null, el("tr", null, head.map((cell, i) => el("th", right(i), cell)))),
    el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, i) => el("td", right(i), cell)))))));
}

const remark = (text, bad) => el("p", { class: bad ? "remark bad" : "remark" }, text);
const badge = (text, kind) => el("span", { class: "badge " + (kind || "") }, text);
const link = (text, go) => el("button", { class: "link", onclick: go }, text);
const section = (title, ...children) => [el("h3", null, title), children];

// Long sections are folded and created when opened, so the page of a large model loads quickly.
function folded(title, open, make) {
  const box = el("details", { open }, el("summary", null, el("h3", null, title)));
  const show = () => { if (box.childElementCount === 1) box.append(...[make()].flat(3).filter(Boolean)); };
  if (open) show();
  box.addEventListener("toggle", () => { if (box.open) show(); });
  box.showAll = show;
  return box;
}

function number(value) {
  if (typeof value !== "number") return value === null || value === undefined ? "–" : String(value);
  if (value === 0 || Number.isInteger(value) && Math.abs(value) < 1e7) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  return size < 1e-3 || size >= 1e5 ? value.toExponential(2) : value.toPrecision(4).replace(/\.?0+$/, "");
}

function bytes(count) {
  for (const unit of ["B", "kB", "MB"]) {
    if (count < 1000) return (unit === "B" ? count : count.toPrecision(3)) + " " + unit;
    count /= 1000;
  }
  return count.toPrecision(3) + " GB";
}

const plural = (count, noun) => number(count) + " " + noun + (count === 1 ? "" : "s");
const type = (port) => port.dtype + " [" + port.shape.join(", ") + "]";
