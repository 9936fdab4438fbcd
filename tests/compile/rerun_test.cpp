#include "compile/rerun.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "trace/recording.h"

namespace leapp::compile {
namespace {

using at::Tensor;
using session::BetweenCall;
using session::PortId;
using session::Route;
using ::testing::ElementsAre;

const PortId kSource = {0, "y"};

Route call(const char* name, const char* overload, std::vector<c10::IValue> arguments,
           std::vector<std::optional<Route>> routes, std::size_t result = 0) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  auto made = std::make_shared<BetweenCall>(
      BetweenCall{op, {}, std::move(arguments), std::move(routes), {}});
  return {{}, std::move(made), result};
}

// (y * scale)[half], and what is added to it in place
Route way(std::size_t half) {
  const Tensor any = at::empty({0});
  const Tensor scale = at::full({4}, 2.0F);
  const Route scaled = call("aten::mul", "Tensor", {any, scale}, {Route{kSource}, std::nullopt});
  const Route part = call("aten::chunk", "", {any, 2, 0}, {scaled}, half);
  return call("aten::add_", "Scalar", {any, 1, 1}, {part});
}

TEST(RerunTest, ARouteLeadsToItsValueAndLeavesItsSourceAlone) {
  const Tensor y = at::arange(4, at::kFloat);
  EXPECT_TRUE(at::equal(Rerun({{kSource, {y}}}).value_of(way(1)).tensor, at::tensor({5.0F, 7.0F})));
  EXPECT_TRUE(at::equal(Rerun({{kSource, {y}}}).value_of(way(0)).tensor, at::tensor({1.0F, 3.0F})));
  EXPECT_TRUE(at::equal(y, at::arange(4, at::kFloat)));
  EXPECT_TRUE(at::equal(Rerun({{kSource, {y}}}).value_of({kSource}).tensor, y));
}

TEST(RerunTest, CallsThatDoNotFitTheValuesThrow) {
  EXPECT_THROW(Rerun({{kSource, {at::ones({3})}}}).value_of(way(0)), c10::Error);
}

TEST(RerunTest, ATapeHasWhatRanOnce) {
  trace::CaptureTable captures;
  trace::Tape tape(captures);
  const Tensor y = at::arange(4, at::kFloat);
  const trace::VarId input = tape.add_input(y, 0);
  Rerun rerun({{kSource, {y, input}}}, tape, 0);
  const Route route = way(1);
  const Rerun::Known value = rerun.value_of(route);
  EXPECT_EQ(rerun.value_of(route).var, value.var);
  std::vector<std::string> names;
  for (const trace::Call& each : tape.calls()) names.push_back(each.op.schema().name());
  EXPECT_THAT(names, ElementsAre("aten::mul", "aten::chunk", "aten::clone", "aten::add_"));
  EXPECT_TRUE(trace::depends_on_inputs(tape, value.var));
}

}  // namespace
}  // namespace leapp::compile
