#include "runtime/merge.h"

#include <algorithm>

#include "bundle/connect.h"
#include "bundle/wiring.h"
#include "runtime/loader.h"

namespace leapp {
namespace {

bool may_merge(const Model& model, const RuntimeOptions& options) {
  return model.file && model.external_data.empty() && options.engines.merges(*model.backend);
}

// Returns whether two nodes may be in one step, as far as it is known without opening their files.
bool fit_together(const Bundle& bundle, const Wiring& wiring, std::size_t first, std::size_t second,
                  const RuntimeOptions& options) {
  const Model& a = bundle.models[first];
  const Model& b = bundle.models[second];
  return wiring.timing(first) == wiring.timing(second) && a.backend == b.backend &&
         a.opset_version == b.opset_version &&
         engine_options(options, a.name) == engine_options(options, b.name);
}

}  // namespace

NodeGroups propose_steps(const Bundle& bundle, const RuntimeOptions& options,
                         const std::vector<std::size_t>& single) {
  const Wiring wiring(bundle);
  const std::vector<std::size_t>& order = wiring.order();
  const auto is_single = [&](std::size_t model) {
    return !may_merge(bundle.models[model], options) ||
           !wiring.timing(model).is_merely_periodic() || std::ranges::count(single, model) > 0;
  };
  NodeGroups steps;
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
      if (!step.empty() &&
          (is_single(model) || !fit_together(bundle, wiring, step[0], model, options))) {
        set_aside.push_back(model);
        continue;
      }
      step.push_back(model);
      run(model);
      if (is_single(model)) break;
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

NodeGroups stated_steps(const Bundle& bundle, const RuntimeOptions& options) {
  const Wiring wiring(bundle);
  const RuleReporter reporter([](const FieldPath&) { return std::string(); });
  NodeGroups groups = resolve_merged(bundle, wiring, reporter);
  std::erase_if(groups, [&](const std::vector<std::size_t>& group) {
    return !std::ranges::all_of(group, [&](std::size_t node) {
      return may_merge(bundle.models[node], options) &&
             fit_together(bundle, wiring, group[0], node, options);
    });
  });
  return order_groups(wiring, groups);
}

std::unique_ptr<Engine> load_merged(const Bundle& bundle, const PlannedStep& step,
                                    const std::vector<std::unique_ptr<Engine>>& separate,
                                    const VerifiedFiles& files, const RuntimeOptions& options) {
  const Bundle part = isolate(bundle, step);
  std::vector<LoadedNode> nodes;
  for (std::size_t i = 0; i < part.models.size(); ++i) {
    nodes.push_back({file_of(bundle, part.models[i], files, options), separate[i].get()});
  }
  return options.engines.load_merged(part, nodes, step.model,
                                     engine_options(options, part.models[0].name));
}

}  // namespace leapp
