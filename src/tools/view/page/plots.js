// Plots: histograms of weights, and values over ticks.

const COLOURS = ["#2f7ed8", "#d9822b", "#2a9d6f", "#c2453d", "#8b5fbf", "#8a6d3b", "#d264a5", "#6b7c8c", "#b5a71f", "#1aa7b8", "#5a5fd6", "#7fae3a"];

function histogram(weight) {
  if (!weight.bins) return el("span", { class: "faint small" }, "not readable");
  const most = Math.max(1, ...weight.bins);
  const bars = weight.bins.map((count, i) => {
    const height = count === 0 ? 0 : Math.max(1, 34 * count / most);
    return svg("rect", { x: i * 3, y: 35 - height, width: 2.6, height });
  });
  return svg("svg", { class: "plot histogram", viewBox: "0 0 120 36", style: { width: "120px", height: "36px" } },
    svg("title", null, "from " + number(weight.min) + " to " + number(weight.max)), bars);
}

// Plots a port's values, one line per element: {ticks, values, elements, range?, every?}.
function timeline(series, names) {
  const left = 46, width = 500, height = 150, bottom = 16;
  const columns = series.range ? 3 : series.elements;
  const finite = series.values.flat().filter((value) => typeof value === "number");
  if (finite.length === 0) return el("p", { class: "faint" }, "no finite value");
  let low = finite.reduce((a, b) => Math.min(a, b)), high = finite.reduce((a, b) => Math.max(a, b));
  if (low === high) { low -= 0.5; high += 0.5; }
  const last = Math.max(1, series.ticks[series.ticks.length - 1] - series.ticks[0]);
  const x = (tick) => left + (width - left - 8) * (tick - series.ticks[0]) / last;
  const y = (value) => 8 + (height - bottom - 14) * (high - value) / (high - low);
  const points = (i) => series.values
    .map((row, t) => typeof row[i] === "number" ? x(series.ticks[t]).toFixed(1) + "," + y(row[i]).toFixed(1) : null)
    .filter(Boolean);
  const lines = [];
  if (series.range) {
    lines.push(svg("polygon", { class: "band", points: [...points(2), ...points(0).reverse()].join(" ") }));
    lines.push(svg("polyline", { points: points(1).join(" "), stroke: COLOURS[0] }));
  } else {
    for (let i = 0; i < columns; ++i) {
      const single = series.values.length === 1;
      const line = svg("polyline", { points: points(i).join(" "), stroke: COLOURS[i % COLOURS.length] }, svg("title", null, names[i] || i));
      lines.push(line);
      if (single && points(i).length) {
        const [cx, cy] = points(i)[0].split(",");
        lines.push(svg("circle", { cx, cy, r: 2.5, fill: COLOURS[i % COLOURS.length] }));
      }
    }
  }
  const plot = svg("svg", { class: "plot", viewBox: "0 0 " + width + " " + height, role: "img" },
    svg("line", { class: "axis", x1: left, x2: width - 8, y1: y(low), y2: y(low) }),
    svg("line", { class: "axis", x1: left, x2: width - 8, y1: y(high), y2: y(high) }),
    low < 0 && high > 0 ? svg("line", { class: "axis", x1: left, x2: width - 8, y1: y(0), y2: y(0) }) : null,
    svg("text", { x: left - 5, y: y(high) + 4, "text-anchor": "end" }, number(high)),
    svg("text", { x: left - 5, y: y(low) + 4, "text-anchor": "end" }, number(low)),
    svg("text", { x: left, y: height - 2 }, "tick " + series.ticks[0]),
    svg("text", { x: width - 8, y: height - 2, "text-anchor": "end" }, "tick " + series.ticks[series.ticks.length - 1]),
    lines);
  const legend = series.range
    ? [el("span", { style: { "--colour": COLOURS[0] } }, "mean of " + series.elements + " elements, with their range")]
    : Array.from({ length: Math.min(columns, 24) }, (_, i) =>
        el("span", { style: { "--colour": COLOURS[i % COLOURS.length] } }, names[i] || "element " + i));
  return el("div", null, plot, el("div", { class: "legend" }, legend,
    columns > 24 && !series.range ? "and " + (columns - 24) + " more" : null,
    series.every ? "every " + series.every + "th tick" : null));
}
