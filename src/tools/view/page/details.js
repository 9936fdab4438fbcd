// The panel's content for a node, a wire or a port.

const nodeOf = (ref) => ref.slice(0, ref.indexOf("/"));
const portOf = (ref) => ref.slice(ref.indexOf("/") + 1);
const nodes = new Map(data.nodes.map((node) => [node.name, node]));
const findPort = (ref, side) => nodes.get(nodeOf(ref))[side].find((port) => port.name === portOf(ref));

function labelOf(thing) {
  if (thing.kind === "node") return "node " + thing.node.name;
  if (thing.kind === "port") return (thing.side === "inputs" ? "input " : "output ") + thing.port;
  const wire = data.wires[thing.index];
  return (wire.feedback ? "feedback " : "wire ") + wire.source + " to " + wire.target;
}

// The part of the page's address after #, so that a link can open a node.
function addressOf(thing) {
  if (thing.kind === "node") return "node=" + encodeURIComponent(thing.node.name);
  if (thing.kind === "port") return thing.side + "=" + encodeURIComponent(thing.port);
  const wire = data.wires[thing.index];
  return "wire=" + encodeURIComponent(wire.source + "\n" + wire.target);
}
const goNode = (name) => () => go(addressOf({ kind: "node", node: nodes.get(name) }));
const goPort = (port, side) => () => go(addressOf({ kind: "port", port, side }));
const goWire = (index) => () => go(addressOf({ kind: "wire", index }));

// Returns a name for each element, from the names of the last dimensions.
function elementNames(port) {
  if (!port.element_names) return [];
  const sizes = port.shape, missing = sizes.length - port.element_names.length;
  const count = sizes.reduce((a, b) => a * b, 1);
  if (count > 4096) return [];
  return Array.from({ length: count }, (_, index) => {
    const words = [];
    for (let axis = sizes.length - 1, rest = index; axis >= 0; --axis) {
      const at = rest % sizes[axis], names = axis >= missing ? port.element_names[axis - missing] : null;
      rest = Math.floor(rest / sizes[axis]);
      if (Array.isArray(names)) words.unshift(names[at]);
      else if (sizes[axis] > 1) words.unshift(names ? "t" + at : at);
    }
    return words.join(" ");
  });
}

function meaning(port) {
  const extra = Object.entries(port.extra || {});
  const temporal = (port.element_names || []).find((names) => names && names.temporal_period_ms);
  return [
    port.kind && el("div", null, port.kind),
    temporal && el("div", { class: "faint small" }, "a step every " + number(temporal.temporal_period_ms) + " ms"),
    extra.map(([key, value]) => el("div", { class: "small" }, el("span", { class: "faint" }, key + ": "),
      typeof value === "object" ? JSON.stringify(value) : value)),
    (port.element_names || []).filter(Array.isArray).map((names) =>
      el("div", { class: "chips" }, names.slice(0, 64).map((name) => el("span", { class: "chip" }, name)),
        names.length > 64 && el("span", { class: "chip" }, "… " + names.length + " in all"))),
  ];
}

// Returns the ports that a port's values come from or go to.
function partners(ref, side) {
  const found = data.wires.flatMap((wire, index) =>
    (side === "inputs" ? wire.target : wire.source) === ref
      ? [el("div", null, badge(wire.feedback ? "feedback" : "wire", wire.feedback ? "bad" : ""), " ",
            link((side === "inputs" ? "from " + wire.source : "to " + wire.target), goWire(index)))] : []);
  if (data[side].includes(ref)) {
    found.push(el("div", null, badge(side === "inputs" ? "input" : "output", side === "inputs" ? "good" : "warn"), " ",
      link("of the pipeline", goPort(ref, side))));
  }
  return found;
}

function portTable(node, side) {
  if (node[side].length === 0) return el("p", { class: "faint" }, "none");
  return el("div", { class: "ports" }, table(null, node[side].map((port) => [
    el("div", null, el("strong", null, port.name), el("div", { class: "faint mono" }, type(port))),
    [partners(node.name + "/" + port.name, side), meaning(port)],
  ])));
}

