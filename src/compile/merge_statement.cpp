#include "compile/merge_statement.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "base/find.h"
#include "interop/convert.h"
#include "runtime/merge_proof.h"

namespace leapp::compile {
namespace {

using rehearse::ExportedNode;
using rehearse::Rollout;
using rehearse::RolloutSample;

// One pass of several nodes, by name.
using JoinedSample = std::map<std::string, const RolloutSample*>;

// Returns the passes of which every node has a sample. Nodes of one step run equally often.
std::vector<JoinedSample> join_samples(const std::vector<ExportedNode>& nodes,
                                       const std::vector<std::size_t>& joined,
                                       const Rollout& rollout) {
  std::vector<JoinedSample> result;
  for (const RolloutSample& first : rollout.samples[joined[0]]) {
    JoinedSample sample;
    for (const std::size_t node : joined) {
      const RolloutSample* own = find_in(rollout.samples[node], first.pass, &RolloutSample::pass);
      if (own != nullptr) sample[nodes[node].model.name] = own;
    }
    if (sample.size() == joined.size()) result.push_back(std::move(sample));
  }
  return result;
}

MergeSamples samples_of(const std::vector<ExportedNode>& nodes,
                        const std::vector<std::size_t>& joined, const Rollout& rollout,
                        const Bundle& bundle) {
  const auto samples =
      std::make_shared<std::vector<JoinedSample>>(join_samples(nodes, joined, rollout));
  return {samples->size(), [samples, &bundle](std::size_t index, const PortRef& input) {
            const Model& model = *bundle.find_model(input.node);
            const std::size_t port = *index_in(model.inputs, input.port, &Port::name);
            return Tensor(interop::view_of((*samples)[index].at(input.node)->inputs[port]));
          }};
}

}  // namespace

void state_merged(const std::vector<ExportedNode>& nodes, const std::filesystem::path& folder,
                  const Rollout& rollout, Bundle& bundle) {
  std::vector<std::size_t> single;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeOutcome& outcome = rollout.outcomes[i];
    const bool stays_torchscript = outcome.translation && !outcome.translation->left_out.empty();
    if (rollout.samples[i].empty() || !outcome.passed || stays_torchscript) single.push_back(i);
  }
  RuntimeOptions options;
  options.bundle.allow_outside_files = true;  // models may be used in place
  options.bundle.trust = Trust::kCode;        // the rollout ran them
  bundle.pipeline.merged =
      decide_merged(bundle, folder, options, single, [&](const std::vector<std::size_t>& joined) {
        return samples_of(nodes, joined, rollout, bundle);
      });
}

}  // namespace leapp::compile
