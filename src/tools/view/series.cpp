#include "view/series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "bundle/golden_traces.h"
#include "bundle/json_tree.h"
#include "bundle/verified_files.h"
#include "replay/mcap_reader.h"
#include "view/distribution.h"
#include "view/numbers.h"

namespace leapp::view {
namespace {

using SeriesJson = nlohmann::ordered_json;

// A plot with more lines is unreadable, and a screen has too few pixels for more ticks.
constexpr std::size_t kMostLines = 32;
constexpr std::size_t kMostTicks = 600;

// The values of one port by tick.
using PortSeries = std::map<std::uint64_t, std::vector<double>>;

using AllSeries = std::map<std::string, PortSeries>;  // by "inputs/policy/obs"

SeriesJson tick_json(const std::vector<double>& values, bool range) {
  SeriesJson json = SeriesJson::array();
  if (!range) {
    for (const double value : values) json.push_back(short_number(value));
    return json;
  }
  double least = 0, most = 0, sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    least = i == 0 ? values[i] : std::min(least, values[i]);
    most = i == 0 ? values[i] : std::max(most, values[i]);
    sum += values[i];
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(values.size(), 1));
  return {short_number(least), short_number(mean), short_number(most)};
}

SeriesJson to_json(const PortSeries& series) {
  const std::size_t elements = series.empty() ? 0 : series.begin()->second.size();
  const bool range = elements > kMostLines;
  const std::size_t every = (series.size() + kMostTicks - 1) / kMostTicks;
  SeriesJson ticks = SeriesJson::array();
  SeriesJson values = SeriesJson::array();
  std::size_t seen = 0;
  for (const auto& [tick, row] : series) {
    if (seen++ % std::max<std::size_t>(every, 1) != 0) continue;
    ticks.push_back(tick);
    values.push_back(tick_json(row, range));
  }
  SeriesJson json = {
      {"elements", elements}, {"ticks", std::move(ticks)}, {"values", std::move(values)}};
  if (range) json["range"] = true;
  if (every > 1) json["every"] = every;
  return json;
}

std::vector<double> elements_of(const ConstTensorView& tensor) {
  std::vector<double> values;
  const auto count = static_cast<std::size_t>(element_count(tensor.shape));
  for (std::size_t i = 0; i < count; ++i) values.push_back(element_of(tensor, i));
  return values;
}

// The "values" of a message: a list, or an object with a number for each element.
std::vector<double> recorded_values(const SeriesJson& message) {
  std::vector<double> values;
  const auto found = message.find("values");
  if (found == message.end() || !found->is_structured()) return values;
  for (const SeriesJson& value : *found) {
    values.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  }
  return values;
}

SeriesJson ports_json(const AllSeries& all) {
  SeriesJson ports = SeriesJson::object();
  for (const auto& [port, series] : all) ports[port] = to_json(series);
  return ports;
}

// The times between ticks, in milliseconds.
SeriesJson period_json(std::vector<double> gaps) {
  if (gaps.empty()) return nullptr;
  std::sort(gaps.begin(), gaps.end());
  double sum = 0;
  for (const double gap : gaps) sum += gap;
  const auto at = [&](double share) {
    return short_number(
        gaps[static_cast<std::size_t>(share * static_cast<double>(gaps.size() - 1))]);
  };
  return {{"mean_ms", short_number(sum / static_cast<double>(gaps.size()))},
          {"p50_ms", at(0.5)},
          {"p99_ms", at(0.99)},
          {"p999_ms", at(0.999)},
          {"max_ms", at(1)}};
}

// Collects the values and events of a recording.
class RecordingReader {
 public:
  RecordingReader(const Bundle& bundle, const std::string& policy)
      : bundle_(bundle), policy_(policy) {}

  void take(const McapChannel& channel, std::uint64_t time, std::string_view data) {
    if (channel.encoding != "json") return;
    const SeriesJson message = parse_json(data);
    if (!message.is_object() || !message.contains("tick") ||
        !message["tick"].is_number_unsigned()) {
      return;
    }
    const auto tick = message["tick"].get<std::uint64_t>();
    if (channel.topic == "/controller") {
      take_event(message);
      return;
    }
    if (last_tick_ && tick == *last_tick_ + 1 && time >= last_time_) {
      gaps_.push_back(static_cast<double>(time - last_time_) / 1e6);
    }
    if (!last_tick_ || tick != *last_tick_) {
      last_tick_ = tick;
      last_time_ = time;
      ++ticks_;
    }
    const auto port = channel.metadata.find("port");
    const auto side = channel.metadata.find("side");
    if (port == channel.metadata.end() || side == channel.metadata.end()) return;
    const auto policy = channel.metadata.find("policy");
    if ((policy == channel.metadata.end() ? "" : policy->second) != policy_) return;
    const auto ref = parse_port_ref(port->second);
    const bool input = side->second == "input";
    if (!ref || !(input ? bundle_.find_input(*ref) : bundle_.find_output(*ref))) return;
    all_[(input ? "inputs/" : "outputs/") + port->second][tick] = recorded_values(message);
  }

  SeriesJson json() {
    return {{"ticks", ticks_},
            {"period", period_json(std::move(gaps_))},
            {"events", events_},
            {"ports", ports_json(all_)}};
  }

 private:
  void take_event(const SeriesJson& message) {
    const auto text = [&](const char* key, const char* otherwise) {
      const auto found = message.find(key);
      return found != message.end() && found->is_string() ? found->get<std::string>() : otherwise;
    };
    const std::string port = text("port", "");
    ++events_[text("event", "?") + (port.empty() ? "" : " (" + port + ")")];
  }

  const Bundle& bundle_;
  const std::string& policy_;
  AllSeries all_;
  std::map<std::string, std::uint64_t> events_;
  std::vector<double> gaps_;
  std::optional<std::uint64_t> last_tick_;
  std::uint64_t last_time_ = 0;
  std::uint64_t ticks_ = 0;
};

}  // namespace

SeriesJson golden_series(const Bundle& bundle, const BundleOptions& options) {
  if (!bundle.pipeline.golden) return nullptr;
  try {
    const GoldenTraces golden(bundle, read_golden_file(bundle, options), options);
    AllSeries all;
    for (std::size_t tick = 0; tick < golden.ticks(); ++tick) {
      const auto take = [&](const std::string& side, const PortRef& port, const auto* values) {
        if (values == nullptr) return;
        all[side + "/" + to_string(port)][tick] = elements_of(*values);
      };
      for (const Model& model : bundle.models) {
        for (const Port& port : model.inputs) {
          const PortRef ref{model.name, port.name};
          take("inputs", ref, golden.input(tick, ref));
        }
        for (const Port& port : model.outputs) {
          const PortRef ref{model.name, port.name};
          take("outputs", ref, golden.output(tick, ref));
        }
      }
    }
    return {{"ticks", golden.ticks()}, {"ports", ports_json(all)}};
  } catch (const Error& error) {
    return {{"remark", error.what()}};
  }
}

SeriesJson recorded_series(const std::filesystem::path& recording, const Bundle& bundle,
                           const std::string& policy) {
  RecordingReader reader(bundle, policy);
  McapReader(recording).read([&](const McapChannel& channel, std::uint64_t time,
                                 std::string_view data) { reader.take(channel, time, data); });
  return reader.json();
}

}  // namespace leapp::view
