#include "bundle/golden_traces.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/find.h"
#include "base/utf8.h"
#include "bundle/noise_port.h"
#include "leapp/error.h"

namespace leapp {
namespace {

constexpr std::size_t kMostTicks = 100'000;

/// The parts of a tensor's name.
struct GoldenName {
  std::size_t tick = 0;
  bool input = false;
  PortRef port;
};

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || count > kMostTicks || (text.size() > 1 && text.front() == '0')) return {};
  return count;
}

std::optional<GoldenName> parse_golden_name(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t second = first == text.npos ? first : text.find('/', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto tick = parse_count(text.substr(0, first));
  const std::string_view side = text.substr(first + 1, second - first - 1);
  auto port = parse_port_ref(text.substr(second + 1));
  if (!tick || !port || (side != "inputs" && side != "outputs")) return std::nullopt;
  return GoldenName{*tick, side == "inputs", std::move(*port)};
}

/// Checks one file against its bundle.
class GoldenChecker {
 public:
  GoldenChecker(const Bundle& bundle, std::string file) : bundle_(bundle), file_(std::move(file)) {}

  std::size_t read_ticks(const SafeTensors::Metadata& metadata) const {  // B32
    const auto found = metadata.find("ticks");
    const auto ticks = found == metadata.end() ? std::nullopt : parse_count(found->second);
    if (!ticks || *ticks == 0) {
      fail(32, "its metadata must have 'ticks', a number from 1 to " + std::to_string(kMostTicks));
    }
    for (const char* key : {"rtol", "atol"}) {
      if (!metadata.contains(key)) fail(32, "its metadata has no '" + std::string(key) + "'");
    }
    for (const auto& [key, value] : metadata) {
      if (key.starts_with("rtol") || key.starts_with("atol")) read_number(key, value);
    }
    return *ticks;
  }

  double read_number(const std::string& key, const std::string& text) const {  // B32
    double number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool sound = error == std::errc() && end == text.data() + text.size();
    if (!sound || !(number >= 0) || !std::isfinite(number)) {
      fail(32, quote_for_message(key) + " of its metadata is " + quote_for_message(text) +
                   ", not a number of at least 0");
    }
    return number;
  }

  void check_tensor(const NamedTensorView& entry, std::size_t ticks) const {  // B31
    const std::string name = "the tensor " + quote_for_message(entry.name) + " ";
    const auto parts = parse_golden_name(entry.name);
    if (!parts) fail(31, name + "is not called tick/inputs/node/port or tick/outputs/node/port");
    if (parts->tick >= ticks) {
      fail(31, name + "belongs to tick " + std::to_string(parts->tick) +
                   ", but the file has only " + std::to_string(ticks) + ", counted from 0");
    }
    const Port* port =
        parts->input ? bundle_.find_input(parts->port) : bundle_.find_output(parts->port);
    if (port == nullptr) fail(31, name + "belongs to no port of this bundle");
    Shape shape = port->shape;
    const std::int64_t runs = parts->input ? golden_runs(bundle_, parts->port) : 1;
    if (runs > 1) shape.insert(shape.begin(), runs);
    if (entry.tensor.shape != shape || entry.tensor.dtype != port->dtype) {
      fail(31, name + "is " + std::string(name_of(entry.tensor.dtype)) + " " +
                   to_string(entry.tensor.shape) + ", the port is " +
                   std::string(name_of(port->dtype)) + " " + to_string(port->shape) +
                   (runs > 1 ? " in " + std::to_string(runs) + " runs" : ""));
    }
  }

  void check_complete(const GoldenTraces& traces) const {  // B31
    for (std::size_t tick = 0; tick < traces.ticks(); ++tick) {
      for (const NodePorts& node : bundle_.pipeline.inputs) {
        for (const std::string& port : node.ports) {
          const PortRef ref{node.node, port};
          if (traces.input(tick, ref) != nullptr) continue;
          fail(31, "tick " + std::to_string(tick) + " lacks the input " +
                       quote_for_message(to_string(ref)) +
                       "; the file was damaged or edited: export again");
        }
      }
    }
  }

 private:
  [[noreturn]] void fail(int number, const std::string& what) const {
    throw Error(rule(number), file_ + ": [B" + std::to_string(number) + "] " + what);
  }

  const Bundle& bundle_;
  std::string file_;
};

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", number);
  return text;
}

}  // namespace

GoldenTraces::GoldenTraces(const Bundle& bundle, const FileBytes& file,
                           const BundleOptions& options) {
  const auto bytes = file.bytes();
  tensors_ = SafeTensors::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                file.path().string(), options.max_tensor_bytes);
  const GoldenChecker checker(bundle, file.path().string());
  ticks_ = checker.read_ticks(tensors_.metadata());
  for (const NamedTensorView& entry : tensors_.tensors()) {
    checker.check_tensor(entry, ticks_);
    by_name_.emplace(entry.name, &entry.tensor);
  }
  checker.check_complete(*this);
}

const ConstTensorView* GoldenTraces::input(std::size_t tick, const PortRef& port) const {
  const auto found = by_name_.find(golden_name(tick, true, port));
  return found == by_name_.end() ? nullptr : found->second;
}

const ConstTensorView* GoldenTraces::output(std::size_t tick, const PortRef& port) const {
  const auto found = by_name_.find(golden_name(tick, false, port));
  return found == by_name_.end() ? nullptr : found->second;
}

Tolerance GoldenTraces::tolerance(const PortRef& output) const {
  const SafeTensors::Metadata& metadata = tensors_.metadata();
  const auto number = [&](const std::string& key) {
    const auto own = metadata.find(key + "/" + to_string(output));
    const std::string& text = own == metadata.end() ? metadata.at(key) : own->second;
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(),
                    value);  // already checked by the reader
    return value;
  };
  return {number("rtol"), number("atol")};
}

std::string GoldenTraces::not_compared(const std::string& node) const {
  const auto found = tensors_.metadata().find("not_compared/" + node);
  return found == tensors_.metadata().end() ? std::string() : found->second;
}

std::int64_t golden_runs(const Bundle& bundle, const PortRef& input) {
  const NodeSchedule* entry = find_in(bundle.pipeline.schedule, input.node, &NodeSchedule::node);
  const Port* const port = bundle.find_input(input);
  return entry != nullptr && port != nullptr && is_noise(*port) ? entry->repeat : 1;
}

std::string golden_name(std::size_t tick, bool input, const PortRef& port) {
  return std::to_string(tick) + (input ? "/inputs/" : "/outputs/") + to_string(port);
}

SafeTensors::Metadata GoldenNotes::metadata() const {
  SafeTensors::Metadata metadata = {{"ticks", std::to_string(ticks)},
                                    {"rtol", number_text(tolerance.rtol)},
                                    {"atol", number_text(tolerance.atol)}};
  for (const auto& [port, own] : outputs) {
    metadata["rtol/" + port] = number_text(own.rtol);
    metadata["atol/" + port] = number_text(own.atol);
  }
  for (const auto& [node, why] : not_compared) metadata["not_compared/" + node] = why;
  return metadata;
}

}  // namespace leapp
