#include "controller/recorder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/start_thread.h"

namespace leapp {
namespace {

constexpr std::size_t kRingWords = std::size_t{1} << 19;  // 4 MiB: seconds of a busy loop
constexpr std::size_t kHeaderWords = 3;
constexpr std::uint64_t kStarted = ~std::uint64_t{0};

std::string quoted_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string schema_of(const std::vector<std::string>& elements) {
  std::string values = R"({"type":"array","items":{"type":"number"}})";
  if (!elements.empty()) {
    values.clear();
    for (const std::string& name : elements) {
      values += (values.empty() ? R"({"type":"object","properties":{)" : ",") + quoted_json(name) +
                R"(:{"type":"number"})";
    }
    values += "}}";
  }
  return R"({"type":"object","properties":{"tick":{"type":"integer"},"values":)" + values + "}}";
}

template <typename T>
void append_number(std::string& json, T number) {
  if (!std::isfinite(number)) {
    json += "null";  // JSON has no word for it
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  json.append(text.data(), end);
}

/// Element i as a double; types that ports of robots do not have are 0.
double value_at(const TensorView& view, std::size_t i) noexcept {
  switch (view.dtype) {
    case DType::kFloat32:
      return static_cast<double>(static_cast<const float*>(view.data)[i]);
    case DType::kFloat64:
      return static_cast<const double*>(view.data)[i];
    case DType::kInt64:
      return static_cast<double>(static_cast<const std::int64_t*>(view.data)[i]);
    case DType::kInt32:
      return static_cast<double>(static_cast<const std::int32_t*>(view.data)[i]);
    case DType::kBool:
    case DType::kUInt8:
      return static_cast<double>(static_cast<const std::uint8_t*>(view.data)[i]);
    default:
      return 0;
  }
}

}  // namespace

Recorder::Recorder(const std::filesystem::path& file, const Robot& robot, const Bundle& bundle,
                   const RobotBinding& binding)
    : writer_(file), ring_(kRingWords), file_(file.string()) {
  events_ = add("/controller", {}, {}, false);
  const auto add_signals = [&](const std::vector<Signal>& signals, const std::string& folder) {
    const std::size_t first = channels_.size();
    for (const Signal& signal : signals) {
      add(folder + signal.name, signal.elements,
          {{"kind", signal.kind}, {"unit", signal.unit.value_or("")}}, false);
    }
    return first;
  };
  sensors_ = add_signals(robot.sensors, "/sensors/");
  actuators_ = add_signals(robot.actuators, "/actuators/");
  inputs_ = add_ports(binding.inputs, bundle, true);
  outputs_ = add_ports(binding.outputs, bundle, false);
  worker_ = start_thread("write the recording", [this] { work(); });
}

Recorder::~Recorder() {
  end_.store(true, std::memory_order_release);
  worker_.join();
}

std::size_t Recorder::add(const std::string& topic, const std::vector<std::string>& elements,
                          const McapWriter::Names& metadata, bool single) {
  Channel channel;
  channel.id = writer_.add_channel(topic, schema_of(elements), metadata);
  channel.single = single;
  for (const std::string& name : elements) channel.quoted.push_back(quoted_json(name));
  channels_.push_back(std::move(channel));
  return channels_.size() - 1;
}

std::size_t Recorder::add_ports(const std::vector<PortBinding>& ports, const Bundle& bundle,
                                bool inputs) {
  const std::size_t first = channels_.size();
  for (const PortBinding& bound : ports) {
    const PortRef ref = *parse_port_ref(bound.port);
    const Port& port = inputs ? *bundle.find_input(ref) : *bundle.find_output(ref);
    const bool named = bound.layout.steps == 1;
    add("/ports/" + bound.port, named ? bound.elements : std::vector<std::string>(),
        {{"port", bound.port},
         {"side", inputs ? "input" : "output"},
         {"kind", bound.kind},
         {"unit", bound.contract.unit.value_or("")}},
        port.dtype == DType::kFloat32);
    port_names_.push_back(bound.port);
  }
  return first;
}

void Recorder::started(std::chrono::nanoseconds now) {
  const std::chrono::nanoseconds wall = std::chrono::system_clock::now().time_since_epoch();
  origin_.store((wall - now).count(), std::memory_order_relaxed);
  if (begin(events_, 0, now, 1)) {
    ring_.put(kStarted);
    end();
  }
}

bool Recorder::begin(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
                     std::size_t count) noexcept {
  if (failed_.load(std::memory_order_relaxed) || !ring_.begin(kHeaderWords + count)) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  ring_.put((std::uint64_t{channel} << 32) | count);
  ring_.put(tick);
  ring_.put(static_cast<std::uint64_t>(now.count()));
  return true;
}

void Recorder::end() noexcept {
  accepted_.fetch_add(1, std::memory_order_relaxed);
  ring_.end();
}

std::uint64_t Recorder::dropped() const noexcept {
  const std::uint64_t refused = refused_.load(std::memory_order_relaxed);
  if (!failed_.load(std::memory_order_acquire)) return refused;
  return refused + accepted_.load(std::memory_order_relaxed) -
         written_.load(std::memory_order_relaxed);
}

void Recorder::put(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
                   std::span<const double> values) noexcept {
  if (!begin(channel, tick, now, values.size())) return;
  for (const double value : values) ring_.put(value);
  end();
}

void Recorder::put(std::size_t channel, std::uint64_t tick, std::chrono::nanoseconds now,
                   const TensorView& view) noexcept {
  const auto count = static_cast<std::size_t>(element_count(view.shape));
  if (!begin(channel, tick, now, count)) return;
  for (std::size_t i = 0; i < count; ++i) ring_.put(value_at(view, i));
  end();
}

void Recorder::intervened(std::chrono::nanoseconds now, const Intervention& intervention) noexcept {
  const auto at = std::find(port_names_.begin(), port_names_.end(), intervention.port);
  if (!begin(events_, intervention.tick, now, 2)) return;
  ring_.put(static_cast<std::uint64_t>(intervention.cause));
  ring_.put(static_cast<std::uint64_t>(at - port_names_.begin()));
  end();
}

void Recorder::work() noexcept {
  constexpr auto kPause = std::chrono::milliseconds(5);
  constexpr int kPausesToFlush = 200;  // a second: what a crash may cost
  try {
    for (int pauses = 0; !end_.load(std::memory_order_acquire); ++pauses) {
      write_all();
      if (pauses % kPausesToFlush == kPausesToFlush - 1) writer_.flush();
      if (writer_.error()) break;
      std::this_thread::sleep_for(kPause);
    }
    write_all();
    if (!writer_.close()) give_up(writer_.error().message());
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

// The file stays as far as it came; what comes from now on is counted as dropped.
void Recorder::give_up(const std::string& why) noexcept {
  written_.store(writer_.written(), std::memory_order_relaxed);
  failed_.store(true, std::memory_order_release);
  try {
    log(LogLevel::kError, Code::kRecording,
        file_ + ": the recording ended early: " + why + ". It keeps " +
            std::to_string(writer_.written()) +
            " messages; later ones are dropped. Free space, or record to another disk, and start "
            "again");
  } catch (const std::exception&) {  // no memory for a message: dropped() still counts
  }
}

void Recorder::write_all() {
  for (std::size_t left = ring_.size(); left > 0;) {
    const std::uint64_t head = ring_.take();
    const std::uint64_t tick = ring_.take();
    const std::uint64_t time =
        ring_.take() + static_cast<std::uint64_t>(origin_.load(std::memory_order_relaxed));
    const Channel& channel = channels_[head >> 32];
    const std::size_t count = head & 0xFFFFFFFF;
    left -= kHeaderWords + count;
    json_ = "{\"tick\":" + std::to_string(tick);
    if (head >> 32 == events_) {
      write_event(time, count);
      continue;
    }
    const bool named = !channel.quoted.empty();
    json_ += named ? ",\"values\":{" : ",\"values\":[";
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) json_ += ',';
      if (named) json_ += channel.quoted[i] + ':';
      const double value = std::bit_cast<double>(ring_.take());
      channel.single ? append_number(json_, static_cast<float>(value))
                     : append_number(json_, value);
    }
    json_ += named ? "}}" : "]}";
    writer_.write(channel.id, time, json_);
  }
}

void Recorder::write_event(std::uint64_t time, std::size_t count) {
  const std::uint64_t cause = ring_.take();
  if (count == 1) {
    json_ += ",\"event\":\"start\"}";
  } else {
    const std::uint64_t port = ring_.take();
    json_ += ",\"event\":\"" + std::string(name_of(static_cast<Cause>(cause))) + '"';
    if (port < port_names_.size()) json_ += ",\"port\":" + quoted_json(port_names_[port]);
    json_ += '}';
  }
  writer_.write(channels_[events_].id, time, json_);
}

}  // namespace leapp
