#include "runtime/engines/node_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "bundle/connect.h"
#include "runtime/session.h"
#include "support.h"

namespace leapp {
namespace {

using testing::port;

constexpr std::size_t kOutputs = 2;

/// Each output is the weighted sum of the inputs plus a constant. Every weight and constant is
/// different.
class SumEngine : public Engine {
 public:
  explicit SumEngine(float number) : number_(number) {}

  std::string description() const override { return "sum"; }

  std::unique_ptr<Binding> bind(std::span<const ConstTensorView> inputs,
                                std::span<const TensorView> outputs) override {
    return std::make_unique<Sum>(number_, inputs, outputs);
  }

 private:
  class Sum : public Binding {
   public:
    Sum(float number, std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs)
        : number_(number),
          inputs_(inputs.begin(), inputs.end()),
          outputs_(outputs.begin(), outputs.end()) {}

    void rebind_input(std::size_t i, const ConstTensorView& view) override { inputs_[i] = view; }
    void rebind_output(std::size_t i, const TensorView& view) override { outputs_[i] = view; }

    Result<void> run() noexcept override {
      float sum = number_;
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        sum += *static_cast<const float*>(inputs_[i].data) / static_cast<float>(i + 2);
      }
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        *static_cast<float*>(outputs_[i].data) = sum * static_cast<float>(i + 1);
      }
      return {};
    }

   private:
    float number_;
    std::vector<ConstTensorView> inputs_;
    std::vector<TensorView> outputs_;
  };

  float number_;
};

std::unique_ptr<Engine> sum_engine(std::size_t node) {
  return std::make_unique<SumEngine>(static_cast<float>(node) / 8);
}

ConstTensorView view_of(const float& value) {
  return {&value, DType::kFloat32, {1}};
}

float value_of(const Tensor* tensor) {
  return tensor == nullptr ? std::nanf("") : tensor->values<float>()[0];
}

Model model(const std::string& name, std::size_t inputs) {
  Model model;
  model.name = name;
  for (std::size_t i = 0; i < inputs; ++i) {
    model.inputs.push_back(port("x" + std::to_string(i), {1}));
  }
  for (std::size_t i = 0; i < kOutputs; ++i) {
    model.outputs.push_back(port("y" + std::to_string(i), {1}));
  }
  return model;
}

/// Returns two nodes that each read the other one's output of the previous tick.
Bundle pair() {
  Bundle bundle;
  bundle.models = {model("a", 1), model("b", 1)};
  add_wire(bundle.pipeline.feedback_flow, {"a", "y0"}, {"b", "x0"});
  add_wire(bundle.pipeline.feedback_flow, {"b", "y0"}, {"a", "x0"});
  return bundle;
}

TEST(NodeExecutorTest, AWireBringsWhatItsSourcePutOutInTheTickItSays) {
  NodeExecutor nodes(pair());
  const float initial = 5;
  nodes.set_initial({1, 0}, view_of(initial));
  for (const std::size_t node : {0U, 1U}) nodes.load(node, sum_engine(node));
  EXPECT_EQ(value_of(nodes.carried({0, 0})), 0);
  EXPECT_EQ(value_of(nodes.carried({1, 0})), 5);

  ASSERT_TRUE(nodes.run(0));
  nodes.commit(0);
  EXPECT_EQ(value_of(nodes.carried({1, 0})), 5);  // a has run, but in this tick
  const float given = 4;
  nodes.set_input({1, 0}, view_of(given));
  ASSERT_TRUE(nodes.run(1));
  EXPECT_EQ(value_of(&nodes.result({1, 0})), 2.125F);
  EXPECT_EQ(value_of(nodes.carried({0, 0})), 0);  // so it does not count yet
  nodes.commit(1);
  EXPECT_EQ(value_of(nodes.carried({0, 0})), 2.125F);

  nodes.forget(1);
  EXPECT_EQ(value_of(nodes.carried({0, 0})), 0);
  EXPECT_EQ(nodes.initial({0, 0})->values<float>()[0], 0);
}

TEST(NodeExecutorTest, AForwardWireBringsNothingBeforeItsSourceRan) {
  Bundle bundle;
  bundle.models = {model("a", 0), model("b", 2)};
  add_wire(bundle.pipeline.data_flow, {"a", "y1"}, {"b", "x0"});
  NodeExecutor nodes(bundle);
  nodes.load(0, sum_engine(1));
  EXPECT_EQ(nodes.carried({1, 0}), nullptr);
  EXPECT_EQ(nodes.carried({1, 1}), nullptr);  // supplied by the caller
  EXPECT_EQ(nodes.initial({1, 0}), nullptr);
  ASSERT_TRUE(nodes.run(0));
  nodes.commit(0);
  EXPECT_EQ(value_of(nodes.carried({1, 0})), 0.25F);
  EXPECT_FALSE(nodes.is_loaded(1));
}

TEST(NodeExecutorTest, ARepeatedNodeMayRunAgainOnTheSameInputs) {
  Bundle bundle;
  bundle.models = {model("a", 1)};
  bundle.pipeline.schedule = {{.node = "a", .repeat = 3, .carry = {{"y1", "x0"}}}};
  NodeExecutor nodes(bundle);
  nodes.load(0, sum_engine(1));
  const float given = 4;
  nodes.set_input({0, 0}, view_of(given));
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(nodes.run(0));
    EXPECT_EQ(value_of(&nodes.result({0, 1})), 4.75F);  // y1 = x0 + 0.25, three times
    EXPECT_EQ(value_of(&nodes.input({0, 0})), 4);
  }
}

