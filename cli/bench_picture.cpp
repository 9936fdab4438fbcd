#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bench_report.h"
#include "text.h"

namespace leapp::cli {
namespace {

constexpr double kWidth = 760;
constexpr double kLeft = 60;
constexpr double kRight = 20;
constexpr double kPlot = kWidth - kLeft - kRight;
constexpr double kPlotTop = 56;
constexpr double kPlotHeight = 190;

constexpr const char* kBar = "#4c78a8";
constexpr const char* kMark = "#d1495b";
constexpr const char* kInk = "#2b2d42";
constexpr const char* kFaint = "#c8ccd4";

// SVG text is XML, and names may contain any characters.
std::string escape(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

template <typename... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 1024> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string label(double x, double y, const std::string& text, const char* anchor = "start",
                  const char* colour = kInk, int size = 12) {
  return print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\" font-size=\"%d\">", x, y,
               anchor, colour, size) +
         escape(text) + "</text>\n";
}

// A logarithmic axis that covers the ticks and the period.
class Axis {
 public:
  Axis(double low, double high) : low_(std::log10(low)), high_(std::log10(high)) {}
  double at(double nanoseconds) const {
    const double share = (std::log10(std::max(nanoseconds, 1.0)) - low_) / (high_ - low_);
    return kLeft + kPlot * std::clamp(share, 0.0, 1.0);
  }
  double value(double share) const { return std::pow(10, low_ + share * (high_ - low_)); }

 private:
  double low_;
  double high_;
};

Axis axis_for(const BenchReport& report) {
  double low = static_cast<double>(report.ticks.front().count());
  double high = static_cast<double>(report.ticks.back().count());
  if (const auto period = report.period()) {
    low = std::min(low, static_cast<double>(period->count()));
    high = std::max(high, static_cast<double>(period->count()));
  }
  return {std::max(low * 0.8, 1.0), high * 1.25};
}

std::string histogram(const BenchReport& report, const Axis& axis) {
  constexpr std::size_t kBins = 120;
  std::array<double, kBins> counts{};
  for (const auto& tick : report.ticks) {
    const double share = (axis.at(static_cast<double>(tick.count())) - kLeft) / kPlot;
    ++counts[std::min(static_cast<std::size_t>(share * kBins), kBins - 1)];
  }
  const double most = *std::max_element(counts.begin(), counts.end());
  std::string svg;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (counts[i] == 0) continue;
    // The height is logarithmic too, so that rare ticks are visible.
    const double height = kPlotHeight * std::log1p(counts[i]) / std::log1p(most);
    svg += print("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                 kLeft + kPlot * static_cast<double>(i) / kBins, kPlotTop + kPlotHeight - height,
                 kPlot / kBins - 0.6, height, kBar);
  }
  return svg;
}

// A round time, such as "500 us".
std::string round_time(double nanoseconds) {
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (nanoseconds < 999.5) break;
    nanoseconds /= 1000;
    unit = larger;
  }
  return print("%g %s", nanoseconds, unit);
}

std::string scale(const Axis& axis) {
  std::string svg;
  const double bottom = kPlotTop + kPlotHeight;
  for (double decade = 1; decade < 1e12; decade *= 10) {
    for (double step : {1.0, 2.0, 5.0}) {
      const double value = decade * step;
      if (value < axis.value(0) || value > axis.value(1)) continue;
      const double x = axis.at(value);
      svg += print("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x,
                   bottom, x, bottom + 4, kInk);
      if (x < kLeft + kPlot - 10) svg += label(x, bottom + 18, round_time(value), "middle");
    }
  }
  return svg + print("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                     kLeft, bottom, kLeft + kPlot, bottom, kInk);
}

std::string marks(const BenchReport& report, const Axis& axis) {
  std::string svg;
  int row = 0;
  const auto mark = [&](const std::string& name, std::chrono::nanoseconds time,
                        const char* colour) {
    const double x = axis.at(static_cast<double>(time.count()));
    const double y = kPlotTop + 12 + 14 * row++;
    svg += print(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
        "stroke-dasharray=\"4 3\"/>\n",
        x, kPlotTop, x, kPlotTop + kPlotHeight, colour);
    const bool leftwards = x > kLeft + kPlot * 0.7;
    svg += label(leftwards ? x - 5 : x + 5, y, name + " " + time_text(time),
                 leftwards ? "end" : "start", colour);
  };
  mark("p50", report.percentile(0.5), kInk);
  mark("p99", report.percentile(0.99), kInk);
  mark("p99.9", report.percentile(0.999), kInk);
  if (const auto period = report.period()) mark("period", *period, kMark);
  return svg;
}

std::string step_bars(const BenchReport& report, double top) {
  double longest = 1;
  for (const auto& [name, summary] : report.statistics.nodes) {
    longest = std::max(longest, static_cast<double>(summary.p99.count()));
  }
  std::string svg = label(kLeft, top, "steps: p50, and p99 in light", "start", kInk, 13);
  double y = top + 10;
  for (const auto& [name, summary] : report.statistics.nodes) {
    const double scale = (kPlot - 240) / longest;
    const double x = kLeft + 160;
    svg += label(x - 8, y + 12, name.size() > 22 ? name.substr(0, 20) + ".." : name, "end");
    svg += print("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>\n", x, y,
                 static_cast<double>(summary.p99.count()) * scale, kFaint);
    svg += print("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>\n", x, y,
                 static_cast<double>(summary.p50.count()) * scale, kBar);
    svg += label(x + static_cast<double>(summary.p99.count()) * scale + 6, y + 12,
                 time_text(summary.p50));
    y += 20;
  }
  return svg;
}

}  // namespace

std::string to_svg(const BenchReport& report) {
  const double steps_top = kPlotTop + kPlotHeight + 52;
  const double height = steps_top + 24 + 20 * static_cast<double>(report.statistics.nodes.size());
  std::string svg = print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n",
      kWidth, height, kWidth, height);
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  svg += label(kLeft, 26, report.bundle, "start", kInk, 15);
  svg += label(kLeft, 44, std::to_string(report.ticks.size()) + " ticks; both axes logarithmic",
               "start", kInk, 12);
  const Axis axis = axis_for(report);
  svg += histogram(report, axis) + scale(axis) + marks(report, axis);
  svg += step_bars(report, steps_top);
  return svg + "</svg>\n";
}

}  // namespace leapp::cli
