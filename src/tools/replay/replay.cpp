#include "leapp/tools/replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/utf8.h"
#include "bundle/json_tree.h"
#include "leapp/comparison.h"
#include "leapp/error.h"
#include "replay/mcap_reader.h"

namespace leapp {
namespace {

using Values = std::vector<double>;

Values to_values(const nlohmann::ordered_json& json) {
  Values values;
  for (const auto& item : json) {
    values.push_back(item.is_number() ? item.get<double>()
                                      : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

/// Returns the elements of a float32 or float64 tensor as in a recording: NaN represents NaN and
/// both infinities.
Values to_values(const ConstTensorView& view) {
  Values values(static_cast<std::size_t>(element_count(view.shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = view.dtype == DType::kFloat32
                             ? static_cast<double>(static_cast<const float*>(view.data)[i])
                             : static_cast<const double*>(view.data)[i];
    values[i] = std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
  }
  return values;
}

/// Returns a tensor of a port's type with these elements.
Tensor to_tensor(const Port& port, const Values& values) {
  Tensor tensor(port.dtype, port.shape);
  const TensorView view = tensor.view();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (port.dtype == DType::kFloat32) {
      static_cast<float*>(view.data)[i] = static_cast<float>(values[i]);
    } else {
      static_cast<double*>(view.data)[i] = values[i];
    }
  }
  return tensor;
}

class Replayer {
 public:
  Replayer(const std::filesystem::path& recording, const std::filesystem::path& bundle,
           const ReplayOptions& options)
      : name_(recording.string()),
        reader_(recording),
        manager_(bundle, options.runtime),
        options_(options) {}

  ReplayReport run() {
    reader_.read([this](const McapChannel& channel, std::uint64_t, std::string_view data) {
      if (report_.difference || channel.encoding != "json") return;
      const nlohmann::ordered_json message = parse_json(data);
      if (!message.is_object()) fail("a message is not a JSON object");
      const auto port = channel.metadata.find("port");
      const auto side = channel.metadata.find("side");
      if (channel.topic == "/controller") {
        take_seed(channel);
        const auto event = message.find("event");
        if (event != message.end() && (*event == "start" || begins(message))) restart();
      } else if (port != channel.metadata.end() && side != channel.metadata.end() &&
                 policy_of(channel) == options_.policy) {
        take(port->second, side->second == "input", message);
      }
    });
    if (report_.ticks == 0) {
      fail(options_.policy.empty()
               ? "it contains no tick of this bundle's ports. For a recording of a supervisor, "
                 "give the name of a policy"
               : "it contains no tick of a policy " + quote_for_message(options_.policy));
    }
    return report_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Code::kRecording, name_ + ": " + what);
  }

  static std::string policy_of(const McapChannel& channel) {
    const auto policy = channel.metadata.find("policy");
    return policy == channel.metadata.end() ? std::string() : policy->second;
  }

  /// Returns whether a supervisor switched to the policy during the recording.
  bool begins(const nlohmann::ordered_json& message) const {
    return message.value("event", nlohmann::ordered_json()) == "switched" &&
           message.value("policy", nlohmann::ordered_json()) == options_.policy;
  }

  /// Uses the seed of the recorded run. Recordings from before noise ports have none.
  void take_seed(const McapChannel& channel) {
    const auto seed = channel.metadata.find("noise_seed");
    if (seed == channel.metadata.end()) return;
    std::uint64_t number = 0;
    const std::string& text = seed->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail("its noise_seed is " + quote_for_message(text) + ", which is not a whole number");
    }
    manager_.set_noise_seed(number).value();
  }

  void restart() {
    manager_.reset();
    inputs_.clear();
    outputs_.clear();
  }

  /// Adds a value. A tick is complete when it has all inputs and outputs; outputs come last.
  void take(const std::string& port, bool input, const nlohmann::ordered_json& message) {
    if (!message.contains("tick") || !message["tick"].is_number_unsigned() ||
        !message.contains("values")) {
      fail("a message of " + port + " has no tick or no values");
    }
    const std::vector<std::string>& known = input ? manager_.inputs() : manager_.outputs();
    if (std::find(known.begin(), known.end(), port) == known.end()) {
      fail(std::string("the bundle has no ") + (input ? "input " : "output ") + port);
    }
    const auto tick = message["tick"].get<std::uint64_t>();
    if (tick != tick_ && (!inputs_.empty() || !outputs_.empty())) {
      fail("tick " + std::to_string(tick_) + " is incomplete, because the recorder was too slow");
    }
    tick_ = tick;
    (input ? inputs_ : outputs_)[port] = to_values(message["values"]);
    if (inputs_.size() != manager_.inputs().size() ||
        outputs_.size() != manager_.outputs().size()) {
      return;
    }
    compare();
    inputs_.clear();
    outputs_.clear();
  }

  void compare() {
    TensorMap given;
    for (const auto& [name, values] : inputs_) given.emplace(name, input_tensor(name, values));
    const TensorMap computed = manager_.run_policy(given);
    ++report_.ticks;
    for (const std::string& name : manager_.outputs()) {
      compare_port(name, outputs_.at(name), computed.at(name));
      if (report_.difference) return;
    }
  }

  Tensor input_tensor(const std::string& name, const Values& values) const {
    const Port& port = *manager_.bundle().find_input(*parse_port_ref(name));
    const bool is_float = port.dtype == DType::kFloat32 || port.dtype == DType::kFloat64;
    if (!is_float || static_cast<std::int64_t>(values.size()) != element_count(port.shape)) {
      fail(name + " has " + std::to_string(values.size()) + " values, but the bundle needs " +
           std::string(name_of(port.dtype)) + " " + to_string(port.shape));
    }
    return to_tensor(port, values);
  }

  void compare_port(const std::string& name, const Values& recorded, const Tensor& computed) {
    const ConstTensorView view = computed.view();
    if (view.dtype != DType::kFloat32 && view.dtype != DType::kFloat64) return;
    if (recorded.size() != static_cast<std::size_t>(element_count(view.shape))) {
      fail(name + " has " + std::to_string(recorded.size()) +
           " values, but the output of the bundle has shape " + to_string(view.shape));
    }
    const Values now = to_values(view);
    const ElementMismatch first =
        leapp::compare({recorded.data(), DType::kFloat64, view.shape},
                       {now.data(), DType::kFloat64, view.shape}, options_.tolerance)
            .first;
    if (first.index < 0) return;
    report_.difference = ReplayDifference{tick_, name, static_cast<std::size_t>(first.index),
                                          first.traced, first.exported};
  }

  std::string name_;
  McapReader reader_;
  InferenceManager manager_;
  const ReplayOptions& options_;
  std::map<std::string, Values> inputs_;
  std::map<std::string, Values> outputs_;
  std::uint64_t tick_ = 0;
  ReplayReport report_;
};

}  // namespace

ReplayReport replay(const std::filesystem::path& recording, const std::filesystem::path& bundle,
                    const ReplayOptions& options) {
  return Replayer(recording, bundle, options).run();
}

}  // namespace leapp
