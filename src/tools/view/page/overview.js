// The panel's content for the whole bundle: wires, measurements, robot, differences, search.

function bindingTable(port) {
  return [el("p", null, el("strong", null, port.port), " ", port.kind && el("span", { class: "faint" }, port.kind)),
    port.elements.length > 0
      ? table(["element", "robot", "×"], port.elements.map((each) => [each.name, each.signal, each.factor === 1 ? "" : number(each.factor)]), [2])
      : el("p", { class: "faint" }, "not bound"),
    port.remarks.map((text) => el("p", { class: "faint small" }, text))];
}

function bindingOf(ref) {
  const ports = data.robot ? [...data.robot.inputs, ...data.robot.outputs] : [];
  const found = ports.find((port) => port.port === ref);
  return found ? section("On the robot", bindingTable(found)) : null;
}

function showRobot() {
  if (!data.robot) return null;
  const fits = data.robot.problems.length === 0;
  return section("Robot",
    el("p", null, badge(fits ? "fits" : "does not fit", fits ? "good" : "bad"), " ",
      el("span", { class: "mono" }, data.robot.file), " · " + number(data.robot.rate) + " Hz"),
    data.robot.problems.map((text) => remark(text, true)),
    data.robot.remarks.map((text) => el("p", { class: "faint small" }, text)),
    folded("Binding", true, () => [...data.robot.inputs, ...data.robot.outputs].map(bindingTable)));
}

function showValidation() {
  if (!data.validation) return null;
  const worst = (node) => node.samples.flatMap((sample) => sample.outputs.map((output) => (output.difference || {}).max || 0))
    .reduce((a, b) => Math.max(a, b), 0);
  return section("Validation",
    table(["node", "", "samples", "worst error"], data.validation.nodes.map((node) => [
      nodes.has(node.node) ? link(node.node, goNode(node.node)) : node.node,
      badge(node.not_compared ? "not compared" : node.passed ? "pass" : "fail", node.not_compared ? "warn" : node.passed ? "good" : "bad"),
      node.samples.length, number(worst(node))]), [2, 3]),
    el("p", { class: "faint small" }, "rtol " + number(data.validation.rtol) + ", atol " + number(data.validation.atol)));
}

function showBench() {
  if (!data.bench) return null;
  const steps = Object.entries(data.bench.nodes), most = Math.max(1e-9, ...steps.map(([, s]) => s.mean_us || 0));
  return section("Latency",
    latencyTable([...steps, ["tick", data.bench.tick]]),
    steps.length > 1 && steps.map(([name, s]) => el("div", { class: "small faint" }, name,
      el("div", { class: "bar", style: { width: Math.round(100 * (s.mean_us || 0) / most) + "%" } }))),
    el("p", { class: "faint small" }, plural(data.bench.ticks, "tick"),
      data.bench.period_us && " · " + number(data.bench.frequency) + " Hz leave " + us(data.bench.period_us) + " a tick, " + plural(data.bench.misses, "tick") + " took longer"));
}

function showRecording() {
  if (!data.recording) return null;
  const period = data.recording.period, events = Object.entries(data.recording.events);
  return section("Recorded run",
    el("p", null, plural(data.recording.ticks, "tick") + " of the loop"),
    period && table(["between ticks", "mean", "p50", "p99", "p99.9", "max"],
      [["ms", period.mean_ms, period.p50_ms, period.p99_ms, period.p999_ms, period.max_ms].map((v, i) => (i ? number(v) : v))], [1, 2, 3, 4, 5]),
    events.length > 0 && table(["what the controller did", "times"], events.map(([name, count]) => [name, number(count)]), [1]));
}

function showGolden() {
  if (!data.golden) return null;
  if (data.golden.remark) return section("Golden trace", remark(data.golden.remark, true));
  return section("Golden trace", el("p", null, plural(data.golden.ticks, "tick") + " kept: choose a wire or a port to see what flowed. ", el("code", null, "leapp verify"), " replays them."));
}

// Returns a section with the differences whose place `here` accepts.
function differencesOf(here) {
  if (!data.diff) return null;
  const found = data.diff.differences.filter((each) => here(each.where));
  return found.length > 0 ? section("Differences to " + data.diff.before, differenceTable(found)) : null;
}

