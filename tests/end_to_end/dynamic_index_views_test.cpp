// Elements selected by a number; the bundle runs with other numbers.
#include <ATen/ATen.h>

#include "session/front_end.h"
#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;

class IndexViewsInANodeTest : public testing::Workbench {
 protected:
  // Traces a program on a table and a number, and compares it for other numbers.
  void expect_right(const std::function<Tensor(Tensor, const Tensor&, bool)>& program) {
    const at::NoGradGuard no_grad;
    begin();
    const Tensor number = annotate::input_tensors("n", {{"i", at::scalar_tensor(0, at::kLong)}})[0];
    const Tensor traced = program(at::arange(6, at::kFloat).reshape({3, 2}), number, true);
    annotate::output_tensors("n", {{"y", traced}}, {.export_with = "jit"});
    stop();
    compile_graph({.visualize = false});
    InferenceManager robot = manager();
    for (int i = 0; i < 3; ++i) {
      const Tensor index = at::scalar_tensor(i, at::kLong);
      const TensorMap found = robot.run_policy({{"n/i", testing::to_leapp(index)}});
      const Tensor expected = program(at::arange(6, at::kFloat).reshape({3, 2}), index, false);
      EXPECT_TRUE(at::allclose(testing::to_torch(found.at("n/y")), expected)) << i;
    }
  }

  static Tensor row(const Tensor& table, const Tensor& number, bool traced) {
    return traced ? front_end::index_view(table, {0}, {number})
                  : table[number.item<std::int64_t>()];
  }
};

TEST_F(IndexViewsInANodeTest, WritesReachTheTensor) {
  expect_right([](const Tensor& table, const Tensor& number, bool traced) {
    row(table, number, traced).mul_(10);
    return table + 0;
  });
}

TEST_F(IndexViewsInANodeTest, WritesToTheTensorReachThem) {
  expect_right([](Tensor table, const Tensor& number, bool traced) {
    const Tensor chosen = row(table, number, traced);
    table.add_(5);
    return chosen * 2;
  });
}

TEST_F(IndexViewsInANodeTest, ViewsThatMayOverlapSeeEachOther) {
  expect_right([](const Tensor& table, const Tensor& number, bool traced) {
    const Tensor one = row(table, number, traced);
    Tensor other = row(table, number, traced);
    other.add_(1);
    return one + table.sum(0);
  });
}

TEST_F(IndexViewsInANodeTest, AViewOfAViewReachesAll) {
  expect_right([](const Tensor& table, const Tensor& number, bool traced) {
    const Tensor outer = row(table, number, traced);
    row(outer, at::scalar_tensor(1, at::kLong), traced).add_(100);
    return outer + table.sum(0);
  });
}

}  // namespace
}  // namespace leapp
