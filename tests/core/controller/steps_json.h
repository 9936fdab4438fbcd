// JSON input and output of the programs that tests/python compares with the pure ticks.
#pragma once

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/step.h"
#include "leapp/bundle.h"
#include "leapp/error.h"

namespace leapp::testing {

using Json = nlohmann::json;

/// Reads a number; NaN and infinity, which JSON does not have, are strings.
inline double to_number(const Json& json) {
  return json.is_string() ? std::strtod(json.get<std::string>().c_str(), nullptr)
                          : json.get<double>();
}

inline std::chrono::nanoseconds to_time(const Json& json) {
  return std::chrono::nanoseconds(json.get<std::int64_t>());
}

inline PolicyResult::Kind result_kind(const std::string& name) {
  if (name == "failed") return PolicyResult::Kind::kFailed;
  return name == "not_finite" ? PolicyResult::Kind::kNotFinite : PolicyResult::Kind::kGood;
}

/// The memory of one port, in its type.
struct PortMemory {
  DType dtype;
  std::vector<double> doubles;
  std::vector<float> floats;
  std::vector<std::int64_t> longs;
  std::vector<std::int32_t> ints;
  std::vector<std::uint8_t> bytes;

  explicit PortMemory(const Port& port)
      : dtype(port.dtype),
        doubles(static_cast<std::size_t>(element_count(port.shape))),
        floats(doubles.size()),
        longs(doubles.size()),
        ints(doubles.size()),
        bytes(doubles.size()) {}
  void* data() {
    if (dtype == DType::kFloat32) return floats.data();
    if (dtype == DType::kInt64) return longs.data();
    if (dtype == DType::kInt32) return ints.data();
    return dtype == DType::kBool ? static_cast<void*>(bytes.data()) : doubles.data();
  }
  void store(const Json& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      doubles[i] = values[i].is_boolean() ? values[i].get<bool>() : to_number(values[i]);
      floats[i] = static_cast<float>(doubles[i]);
      if (dtype == DType::kInt64) longs[i] = static_cast<std::int64_t>(doubles[i]);
      if (dtype == DType::kInt32) ints[i] = static_cast<std::int32_t>(doubles[i]);
      bytes[i] = doubles[i] != 0 ? 1 : 0;
    }
  }
  Json load() const {
    if (dtype != DType::kFloat32) return doubles;
    Json values = Json::array();
    for (const float value : floats) values.push_back(static_cast<double>(value));
    return values;
  }
};

/// Writes the values that the sensors measured since the last tick; null means none.
inline void set_sensors(std::vector<SensorValues>& sensors, const Json& json) {
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (json[i].is_null()) continue;
    for (std::size_t e = 0; e < sensors[i].values.size(); ++e) {
      sensors[i].values[e] = to_number(json[i]["values"][e]);
    }
    sensors[i].age = to_time(json[i]["age"]);
    sensors[i].fresh = true;
  }
}

inline ControllerOptions to_options(const Json& json) {
  ControllerOptions options;
  if (json["linear"]) options.interpolation = Interpolation::kLinear;
  if (json["worker"]) options.execution = Execution::kWorker;
  if (!json["deadline"].is_null()) options.deadline = to_time(json["deadline"]);
  options.blend_in = to_time(json["blend_in"]);
  return options;
}

/// Answers each line of standard input with a line.
template <typename Run>
void answer_lines(const Run& run) {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << run(Json::parse(line)) << std::endl;
  }
}

}  // namespace leapp::testing
