#include "translate/sample_run.h"

#include <random>

#include "base/check.h"
#include "bundle/golden_traces.h"
#include "leapp/comparison.h"
#include "runtime/engines/node_executor.h"
#include "runtime/loader.h"
#include "runtime/mock_input.h"

namespace leapp::translate {
namespace {

class Sampler {
 public:
  Sampler(LoadedBundle loaded, const BundleOptions& options)
      : loaded_(std::move(loaded)), bundle_(loaded_.bundle), nodes_(bundle_) {
    if (bundle_.pipeline.golden) golden_.emplace(bundle_, read_golden_file(bundle_, options));
    for (std::size_t i = 0; i < loaded_.engines.size(); ++i) {
      nodes_.load(loaded_.plan.steps[i].models[0], std::move(loaded_.engines[i]));
    }
    set_initial_values(nodes_, loaded_);
  }

  SampleRun run(std::size_t made_up) && {
    const std::size_t ticks = (golden_ ? golden_->ticks() : 0) + made_up;
    try {
      for (std::size_t tick = 0; tick < ticks; ++tick) run_tick(tick);
    } catch (const Error& error) {
      result_.ended = error.what();
    }
    return std::move(result_);
  }

 private:
  void run_tick(std::size_t tick) {
    nodes_.begin_tick();
    samples_.assign(bundle_.models.size(), std::nullopt);
    const std::vector<std::size_t>& order = nodes_.wiring().order();
    for (const std::size_t node : order) fill(node, tick, false);
    for (const std::size_t node : order) {
      fill(node, tick, true);
      if (nodes_.is_due(node)) run_node(node);
    }
    result_.ticks.push_back(std::move(samples_));
  }

  // Fills the inputs that forward wires feed, or the others.
  void fill(std::size_t node, std::size_t tick, bool forward) {
    const Model& model = bundle_.models[node];
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const std::optional<Wiring::Source>& source = nodes_.wiring().source_of({node, i});
      if ((source && !source->last_tick) != forward || nodes_.is_fed_by_schedule({node, i})) {
        continue;
      }
      const Tensor* const carried = nodes_.carried({node, i});
      nodes_.set_input({node, i}, carried != nullptr
                                      ? carried->view()
                                      : external_value(tick, {model.name, model.inputs[i].name},
                                                       model.inputs[i]));
    }
  }

  ConstTensorView external_value(std::size_t tick, const PortRef& input, const Port& port) {
    if (golden_ && tick < golden_->ticks()) {
      if (const ConstTensorView* const stored = golden_->input(tick, input)) return *stored;
    }
    made_up_ = mock_value(port, random_);
    return std::as_const(made_up_).view();
  }

  void run_node(std::size_t node) {
    nodes_.run(node).value();
    const Model& model = bundle_.models[node];
    NodeSample sample;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      sample.inputs.push_back(nodes_.input({node, i}));
    }
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      sample.outputs.push_back(nodes_.result({node, i}));
    }
    samples_[node] = std::move(sample);
    nodes_.commit(node);
  }

  LoadedBundle loaded_;
  const Bundle& bundle_;
  NodeExecutor nodes_;
  std::optional<GoldenTraces> golden_;
  std::mt19937 random_;
  Tensor made_up_;
  std::vector<std::optional<NodeSample>> samples_;  // of the current tick
  SampleRun result_;
};

}  // namespace

SampleRun run_samples(const std::filesystem::path& yaml, const BundleOptions& options,
                      std::size_t made_up) {
  RuntimeOptions as_it_is;
  as_it_is.bundle = options;
  as_it_is.merge = Merge::kOff;
  as_it_is.engine.translate = false;
  LoadedBundle loaded = load_bundle(yaml, as_it_is);
  require(loaded.cannot_run.empty(), Code::kNoModel, loaded.cannot_run);
  return Sampler(std::move(loaded), options).run(made_up);
}

std::string find_difference(const Bundle& bundle, const SampleRun& run, std::size_t node,
                            std::unique_ptr<Engine> engine,
                            const std::vector<Tolerance>& tolerances) {
  NodeExecutor nodes(bundle);
  nodes.load(node, std::move(engine));
  const auto differs = [&](const NodeSample& sample, std::size_t output) {
    const Tensor& computed = nodes.result({node, output});
    return !compare(sample.outputs[output].view(), computed.view(), tolerances[output]).passed();
  };
  for (std::size_t tick = 0; tick < run.ticks.size(); ++tick) {
    nodes.begin_tick();
    for (const std::size_t each : nodes.wiring().order()) {
      const std::optional<NodeSample>& sample = run.ticks[tick][each];
      if (!sample) continue;
      if (each == node) {
        for (std::size_t i = 0; i < sample->inputs.size(); ++i) {
          nodes.set_input({node, i}, sample->inputs[i].view());
        }
        nodes.run(node).value();
        for (std::size_t i = 0; i < sample->outputs.size(); ++i) {
          if (!differs(*sample, i)) continue;
          return "its output '" + bundle.models[node].outputs[i].name + "' differs in tick " +
                 std::to_string(tick);
        }
      }
      nodes.commit(each);  // the schedule counts the runs of every node
    }
  }
  return {};
}

}  // namespace leapp::translate
