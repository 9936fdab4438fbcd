#include "session/index_views.h"

#include <atomic>
#include <thread>

#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;

class IndexViewsTest : public testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
    index_ = in("n", at::scalar_tensor(1, at::kLong), "i");
  }
  Tensor row(const Tensor& of) const { return front_end::index_view(of, {0}, {index_}); }

  const at::NoGradGuard no_grad_;
  Tensor table_ = at::arange(6, at::kFloat).reshape({3, 2});
  Tensor index_;
};

TEST_F(IndexViewsTest, WritesReachTheTensor) {
  row(table_).mul_(10);
  EXPECT_TRUE(
      at::equal(table_ + 0, at::tensor({0.0F, 1.0F, 20.0F, 30.0F, 4.0F, 5.0F}).view({3, 2})));
}

TEST_F(IndexViewsTest, WritesToTheTensorReachThem) {
  const Tensor chosen = row(table_);
  table_.add_(5);
  EXPECT_TRUE(at::equal(chosen + 0, at::tensor({7.0F, 8.0F})));
}

TEST_F(IndexViewsTest, ViewsThatMayOverlapSeeEachOther) {
  const Tensor one = row(table_);
  Tensor other = row(table_);
  other.add_(1);
  EXPECT_TRUE(at::equal(one + 0, at::tensor({3.0F, 4.0F})));
}

TEST_F(IndexViewsTest, AViewOfAViewReachesAll) {
  const Tensor outer = row(table_);
  row(outer).add_(100);
  EXPECT_TRUE(at::equal(table_[1] + 0, at::tensor({2.0F, 103.0F})));
}

TEST_F(IndexViewsTest, AnnotationsSeeThemSynchronized) {
  row(table_).mul_(10);
  out("n", table_);
  EXPECT_TRUE(at::equal(first_pass().outputs.at(0)[1], at::tensor({20.0F, 30.0F})));
}

// Runs an operator without the session's lock before another one is recorded: here the copy that
// makes a view and its source equal.
std::atomic<bool> abandons_node = false;

trace::FrameRef abandon_on_another_thread() noexcept {
  if (abandons_node.exchange(false)) std::thread([] { annotate::abandon("n"); }).join();
  return {};
}

TEST_F(IndexViewsTest, APassMayEndWhileTheyAreSynchronized) {
  const Tensor chosen = row(table_);
  table_.add_(5);
  abandons_node = true;
  trace::set_source_hooks({.capture = abandon_on_another_thread});
  session::synchronize_index_views(session::Session::instance());
  trace::set_source_hooks({});
  EXPECT_FALSE(abandons_node);
  EXPECT_FALSE(front_end::any_open());
  EXPECT_TRUE(at::equal(chosen, at::tensor({7.0F, 8.0F})));
}

}  // namespace
}  // namespace leapp
