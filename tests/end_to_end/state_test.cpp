// Recurrent programs traced from C++: a hundred ticks of the bundle, compared with the program.
#include <ATen/ATen.h>
#include <torch/nn/modules/rnn.h>

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;

// One tick of a program; `backend` is the export_with of its nodes. Captures its own memory.
using Step = std::function<Tensor(const Tensor& x, const std::string& backend)>;

struct Program {
  const char* name;
  std::function<Step()> make;
  std::vector<std::int64_t> input = {1, 4};
};

Tensor in(const std::string& node, const std::string& name, const Tensor& value) {
  return annotate::input_tensors(node, {{name, value}})[0];
}

Tensor out(const std::string& node, const std::string& name, const Tensor& value,
           const std::string& backend) {
  return annotate::output_tensors(node, {{name, value}}, {.export_with = backend})[0];
}

struct Hidden : torch::nn::Module {
  Hidden() {
    h = register_buffer("h", at::zeros({1, 8}));
    body = register_module("body", torch::nn::GRUCell(4, 8));
  }
  Tensor h;
  torch::nn::GRUCell body = nullptr;
};

Step explicit_state() {
  auto cell = std::make_shared<torch::nn::GRUCellImpl>(4, 8);
  auto h = std::make_shared<Tensor>(at::zeros({1, 8}));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    const Tensor before = annotate::state_tensors("policy", {{"h", *h}})[0];
    const Tensor after = cell->forward(obs, before);
    *h = annotate::update_state("policy", {{"h", after}})[0];
    return out("policy", "y", after.tanh(), backend);
  };
}

Step module_replaced() {
  auto model = std::make_shared<Hidden>();
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    annotate::module("policy", {{"h", model->h}}, [=] { return std::vector<Tensor>{model->h}; });
    model->h = model->body->forward(obs, model->h);
    return out("policy", "y", model->h * 2, backend);
  };
}

Step module_in_place() {
  auto model = std::make_shared<Hidden>();
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    annotate::module("policy", *model);
    model->h.copy_(model->body->forward(obs, model->h));
    return out("policy", "y", model->h * 2, backend);
  };
}

Step found_in_place() {
  auto model = std::make_shared<Hidden>();
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    model->h.copy_(model->body->forward(obs, model->h));
    return out("policy", "y", model->h * 2, backend);
  };
}

Step history(bool newest_first) {
  auto buffer = std::make_shared<Tensor>(at::zeros({5, 4}));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    const Tensor rolled = at::roll(*buffer, newest_first ? 1 : -1, 0);
    rolled.select(0, newest_first ? 0 : 4).copy_(obs[0]);
    buffer->copy_(rolled);
    return out("policy", "y", buffer->flatten() * 0.5, backend);
  };
}

Step ring_buffer() {
  auto buffer = std::make_shared<Tensor>(at::zeros({5, 4}));
  auto index = std::make_shared<Tensor>(at::zeros({1}, at::kLong));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    buffer->index_copy_(0, *index, obs);
    index->add_(1).remainder_(5);
    return out("policy", "y", buffer->sum(0) + *index, backend);
  };
}

Step lstm_of_two_layers() {
  auto lstm = std::make_shared<torch::nn::LSTMImpl>(torch::nn::LSTMOptions(4, 6).num_layers(2));
  auto h = std::make_shared<Tensor>(at::zeros({2, 1, 6}));
  auto c = std::make_shared<Tensor>(at::zeros({2, 1, 6}));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    const auto before = annotate::state_tensors("policy", {{"h", *h}, {"c", *c}});
    const auto [y, after] = lstm->forward(obs.unsqueeze(0), std::make_tuple(before[0], before[1]));
    *h = std::get<0>(after);
    *c = std::get<1>(after);
    annotate::update_state("policy", {{"h", *h}, {"c", *c}});
    return out("policy", "y", y, backend);
  };
}

Step running_statistics() {
  auto mean = std::make_shared<Tensor>(at::zeros({4}));
  auto count = std::make_shared<Tensor>(at::ones({}));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    count->add_(1);
    mean->add_((obs[0] - *mean) / *count);
    return out("policy", "y", obs - *mean, backend);
  };
}

Step delay_line() {
  auto line = std::make_shared<Tensor>(at::zeros({3, 4}));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("policy", "obs", x);
    const Tensor oldest = line->select(0, 2).clone();
    line->slice(0, 1, 3).copy_(line->slice(0, 0, 2).clone());
    line->select(0, 0).copy_(obs[0]);
    return out("policy", "y", oldest, backend);
  };
}

