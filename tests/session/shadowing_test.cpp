#include "session/shadowing.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tracing.h"

namespace leapp::session {
namespace {

using ::testing::ElementsAre;

class Witness final : public Shadowing {
 public:
  Witness() { shadowing = this; }
  ~Witness() override { shadowing = nullptr; }
  void inputs(const std::string& node, const NamedTensors&) override { note("inputs", node); }
  void states(const std::string& node, const NamedTensors&) override { note("states", node); }
  void updates(const std::string& node, const NamedTensors&) override { note("updates", node); }
  void outputs(const std::string& node, const NamedTensors&, const NamedTensors&) override {
    note("outputs", node);
  }
  void abandon(const std::string& node) noexcept override { note("abandon", node); }

  std::vector<std::string> seen;

 private:
  void note(const char* call, const std::string& node) { seen.push_back(call + (" " + node)); }
};

TEST(ShadowingTest, AnnotationsTellAShadowRunAndHandTheirTensorsBack) {
  Witness witness;
  const at::Tensor x = at::ones({2});
  EXPECT_TRUE(annotate::input_tensors("n", {{"x", x}})[0].is_same(x));
  annotate::state_tensors("n", {{"h", x}});
  annotate::register_buffer("n", {{"b", x}});
  annotate::update_state("n", {{"h", x}});
  EXPECT_TRUE(annotate::output_tensors("n", {{"y", x}})[0].is_same(x));
  annotate::abandon("n");
  EXPECT_THAT(witness.seen, ElementsAre("inputs n", "states n", "states n", "updates n",
                                        "outputs n", "abandon n"));
}

TEST(ShadowingTest, FunctionsAreNodesToo) {
  Witness witness;
  const auto twice = annotate::method(
      "f", [](const std::vector<at::Tensor>& given) { return std::vector{given[0].mul(2)}; });
  twice({at::ones({2})});
  EXPECT_THAT(witness.seen, ElementsAre("inputs f", "outputs f"));
}

TEST(ShadowingTest, ASessionCannotBeginMeanwhile) {
  const Witness witness;
  try {
    leapp::start({.name = "g"});
    FAIL() << "it began";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotShadowed);
  }
}

}  // namespace
}  // namespace leapp::session