function differenceTable(differences) {
  return table(["what", "where", "before", "after"], differences.map((each) => {
    const name = each.where.split(/[/:]/)[0];
    const kind = each.before === null ? "good" : each.after === null ? "bad" : "warn";
    return [badge(each.kind, kind), nodes.has(name) ? link(each.where, goNode(name)) : each.where,
      each.worst ? number(each.worst.before) : each.before === null ? "–" : each.before,
      each.worst ? [number(each.worst.after), el("div", { class: "faint small" }, "worst error " + number(each.worst.error) + ", element " + number(each.worst.index))]
        : each.after === null ? "–" : each.after];
  }));
}

function showDiff() {
  if (!data.diff) return null;
  return section("Differences to " + data.diff.before,
    data.diff.same && el("p", { class: "good" }, "None."), differenceTable(data.diff.differences),
    el("p", { class: "faint small" }, plural(data.diff.equal_weights, "tensor") + " equal"));
}

function wireList() {
  if (data.wires.length === 0) return el("p", { class: "faint" }, "none");
  return folded("Wires (" + number(data.wires.length) + ")", data.wires.length <= 200, () => table(null, data.wires.map((wire, index) =>
    [badge(wire.feedback ? "feedback" : "wire", wire.feedback ? "bad" : ""), link(wire.source + " → " + wire.target, goWire(index))])));
}

function portList(side) {
  return table(null, data[side].map((ref) => {
    const port = findPort(ref, side);
    return [[link(ref, goPort(ref, side)), el("div", { class: "faint mono" }, type(port))], port.kind || ""];
  }));
}

function showOverview() {
  const configs = Object.entries(data.configs), parameters = data.nodes.reduce((sum, node) => sum + node.parameters, 0);
  return [
    el("h2", null, data.title),
    el("p", { class: "faint" }, plural(data.nodes.length, "node"), " · ", plural(parameters, "parameter"), " · ", el("span", { class: "mono" }, data.file)),
    data.integrity && remark(data.integrity, true),
    showDiff(), showValidation(), showBench(), showRecording(), showGolden(), showRobot(),
    section("Inputs", portList("inputs")), section("Outputs", portList("outputs")),
    folded("Nodes (" + number(data.nodes.length) + ")", data.nodes.length <= 200, () => table(null, data.order.map((index) => data.nodes[index]).map((node) => [
      link(node.name, goNode(node.name)), badge(node.backend || "no model", node.backend ? "" : "warn"), plural(node.parameters, "parameter"), node.schedule || ""]), [2])),
    wireList(),
    configs.length > 0 && section("Configs", table(null, configs.map(([key, value]) => [key, typeof value === "object" ? el("code", null, JSON.stringify(value)) : value]))),
    section("Made by", table(null, Object.entries(data.system))),
  ];
}

// Returns everything whose name contains the words.
function showResults(words) {
  const found = [], has = (...texts) => words.every((word) => texts.some((text) => text && String(text).toLowerCase().includes(word)));
  const put = (kind, text, where, open) => { if (found.length < 300) found.push([kind, link(text, open), where]); };
  for (const node of data.nodes) {
    if (has(node.name)) put("node", node.name, node.backend || "no model", goNode(node.name));
    for (const side of ["inputs", "outputs"]) {
      for (const port of node[side]) {
        const names = (port.element_names || []).flat().filter((name) => typeof name === "string");
        if (has(port.name, port.kind, ...names)) put(side.slice(0, -1), node.name + "/" + port.name, port.kind || type(port), goNode(node.name));
      }
    }
    for (const op of node.operators) if (has(op.type, op.from, op.where, op.module)) put("operator", op.type + (op.where ? "  " + op.where : ""), node.name, goNode(node.name));
    for (const weight of node.weights) if (has(weight.name)) put("weight", weight.name, node.name, goNode(node.name));
  }
  return [el("h2", null, found.length === 300 ? "300 and more" : plural(found.length, "result")),
    el("div", { class: "results" }, table(null, found))];
}