Step feedback_across_nodes() {
  auto last = std::make_shared<Tensor>(at::zeros({1, 4}));
  return [=](const Tensor& x, const std::string& backend) {
    const auto sensed = annotate::input_tensors("observe", {{"x", x}, {"last", *last}});
    const Tensor obs = out("observe", "obs", sensed[0] + 0.5 * sensed[1], backend);
    const Tensor seen = in("policy", "seen", obs);
    *last = out("policy", "action", seen.tanh(), backend);
    return *last;
  };
}

Step one_buffer_in_two_nodes() {
  auto buffer = std::make_shared<Tensor>(at::zeros({4}));
  return [=](const Tensor& x, const std::string& backend) {
    const Tensor obs = in("observe", "x", x);
    buffer->add_(obs[0]);
    const Tensor seen = in("policy", "seen", out("observe", "obs", obs * 2, backend));
    buffer->mul_(0.5);
    return out("policy", "action", seen + *buffer, backend);
  };
}

const std::vector<Program>& programs() {
  static const std::vector<Program> kPrograms = {
      {"ExplicitState", explicit_state},
      {"ModuleReplaced", module_replaced},
      {"ModuleInPlace", module_in_place},
      {"FoundInPlace", found_in_place},
      {"HistoryNewestFirst", [] { return history(true); }},
      {"HistoryOldestFirst", [] { return history(false); }},
      {"RingBuffer", ring_buffer},
      {"LstmOfTwoLayers", lstm_of_two_layers},
      {"RunningStatistics", running_statistics},
      {"DelayLine", delay_line},
      {"FeedbackAcrossNodes", feedback_across_nodes},
      {"OneBufferInTwoNodes", one_buffer_in_two_nodes},
  };
  return kPrograms;
}

class RecurrentTest : public testing::Workbench,
                      public ::testing::WithParamInterface<std::tuple<Program, const char*>> {};

INSTANTIATE_TEST_SUITE_P(Programs, RecurrentTest,
                         ::testing::Combine(::testing::ValuesIn(programs()),
                                            ::testing::Values("jit", "onnx")),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::get<1>(test.param);
                         });

TEST_P(RecurrentTest, AHundredTicksAreTheProgramsOwn) {
  const at::NoGradGuard no_grad;
  const auto& [program, backend] = GetParam();
  const auto make = [&program = program] {
    at::manual_seed(3);
    return program.make();
  };
  const Step traced = make();
  begin();
  for (int pass = 0; pass < 2; ++pass) traced(at::randn(program.input), backend);
  stop();
  compile_graph({.visualize = false});

  InferenceManager robot = manager();
  ASSERT_EQ(robot.inputs().size(), 1U);
  ASSERT_EQ(robot.outputs().size(), 1U);
  const Step plain = make();
  for (int tick = 0; tick < 100; ++tick) {
    const Tensor x = at::randn(program.input);
    const Tensor expected = plain(x, backend);
    const TensorMap found = robot.run_policy({{robot.inputs()[0], testing::to_leapp(x)}});
    const Tensor value = testing::to_torch(found.begin()->second);
    ASSERT_TRUE(at::allclose(value, expected, 1e-4, 1e-5)) << "tick " << tick;
  }
}

class StateTest : public testing::Workbench {};

TEST_F(StateTest, AModuleKeepsOrdinaryBuffersWithTheirEagerValues) {
  const at::NoGradGuard no_grad;
  at::manual_seed(3);
  Hidden model;
  at::manual_seed(3);
  Hidden plain;
  const Tensor x = at::randn({1, 4});
  begin();
  const Tensor obs = in("policy", "obs", x);
  annotate::module("policy", model);
  model.h.copy_(model.body->forward(obs, model.h));
  out("policy", "y", model.h * 2, "jit");
  stop();
  EXPECT_TRUE(at::equal(model.h, plain.body->forward(x, plain.h)));
}

TEST_F(StateTest, AnUnknownBufferIsNamed) {
  Hidden model;
  begin();
  in("policy", "obs", at::ones({1, 4}));
  EXPECT_THAT(testing::message_of([&] { annotate::module("policy", model, {"g"}); }),
              ::testing::AllOf(::testing::HasSubstr("policy"), ::testing::HasSubstr("g"),
                               ::testing::EndsWith("[LP003]")));
}

}  // namespace
}  // namespace leapp
