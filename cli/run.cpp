#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "leapp/tensor_file.h"
#include "text.h"

namespace leapp::cli {
namespace {

struct RunArguments {
  std::string yaml;
  bool json = false;
  int ticks = 1;
  std::uint32_t seed = 0;
  std::string input;
  bool mock = false;
  std::string output;
  EngineFlags engine;
};

template <typename T>
nlohmann::json numbers(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return std::vector<T>(values.begin(), values.end());
}

// JSON knows only doubles: the shortest text that identifies this float, read as a double.
nlohmann::json short_floats(const Tensor& tensor) {
  std::vector<double> numbers;
  for (float value : tensor.values<float>()) {
    std::array<char, 32> text{};
    std::to_chars(text.data(), text.data() + text.size() - 1, value);
    numbers.push_back(std::strtod(text.data(), nullptr));
  }
  return numbers;
}

// The elements as a flat list; null for numbers that JSON cannot express.
nlohmann::json elements(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kBool:
      return numbers<bool>(tensor);
    case DType::kUInt8:
      return numbers<std::uint8_t>(tensor);
    case DType::kInt8:
      return numbers<std::int8_t>(tensor);
    case DType::kUInt16:
      return numbers<std::uint16_t>(tensor);
    case DType::kInt16:
      return numbers<std::int16_t>(tensor);
    case DType::kUInt32:
      return numbers<std::uint32_t>(tensor);
    case DType::kInt32:
      return numbers<std::int32_t>(tensor);
    case DType::kUInt64:
      return numbers<std::uint64_t>(tensor);
    case DType::kInt64:
      return numbers<std::int64_t>(tensor);
    case DType::kFloat32:
      return short_floats(tensor);
    case DType::kFloat64:
      return numbers<double>(tensor);
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kComplex64:
    case DType::kComplex128:
      return nullptr;
  }
  return nullptr;
}

void print(const TensorMap& outputs, bool json) {
  nlohmann::ordered_json object;
  for (const auto& [name, tensor] : outputs) {
    const nlohmann::json values = elements(tensor);
    if (json) {
      object[name] = {
          {"dtype", name_of(tensor.dtype())}, {"shape", tensor.shape()}, {"values", values}};
      continue;
    }
    std::string text = values.is_null() ? "(not shown; use --output)" : values.dump();
    constexpr std::size_t kLine = 400;
    if (text.size() > kLine) text = text.substr(0, kLine) + " .. (all of it with --output)";
    std::printf("%s %s %s\n  %s\n", name.c_str(), std::string(name_of(tensor.dtype())).c_str(),
                to_string(tensor.shape()).c_str(), text.c_str());
  }
  if (json) std::printf("%s\n", json_text(object).c_str());
}

// Returns inputs from the file, mock inputs, or both. A missing value gets mock input only if
// requested.
TensorMap inputs_for(const InferenceManager& manager, const RunArguments& arguments) {
  if (arguments.input.empty()) return manager.get_mock_input(arguments.seed);
  TensorMap given = read_tensors(arguments.input);
  TensorMap inputs = arguments.mock ? manager.get_mock_input(arguments.seed) : TensorMap();
  // By the port's own name, whichever name the file uses.
  for (auto& [name, tensor] : given) {
    inputs.insert_or_assign(manager.inputs()[manager.input_port(name).index()], std::move(tensor));
  }
  std::string missing;
  for (const std::string& name : manager.inputs()) {
    if (!inputs.contains(name)) missing += (missing.empty() ? "" : ", ") + name;
  }
  if (!missing.empty()) {
    throw Error(Code::kMissingInput, "--input " + arguments.input + " lacks a value for: " +
                                         missing + "; add them, or use --mock");
  }
  return inputs;
}

std::string not_empty(const std::string& path) {
  return path.empty() ? "a file name is empty" : "";
}

int run_bundle(const RunArguments& arguments) {
  InferenceManager manager(arguments.yaml, arguments.engine.options());
  const TensorMap inputs = inputs_for(manager, arguments);
  TensorMap outputs;
  for (int i = 0; i < arguments.ticks; ++i) outputs = manager.run_policy(inputs);
  // Written before printing: the output is either values or an error, never both.
  if (!arguments.output.empty()) write_tensors(arguments.output, outputs);
  print(outputs, arguments.json);
  return kDone;
}

}  // namespace

Command add_run(CLI::App& program) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* app = program.add_subcommand(
      "run", "run ticks with inputs from a file, or with mock input, and show the last outputs");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->add_option("--ticks", arguments->ticks, "how many")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxTicks));
  app->add_option("--seed", arguments->seed, "seed of the mock input")->capture_default_str();
  app->add_option("--input", arguments->input,
                  "a safetensors file with every input; keys are node/port (default: mock input)")
      ->check(not_empty);
  app->add_flag("--mock", arguments->mock, "use mock input for the inputs that the file lacks");
  app->add_option("--output", arguments->output, "write the last outputs to a safetensors file")
      ->check(not_empty);
  arguments->engine.add_to(*app);
  arguments->engine.add_no_merge_to(*app);
  app->footer("Example: leapp run walker/walker.yaml --ticks 100 --input obs.safetensors");
  return {app, [arguments] { return run_bundle(*arguments); }};
}

}  // namespace leapp::cli
