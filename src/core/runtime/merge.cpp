#include "runtime/merge.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "base/log.h"
#include "bundle/connect.h"
#include "bundle/wiring.h"
#include "leapp/comparison.h"
#include "runtime/loader.h"
#include "runtime/mock_input.h"
#include "runtime/session.h"

namespace leapp {
namespace {

bool may_merge(const Model& model, const RuntimeOptions& options) {
  return model.file && model.external_data.empty() && options.engines.merges(*model.backend);
}

// Returns whether two nodes may be in one step, as far as it is known without opening their files.
bool fit_together(const Model& a, const Timing& when_a, const Model& b, const Timing& when_b,
                  const RuntimeOptions& options) {
  if (!when_a.is_merely_periodic() || when_a != when_b) return false;
  return may_merge(a, options) && may_merge(b, options) && a.backend == b.backend &&
         a.opset_version == b.opset_version &&
         engine_options(options, a.name) == engine_options(options, b.name);
}

// Returns the first output that differs, or nothing. Throws the errors of running them.
std::string find_difference(const Bundle& part,
                            const std::vector<std::unique_ptr<Engine>>& separate,
                            const std::vector<std::unique_ptr<Engine>>& merged) {
  std::vector<std::vector<std::size_t>> one_by_one;
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
  std::mt19937 random(0);
  for (std::size_t i = 0; i < separate_plan.external_inputs.size(); ++i) {
    const PortRef ref = *parse_port_ref(separate_plan.external_inputs[i]);
    const Tensor value = mock_value(*part.find_input(ref), random);
    separate_session.set_input(i, value).value();
    merged_session.set_input(i, value).value();
  }
  separate_session.tick().value();
  merged_session.tick().value();
  for (std::size_t i = 0; i < separate_plan.external_outputs.size(); ++i) {
    const Tensor apart = separate_session.read(separate_session.output(i));
    const Tensor joined = merged_session.read(merged_session.output(i));
    const Tolerance tolerance = exact_unless_rounded(apart.dtype(), kReordered);
    if (!compare(apart.view(), joined.view(), tolerance).passed()) {
      return separate_plan.external_outputs[i];
    }
  }
  return {};
}

std::unique_ptr<Engine> merge_and_prove(const Bundle& bundle, const PlannedStep& step,
                                        const std::vector<std::unique_ptr<Engine>>& separate,
                                        const VerifiedFiles& files, const RuntimeOptions& options) {
  const Bundle part = isolate(bundle, step);
  std::vector<LoadedNode> nodes;
  for (std::size_t i = 0; i < part.models.size(); ++i) {
    nodes.push_back({file_of(bundle, part.models[i], files, options), separate[i].get()});
  }
  std::vector<std::unique_ptr<Engine>> merged;
  merged.push_back(options.engines.load_merged(part, nodes, step.model,
                                               engine_options(options, part.models[0].name)));
  const std::string difference = find_difference(part, separate, merged);
  require(difference.empty(), Code::kNotMerged, difference + " differs");
  return std::move(merged[0]);
}

}  // namespace

std::vector<std::vector<std::size_t>> choose_steps(const Bundle& bundle,
                                                   const RuntimeOptions& options) {
  const Wiring wiring(bundle);
  const std::vector<std::size_t>& order = wiring.order();
  std::vector<std::vector<std::size_t>> steps;
  if (options.merge == Merge::kOff) {
    for (std::size_t model : order) steps.push_back({model});
    return steps;
  }
  // A node is ready when all its producers have run.
  std::vector<std::vector<std::size_t>> consumers(bundle.models.size());
  std::vector<std::size_t> waiting(bundle.models.size(), 0);
  for (const Wiring::Precedence& each : wiring.precedences()) {
    consumers[each.before].push_back(each.after);
    ++waiting[each.after];
  }
  std::vector<std::size_t> rank(bundle.models.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  const auto later = [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; };
  std::vector<std::size_t> free;  // a heap with the earliest node of the usual order on top
  for (std::size_t model : order) {
    if (waiting[model] == 0) free.push_back(model);
  }
  std::make_heap(free.begin(), free.end(), later);
  std::vector<std::size_t> set_aside;
  const auto run = [&](std::size_t model) {
    for (std::size_t consumer : consumers[model]) {
      if (--waiting[consumer] == 0) {
        free.push_back(consumer);
        std::push_heap(free.begin(), free.end(), later);
      }
    }
  };
  while (!free.empty()) {
    // Start with the earliest node, then add all nodes that fit.
    std::vector<std::size_t> step;
    while (!free.empty()) {
      std::pop_heap(free.begin(), free.end(), later);
      const std::size_t model = free.back();
      free.pop_back();
      if (!step.empty() && !fit_together(bundle.models[step[0]], wiring.timing(step[0]),
                                         bundle.models[model], wiring.timing(model), options)) {
        set_aside.push_back(model);
        continue;
      }
      step.push_back(model);
      run(model);
      const bool alone =
          !may_merge(bundle.models[model], options) || !wiring.timing(model).is_merely_periodic();
      if (alone) break;
    }
    for (std::size_t model : set_aside) {
      free.push_back(model);
      std::push_heap(free.begin(), free.end(), later);
    }
    set_aside.clear();
    steps.push_back(std::move(step));
  }
  return steps;
}

Bundle isolate(const Bundle& bundle, const PlannedStep& step) {
  Bundle part;
  part.file = bundle.file;
  const Wiring wiring(bundle);
  std::vector<bool> is_inside(bundle.models.size(), false);
  for (std::size_t node : step.models) is_inside[node] = true;
  for (std::size_t node : step.models) {
    const Model& model = part.models.emplace_back(bundle.models[node]);
    NodePorts inputs{model.name, {}};
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const std::optional<Wiring::Source>& source = wiring.source_of({node, i});
      if (source && !source->last_tick && is_inside[source->output.node]) {
        add_wire(part.pipeline.data_flow, output_ref(bundle, source->output),
                 input_ref(bundle, {node, i}));
      } else {
        inputs.ports.push_back(model.inputs[i].name);
      }
    }
    if (!inputs.ports.empty()) part.pipeline.inputs.push_back(std::move(inputs));
  }
  for (const Port& port : step.model.outputs) {
    const PortRef ref = *parse_port_ref(port.name);
    part.pipeline.outputs.push_back({ref.node, {ref.port}});
  }
  return part;
}

std::unique_ptr<Engine> load_merged(const Bundle& bundle, const PlannedStep& step,
                                    const std::vector<std::unique_ptr<Engine>>& separate,
                                    const VerifiedFiles& files, const RuntimeOptions& options) {
  try {
    return merge_and_prove(bundle, step, separate, files, options);
  } catch (const Error& error) {
    log(LogLevel::kInfo, "nodes " + step.model.name + " run one by one: " + error.what());
    return nullptr;
  }
}

void prove_merged(const Bundle& bundle, const PlannedStep& step,
                  const std::vector<std::unique_ptr<Engine>>& separate, const VerifiedFiles& files,
                  const RuntimeOptions& options) {
  merge_and_prove(bundle, step, separate, files, options);
}

}  // namespace leapp
