#include "controller/recorder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/start_thread.h"
#include "controller/element_io.h"

namespace leapp {
namespace {

constexpr std::size_t kRingWords = std::size_t{1} << 19;  // 4 MiB: several seconds of a fast loop
constexpr std::size_t kHeaderWords = 3;
constexpr std::uint64_t kNone = ~std::uint64_t{0};  // neither port nor rule
/// The subject of an event: its first word.
enum class About : std::uint64_t { kStart, kIntervention, kSwitch };
constexpr std::size_t kEventWords = 4;

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
    json += "null";  // JSON cannot express it
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  json.append(text.data(), end);
}

}  // namespace

Recorder::Recorder(const std::filesystem::path& file, const Robot& robot,
                   std::span<const RecordedPolicy> policies, std::uint64_t noise_seed)
    : writer_(file), ring_(kRingWords), file_(file.string()) {
  events_ = add("/controller", {}, {{"noise_seed", std::to_string(noise_seed)}}, false);
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
  for (const RecordedPolicy& policy : policies) {
    policies_.push_back({policy.name, 0, 0, {}});
    policies_.back().inputs = add_ports(policy, true);
    policies_.back().outputs = add_ports(policy, false);
  }
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

std::size_t Recorder::add_ports(const RecordedPolicy& policy, bool inputs) {
  const std::size_t first = channels_.size();
  const std::string folder = policy.name.empty() ? "" : "/policies/" + policy.name;
  for (const PortBinding& bound : inputs ? policy.binding.inputs : policy.binding.outputs) {
    const PortRef ref = *parse_port_ref(bound.port);
    const Port& port = inputs ? *policy.bundle.find_input(ref) : *policy.bundle.find_output(ref);
    const bool named = bound.layout.steps == 1;
    add(folder + "/ports/" + bound.port, named ? bound.elements : std::vector<std::string>(),
        {{"port", bound.port},
         {"policy", policy.name},
         {"side", inputs ? "input" : "output"},
         {"kind", bound.kind},
         {"unit", bound.contract.unit.value_or("")}},
        port.dtype == DType::kFloat32);
    policies_.back().ports.push_back(bound.port);
  }
  return first;
}

void Recorder::started(std::chrono::nanoseconds now) {
  const std::chrono::nanoseconds wall = std::chrono::system_clock::now().time_since_epoch();
  origin_.store((wall - now).count(), std::memory_order_relaxed);
  put_event(0, now, {static_cast<std::uint64_t>(About::kStart), 0, 0, 0});
}

void Recorder::put_event(std::uint64_t tick, std::chrono::nanoseconds now,
                         const std::array<std::uint64_t, kEventWords>& words) noexcept {
  if (!begin(events_, tick, now, kEventWords)) return;
  for (const std::uint64_t word : words) ring_.put(word);
  end();
}

void Recorder::signals(std::uint64_t tick, std::chrono::nanoseconds now,
                       std::span<const SensorValues> sensors,
                       std::span<const std::vector<double>> actuators) noexcept {
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    put(sensors_ + i, tick, now, sensors[i].values);
  }
  for (std::size_t i = 0; i < actuators.size(); ++i) put(actuators_ + i, tick, now, actuators[i]);
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
  for (std::size_t i = 0; i < count; ++i) ring_.put(load_value(view.data, view.dtype, i));
  end();
}

void Recorder::interventions(std::size_t policy, std::chrono::nanoseconds now,
                             const InterventionLog& log, std::uint64_t first) noexcept {
  const std::vector<std::string>& ports = policies_[policy].ports;
  for (std::uint64_t i = first; i < log.total(); ++i) {
    const Intervention& one = log.at(i);
    const auto port = std::find(ports.begin(), ports.end(), one.port);
    put_event(one.tick, now,
              {static_cast<std::uint64_t>(About::kIntervention), policy,
               static_cast<std::uint64_t>(one.cause),
               port == ports.end() ? kNone : static_cast<std::uint64_t>(port - ports.begin())});
  }
}

void Recorder::switched(std::chrono::nanoseconds now, const SwitchRecord& record) noexcept {
  put_event(record.tick, now,
            {static_cast<std::uint64_t>(About::kSwitch), record.policy,
             static_cast<std::uint64_t>(record.event), record.rule ? *record.rule : kNone});
}

void Recorder::work() noexcept {
  constexpr auto kPause = std::chrono::milliseconds(5);
  constexpr int kPausesToFlush = 200;  // one second, which a crash may lose
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

// The file keeps its content; everything after this is counted as dropped.
void Recorder::give_up(const std::string& why) noexcept {
  written_.store(writer_.written(), std::memory_order_relaxed);
  failed_.store(true, std::memory_order_release);
  try {
    log(LogLevel::kError, Code::kRecording,
        file_ + ": the recording stopped early: " + why + ". It contains " +
            std::to_string(writer_.written()) +
            " messages; later ones are dropped. Free space, or record to another disk, and start "
            "again");
  } catch (const std::exception&) {  // no memory for a message; dropped() still counts it
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
      write_event(time);
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

void Recorder::write_event(std::uint64_t time) {
  const auto about = static_cast<About>(ring_.take());
  const PolicyChannels& policy = policies_[ring_.take()];
  const std::uint64_t kind = ring_.take();
  const std::uint64_t detail = ring_.take();
  const auto append = [&](const char* key, const std::string& quoted) {
    json_ += std::string(",\"") + key + "\":" + quoted;
  };
  if (about == About::kStart) append("event", quoted_json("start"));
  if (about == About::kIntervention) {
    append("event", quoted_json(std::string(name_of(static_cast<Cause>(kind)))));
    if (detail != kNone) append("port", quoted_json(policy.ports[detail]));
  }
  if (about == About::kSwitch) {
    append("event", quoted_json(std::string(name_of(static_cast<SwitchEvent>(kind)))));
    if (detail != kNone) append("rule", std::to_string(detail));
  }
  if (!policy.name.empty()) append("policy", quoted_json(policy.name));
  json_ += '}';
  writer_.write(channels_[events_].id, time, json_);
}

}  // namespace leapp
