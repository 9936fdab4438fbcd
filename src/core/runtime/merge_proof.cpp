#include "runtime/merge_proof.h"

#include <random>

#include "base/check.h"
#include "base/log.h"
#include "leapp/comparison.h"
#include "runtime/loader.h"
#include "runtime/merge.h"
#include "runtime/merged_onnx.h"
#include "runtime/mock_input.h"
#include "runtime/session.h"

namespace leapp {
namespace {

// Returns the first output that differs, with its sample, or an empty string. Throws the errors of
// running the nodes.
std::string find_difference(const Bundle& part,
                            const std::vector<std::unique_ptr<Engine>>& separate,
                            const std::vector<std::unique_ptr<Engine>>& merged,
                            const MergeSamples& samples) {
  NodeGroups one_by_one;
  std::vector<std::size_t> together;
  for (std::size_t i = 0; i < part.models.size(); ++i) {
    one_by_one.push_back({i});
    together.push_back(i);
  }
  const Plan separate_plan = make_plan(part, one_by_one);
  const Plan merged_plan = make_plan(part, {together});
  const RuntimeOptions plain;
  Session separate_session(separate_plan, separate, plain, {});
  Session merged_session(merged_plan, merged, plain, {});
  for (std::size_t sample = 0; sample < samples.count; ++sample) {
    for (std::size_t i = 0; i < separate_plan.external_inputs.size(); ++i) {
      const Tensor value = samples.input(sample, *parse_port_ref(separate_plan.external_inputs[i]));
      separate_session.set_input(i, value).value();
      merged_session.set_input(i, value).value();
    }
    separate_session.tick().value();
    merged_session.tick().value();
    for (std::size_t i = 0; i < separate_plan.external_outputs.size(); ++i) {
      const Tensor apart = separate_session.read(separate_session.output(i));
      const Tensor joined = merged_session.read(merged_session.output(i));
      const Tolerance tolerance = exact_unless_rounded(apart.dtype(), kReordered);
      if (compare(apart.view(), joined.view(), tolerance).passed()) continue;
      return separate_plan.external_outputs[i] + " differs in sample " + std::to_string(sample);
    }
  }
  return {};
}

void require_small(const Bundle& part, const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  for (const Model& model : part.models) {
    std::error_code missing;  // VerifiedFiles reports it
    const std::uintmax_t size = std::filesystem::file_size(folder / model.file->path, missing);
    if (!missing) bytes += size;
  }
  require(bytes <= kMaxMergedBytes, Code::kNotMerged,
          "the models have " + std::to_string(bytes) + " bytes, and only up to " +
              std::to_string(kMaxMergedBytes) +
              " (32 MiB) are merged. Larger models would not become faster");
}

// Throws an Error with the reason if the step must not be merged.
void try_merged(const Bundle& bundle, const PlannedStep& step, const std::filesystem::path& folder,
                const RuntimeOptions& options, const MergeSamples& samples) {
  const Bundle part = isolate(bundle, step);
  require(samples.count > 0, Code::kNotMerged, "no sample has values of all of them");
  require_small(part, folder);
  const VerifiedFiles files(part, folder, options.bundle);
  std::vector<std::unique_ptr<Engine>> separate;
  for (const Model& model : part.models) {
    separate.push_back(load_node(bundle, model, files, options));
  }
  prove_merged(bundle, step, separate, files, options, samples);
}

}  // namespace

MergeSamples mock_samples(const Bundle& bundle, std::size_t count) {
  const auto random = std::make_shared<std::mt19937>(0);
  return {count, [&bundle, random](std::size_t, const PortRef& input) {
            return mock_value(*bundle.find_input(input), *random);
          }};
}

void prove_merged(const Bundle& bundle, const PlannedStep& step,
                  const std::vector<std::unique_ptr<Engine>>& separate, const VerifiedFiles& files,
                  const RuntimeOptions& options, const MergeSamples& samples) {
  std::vector<std::unique_ptr<Engine>> merged;
  merged.push_back(load_merged(bundle, step, separate, files, options));
  const std::string difference = find_difference(isolate(bundle, step), separate, merged, samples);
  require(difference.empty(), Code::kNotMerged, difference);
}

std::optional<std::vector<std::vector<std::string>>> decide_merged(
    const Bundle& bundle, const std::filesystem::path& folder, const RuntimeOptions& options,
    const std::vector<std::size_t>& single,
    const std::function<MergeSamples(const std::vector<std::size_t>& nodes)>& samples_of) {
  std::optional<std::vector<std::vector<std::string>>> merged;
  const Plan plan = make_plan(bundle, propose_steps(bundle, options, single));
  for (const PlannedStep& step : plan.steps) {
    if (step.models.size() < 2) continue;
    if (!merged) merged.emplace();
    try {
      try_merged(bundle, step, folder, options, samples_of(step.models));
      std::vector<std::string>& group = merged->emplace_back();
      for (const std::size_t node : step.models) group.push_back(bundle.models[node].name);
    } catch (const Error& error) {
      log(LogLevel::kInfo, "nodes " + step.model.name + " will run one by one: " + error.what());
    }
  }
  return merged;
}

}  // namespace leapp
