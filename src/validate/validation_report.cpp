#include "validate/validation_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare/comparison_json.h"

namespace leapp {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json sample_json(const SampleOutcome& sample) {
  Json outputs = Json::array();
  for (const OutputOutcome& output : sample.outputs) {
    Json entry = {{"name", output.name}};
    entry.update(to_json(output.comparison));
    outputs.push_back(std::move(entry));
  }
  return {{"label", sample.label},
          {"error", text_or_null(sample.error)},
          {"outputs", std::move(outputs)}};
}

Json node_json(const NodeOutcome& outcome) {
  Json samples = Json::array();
  for (const SampleOutcome& sample : outcome.samples) samples.push_back(sample_json(sample));
  Json node = {{"node", outcome.node},
               {"passed", outcome.passed},
               {"error", text_or_null(outcome.error)},
               {"not_compared", text_or_null(outcome.not_compared)},
               {"samples", std::move(samples)}};
  if (outcome.translation) {
    node["translation"] = {{"kept", outcome.translation->left_out.empty()},
                           {"left_out", text_or_null(outcome.translation->left_out)}};
  }
  return node;
}

}  // namespace

ValidationCounts count(const std::vector<NodeOutcome>& outcomes) {
  ValidationCounts counts;
  for (const NodeOutcome& outcome : outcomes) {
    if (!outcome.error.empty()) {
      ++counts.errored;
    } else if (!outcome.passed) {
      ++counts.failed;
    } else {
      ++(outcome.not_compared.empty() ? counts.passed : counts.not_compared);
    }
  }
  return counts;
}

std::string validation_json(const std::vector<NodeOutcome>& outcomes, const Tolerance& tolerance,
                            const std::string& yaml_sha256sum) {
  const ValidationCounts counts = count(outcomes);
  Json nodes = Json::array();
  for (const NodeOutcome& outcome : outcomes) nodes.push_back(node_json(outcome));
  const Json report = {
      {"version", 1},
      {"yaml_sha256sum", yaml_sha256sum},
      {"passed", std::all_of(outcomes.begin(), outcomes.end(),
                             [](const NodeOutcome& outcome) { return outcome.passed; })},
      {"rtol", tolerance.rtol},
      {"atol", tolerance.atol},
      {"summary",
       {{"passed", counts.passed},
        {"failed", counts.failed},
        {"errored", counts.errored},
        {"not_compared", counts.not_compared}}},
      {"nodes", std::move(nodes)}};
  // Without indentation, which would be more than half of the file.
  return report.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace leapp
