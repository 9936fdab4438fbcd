#include "bench_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "text.h"

namespace leapp::cli {
namespace {

double microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

std::string number(double value, const char* format) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::optional<std::chrono::nanoseconds> BenchReport::period() const {
  // Limits the frequency, because a bundle may state any number.
  if (!frequency || !(*frequency >= 1e-9 && *frequency <= 1e9)) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / *frequency));
}

std::size_t BenchReport::misses() const {
  const auto limit = period();
  if (!limit) return 0;
  return static_cast<std::size_t>(ticks.end() -
                                  std::upper_bound(ticks.begin(), ticks.end(), *limit));
}

std::chrono::nanoseconds BenchReport::percentile(double share) const {
  if (ticks.empty()) return {};
  // The shortest time that `share` of all ticks do not exceed, from the histograms of the nodes.
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(ticks.size())));
  return ticks[std::clamp<std::size_t>(rank, 1, ticks.size()) - 1];
}

LatencySummary BenchReport::tick() const {
  if (ticks.empty()) return {};
  std::chrono::nanoseconds sum{0};
  for (const auto& took : ticks) sum += took;
  return {.count = ticks.size(),
          .mean = sum / static_cast<std::int64_t>(ticks.size()),
          .p50 = percentile(0.5),
          .p99 = percentile(0.99),
          .p999 = percentile(0.999),
          .max = ticks.back()};
}

std::string to_text(const BenchReport& report) {
  std::vector<std::vector<std::string>> rows = {{"", "mean", "p50", "p99", "p99.9", "max"}};
  const auto row = [](const std::string& name, const LatencySummary& s) {
    return std::vector<std::string>{name,
                                    time_text(s.mean),
                                    time_text(s.p50),
                                    time_text(s.p99),
                                    time_text(s.p999),
                                    time_text(s.max)};
  };
  for (const auto& [name, summary] : report.statistics.nodes) rows.push_back(row(name, summary));
  rows.push_back(row("tick", report.tick()));
  std::string text = report.bundle + ": " + std::to_string(report.ticks.size()) +
                     " ticks, loaded in " + time_text(report.load) + "\n";
  for (const std::string& step : report.steps) text += "  " + step + "\n";
  text += "\n" + table(rows);
  if (const auto period = report.period()) {
    const double share = 100 * microseconds(report.percentile(0.999)) / microseconds(*period);
    text += "\n" + number(*report.frequency, "%g") + " Hz leaves " + time_text(*period) +
            " a tick: p99.9 takes " + number(share, "%.1f") + " % of it, " +
            std::to_string(report.misses()) + " ticks took longer\n";
  } else {
    text += "\nThe bundle states no frequency (pipeline.configs.frequency); give one with --hz\n";
  }
  return text;
}

std::string to_json(const BenchReport& report) {
  using Json = nlohmann::ordered_json;
  const auto summary = [](const LatencySummary& s) -> Json {
    return {{"mean_us", microseconds(s.mean)},
            {"p50_us", microseconds(s.p50)},
            {"p99_us", microseconds(s.p99)},
            {"p999_us", microseconds(s.p999)},
            {"max_us", microseconds(s.max)}};
  };
  Json nodes = Json::object();
  for (const auto& [name, latencies] : report.statistics.nodes) nodes[name] = summary(latencies);
  Json json = {{"bundle", report.bundle},
               {"ticks", report.ticks.size()},
               {"load_ms", microseconds(report.load) / 1e3},
               {"steps", report.steps},
               {"tick", summary(report.tick())},
               {"nodes", std::move(nodes)}};
  if (const auto period = report.period()) {
    json["frequency"] = *report.frequency;
    json["period_us"] = microseconds(*period);
    json["misses"] = report.misses();
  }
  return json_text(json);
}

}  // namespace leapp::cli