function operatorTable(node) {
  const rows = node.operators.map((op) => [
    [el("span", { style: { "padding-left": (op.depth || 0) * 14 + "px" } }, el("strong", null, op.type)),
      op.from && el("div", { class: "faint small" }, op.from), op.module && el("div", { class: "faint small" }, "module " + op.module)],
    [op.where && el("div", { class: "mono where" }, op.where),
      op.outputs && el("div", { class: "faint small" }, (op.inputs || []).filter(Boolean).join(", ") + " → " + op.outputs.join(", "))],
  ]);
  return [el("div", { class: "operators" }, table(["operator", "source line, values"], rows)),
    node.operators_count > node.operators.length && remark("The first " + number(node.operators.length) + " of " + plural(node.operators_count, "operator") + ".")];
}

function weightTable(node) {
  const same = (weight) => weight.min !== undefined && weight.min === weight.max && !weight.nan && !weight.infinite;
  const facts = (weight) => same(weight) ? number(weight.min) + (weight.count > 1 ? " everywhere" : "") : [
    weight.min !== undefined && number(weight.min) + " … " + number(weight.max),
    weight.mean !== undefined && el("div", { class: "faint small" }, "mean " + number(weight.mean) + ", deviation " + number(weight.deviation)),
    weight.zero > 0 && el("div", { class: "faint small" }, plural(weight.zero, "zero")),
    (weight.nan > 0 || weight.infinite > 0) && badge(number(weight.nan || 0) + " NaN, " + number(weight.infinite || 0) + " infinite", "bad"),
  ];
  return [table(["tensor", "distribution", ""], node.weights.map((weight) => [
    [el("strong", null, weight.name), el("div", { class: "faint mono" }, type(weight))], facts(weight), !same(weight) && histogram(weight)])),
    node.weights_count > node.weights.length && remark("The first " + number(node.weights.length) + " of " + plural(node.weights_count, "tensor") + ".")];
}

// The results of validation.json: the worst sample of each output; all samples on request.
function validationOf(name) {
  const found = ((data.validation || {}).nodes || []).find((each) => each.node === name);
  if (!found) return null;
  const rows = found.samples.flatMap((sample) => sample.outputs.map((output) => ({ label: sample.label, output, difference: output.difference || {} })));
  const severity = (row) => (row.output.passed ? 0 : 1e300) + (row.difference.max || 0);
  const worst = new Map();
  for (const row of rows) {
    const former = worst.get(row.output.name);
    if (!former || severity(row) > severity(former)) worst.set(row.output.name, row);
  }
  const cells = ({ label, output, difference }) => [output.name, label,
    badge(output.passed ? "pass" : output.verdict || "fail", output.passed ? "good" : "bad"),
    number(difference.max), number(difference.mean), number(difference.p99)];
  const figures = (list, label) => table(["output", label, "", "max error", "mean", "p99"], list.map(cells), [3, 4, 5]);
  return section("Validation", found.error && remark(found.error, true),
    found.not_compared && remark("Not compared: " + found.not_compared),
    worst.size > 0 && figures([...worst.values()], "worst sample"),
    rows.length > worst.size && folded("All " + plural(found.samples.length, "sample"), false, () => figures(rows, "sample")));
}

// The values that the node exports as constants, from diagnostics.json.
function constantsOf(name) {
  const found = (data.constants || []).find((each) => each.node === name);
  if (!found || found.weights.length + found.constants.length === 0) return null;
  return section("Constants", [...found.weights, ...found.constants].map((each) => el("p", { class: "small" },
    each.acknowledged === false && badge("not acknowledged", "warn"), each.acknowledged === false && " ", each.text)));
}

