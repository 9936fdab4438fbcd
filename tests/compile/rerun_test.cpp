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

// (y * scale)[half], and an in-place addition to it
Route way(std::size_t half) {
  const Tensor any = at::empty({0});
  const Tensor scale = at::full({4}, 2.0F);
  const Route scaled = call("aten::mul", "Tensor", {any, scale}, {Route{kSource}, std::nullopt});
  const Route part = call("aten::chunk", "", {any, 2, 0}, {scaled}, half);
  return call("aten::add_", "Scalar", {any, 1, 1}, {part});
}

class RerunTest : public ::testing::Test {
 protected:
  Known rerun(const Route& route, const Tensor& y) {
    return compile::rerun(route, {{kSource, {y, tape_.add_input(y, 0)}}}, tape_, 0);
  }
  std::vector<std::string> operators() const {
    std::vector<std::string> names;
    for (const trace::Call& each : tape_.calls()) names.push_back(each.op.schema().name());
    return names;
  }

  trace::CaptureTable captures_;
  trace::Tape tape_{captures_};
};

TEST_F(RerunTest, ARouteLeadsToItsValueAndLeavesItsSourceAlone) {
  const Tensor y = at::arange(4, at::kFloat);
  EXPECT_TRUE(at::equal(rerun(way(1), y).tensor, at::tensor({5.0F, 7.0F})));
  EXPECT_TRUE(at::equal(rerun(way(0), y).tensor, at::tensor({1.0F, 3.0F})));
  EXPECT_TRUE(at::equal(y, at::arange(4, at::kFloat)));
  EXPECT_TRUE(at::equal(rerun({kSource}, y).tensor, y));
}

TEST_F(RerunTest, CallsThatDoNotFitTheValuesThrow) {
  EXPECT_THROW(rerun(way(0), at::ones({3})), c10::Error);
}

TEST_F(RerunTest, ATapeHasWhatRanOnce) {
  const Route part = way(1);
  const Tensor any = at::empty({0});
  const Route twice = call("aten::mul", "Tensor", {any, any}, {part, part});
  const Known value = rerun(twice, at::arange(4, at::kFloat));
  EXPECT_THAT(operators(),
              ElementsAre("aten::mul", "aten::chunk", "aten::clone", "aten::add_", "aten::mul"));
  EXPECT_TRUE(trace::depends_on_inputs(tape_, value.var));
}

TEST_F(RerunTest, AnAbsentTensorStaysAbsent) {
  const Tensor y = at::arange(6, at::kFloat).view({2, 3});
  const Tensor columns = at::tensor({2, 0}, at::kLong);
  const c10::List<std::optional<Tensor>> indices({std::nullopt, columns});
  const Route route =
      call("aten::index", "Tensor", {at::empty({0}), indices}, {Route{kSource}, std::nullopt});
  const Known value = rerun(route, y);
  EXPECT_TRUE(at::equal(value.tensor, y.index({at::indexing::Slice(), columns})));
  const trace::Call& made = tape_.call(tape_.variable(value.var).call);
  const trace::Arg& list = tape_.args_of(made)[1];
  ASSERT_EQ(list.list_size, 2);
  EXPECT_EQ(tape_.list_item(list.list_begin), trace::kNoId);
}

}  // namespace
}  // namespace leapp::compile