TEST(NodeExecutorTest, ARestartBeginsWithTickZero) {
  Bundle bundle;
  bundle.models = {model("a", 1)};
  bundle.pipeline.schedule = {{.node = "a", .every = 3}};
  NodeExecutor nodes(bundle);
  std::string due;
  for (int tick = 0; tick < 8; ++tick) {
    if (tick == 4) nodes.restart();
    nodes.begin_tick();
    due += nodes.is_due(0) ? 'x' : '.';
  }
  EXPECT_EQ(due, "x..xx..x");
}

/// Returns a random pipeline in which every input is a forward wire, a feedback wire or external.
Bundle random_pipeline(std::mt19937& random) {
  Bundle bundle;
  const std::size_t count = 1 + random() % 6;
  std::vector<std::size_t> place(count);  // the list order differs from the execution order
  for (std::size_t i = 0; i < count; ++i) place[i] = i;
  std::shuffle(place.begin(), place.end(), random);
  for (std::size_t i = 0; i < count; ++i) {
    bundle.models.push_back(model("n" + std::to_string(i), random() % 4));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Model& reader = bundle.models[i];
    for (const Port& input : reader.inputs) {
      const std::size_t from = random() % count;
      const PortRef source{bundle.models[from].name, "y" + std::to_string(random() % kOutputs)};
      if (random() % 3 == 0) continue;
      const bool forward = place[from] < place[i] && random() % 2 == 0;
      add_wire(forward ? bundle.pipeline.data_flow : bundle.pipeline.feedback_flow, source,
               {reader.name, input.name});
    }
  }
  list_open_ports(bundle, {});
  return bundle;
}

/// Adds a random schedule that both executors accept.
void add_schedule(Bundle& bundle, std::mt19937& random) {
  for (const Model& reader : bundle.models) {
    if (random() % 2 == 0) continue;
    NodeSchedule schedule;
    schedule.node = reader.name;
    schedule.every = 1 + static_cast<std::int64_t>(random() % 3);
    schedule.phase = static_cast<std::int64_t>(random() % 3);
    schedule.repeat = 1 + static_cast<std::int64_t>(random() % 3);
    for (const Port& input : reader.inputs) {
      if (random() % 3 == 0) {
        schedule.carry.emplace("y" + std::to_string(random() % kOutputs), input.name);
      } else if (random() % 3 == 0) {
        schedule.on_change.push_back(input.name);
      }
    }
    bundle.pipeline.schedule.push_back(schedule);
  }
}

// Runs a pipeline as whole ticks on shared memory, and as single nodes on separate memory.
void expect_same(const Bundle& bundle, std::mt19937& random, const std::string& what) {
  NodeExecutor nodes(bundle);
  const std::vector<std::size_t>& order = nodes.wiring().order();
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::size_t node : order) {
    nodes.load(node, sum_engine(node));
    engines.push_back(sum_engine(node));
    groups.push_back({node});
  }
  const Plan plan = make_plan(bundle, groups);
  const RuntimeOptions options;
  Session session(plan, engines, options, {});
  for (const Wiring::Connection& wire : nodes.wiring().connections()) {
    if (!wire.last_tick) continue;
    const float value = static_cast<float>(random() % 16);
    nodes.set_initial(wire.target, view_of(value));
    const Access& access = plan.inputs.at(to_string(input_ref(bundle, wire.target)));
    session.store(session.now(access), &value).value();
  }
  for (int tick = 0; tick < 8; ++tick) {
    std::map<std::string, float> given;
    for (std::size_t i = 0; i < plan.external_inputs.size(); ++i) {
      const float value = given[plan.external_inputs[i]] = static_cast<float>(random() % 2);
      session.set_input(i, Tensor({1}, {value})).value();
    }
    session.tick().value();
    nodes.begin_tick();
    for (std::size_t node : order) {
      for (std::size_t i = 0; i < bundle.models[node].inputs.size(); ++i) {
        const Tensor* carried = nodes.carried({node, i});
        const float value = carried != nullptr ? value_of(carried)
                                               : given.at(to_string(input_ref(bundle, {node, i})));
        nodes.set_input({node, i}, view_of(value));
      }
      if (nodes.is_due(node)) {
        nodes.run(node).value();
        nodes.commit(node);
      }
      for (std::size_t i = 0; i < kOutputs; ++i) {
        const std::string name = to_string(output_ref(bundle, {node, i}));
        const Tensor computed = session.read(session.now(plan.outputs.at(name)));
        const Tensor* const latest = nodes.output({node, i}, 1);
        ASSERT_EQ(latest == nullptr ? 0 : value_of(latest), value_of(&computed))
            << name << " in tick " << tick << " of " << what;
      }
    }
  }
}

TEST(NodeExecutorTest, ComputesWhatASessionComputes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    expect_same(random_pipeline(random), random, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(NodeExecutorTest, ComputesWhatASessionComputesOnASchedule) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    Bundle bundle = random_pipeline(random);
    add_schedule(bundle, random);
    expect_same(bundle, random, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace leapp