// Latencies of the step that contains this node: nodes that ran as one are one step, "pre+policy".
function latencyOf(name) {
  const step = Object.entries((data.bench || {}).nodes || {}).find(([key]) => key === name || key.split("+").includes(name));
  return step ? section("Latency", latencyTable([step])) : null;
}

const us = (value) => (typeof value !== "number" ? "–" : value >= 1000 ? number(value / 1000) + " ms" : number(value) + " µs");

function latencyTable(rows) {
  return table(["", "mean", "p50", "p99", "p99.9", "max"],
    rows.map(([name, s]) => [name, us(s.mean_us), us(s.p50_us), us(s.p99_us), us(s.p999_us), us(s.max_us)]), [1, 2, 3, 4, 5]);
}

function showNode(node) {
  return [
    el("h2", null, node.name, " ", badge(node.backend || "no model", node.backend ? "" : "warn")),
    el("p", { class: "faint" }, node.file && el("span", { class: "mono" }, node.file),
      node.file && " · " + bytes(node.bytes), node.opset && " · opset " + node.opset,
      node.operators_count > 0 && " · " + plural(node.operators_count, "operator"), " · " + plural(node.parameters, "parameter")),
    node.schedule && el("p", null, badge("schedule"), " ", node.schedule),
    node.sha256 && el("p", { class: "faint small", title: "sha256 " + node.sha256 }, "sha256 ", el("code", null, node.sha256.slice(0, 16) + "…")),
    node.remarks.map((text) => remark(text, true)),
    differencesOf((where) => where === node.name || where.startsWith(node.name + "/") || where.startsWith(node.name + ":")),
    section("Inputs", portTable(node, "inputs")),
    section("Outputs", portTable(node, "outputs")),
    constantsOf(node.name), validationOf(node.name), latencyOf(node.name),
    node.operators.length > 0 && folded("Operators (" + number(node.operators_count) + ")", node.operators.length <= 200, () => operatorTable(node)),
    node.code && folded("Code", true, () => el("pre", null, node.code)),
    node.weights.length > 0 && folded("Weights (" + number(node.weights_count) + ")", node.weights.length <= 200, () => weightTable(node)),
  ];
}

// Returns the plots of a port's values in the golden traces and in the recording.
function flows(candidates, port) {
  const names = elementNames(port);
  const found = [["golden", "Golden trace"], ["recording", "Recorded run"]].flatMap(([key, title]) => {
    const ports = (data[key] || {}).ports || {};
    const match = candidates.find((name) => ports[name]);
    return match ? [section(title, timeline(ports[match], names))] : [];
  });
  return found.length > 0 ? found
    : el("p", { class: "faint" }, "What flowed here was not kept: golden traces in the bundle, or a recording (--recording), would show it.");
}

function showWire(index) {
  const wire = data.wires[index], source = findPort(wire.source, "outputs"), target = findPort(wire.target, "inputs");
  const end = (ref, port) => [link(ref, goNode(nodeOf(ref))), meaning(port)];
  return [
    el("h2", null, portOf(wire.source), " → ", portOf(wire.target), " ", badge(wire.feedback ? "feedback" : "wire", wire.feedback ? "bad" : "")),
    el("p", { class: "faint" }, el("span", { class: "mono" }, type(source)),
      wire.feedback ? " · read in the next tick" : " · read in the same tick"),
    table(null, [["from", end(wire.source, source)], ["to", end(wire.target, target)]]),
    flows(["outputs/" + wire.source, "inputs/" + wire.target], source),
  ];
}

function showPort(ref, side) {
  const port = findPort(ref, side);
  return [
    el("h2", null, portOf(ref), " ", badge(side === "inputs" ? "input" : "output", side === "inputs" ? "good" : "warn")),
    el("p", { class: "faint" }, el("span", { class: "mono" }, type(port)), " · of ", link(nodeOf(ref), goNode(nodeOf(ref)))),
    meaning(port), bindingOf(ref), flows([side + "/" + ref], port),
  ];
}
