#include "state/names.h"

#include <gtest/gtest.h>

#include "tape_of.h"

namespace leapp::state {
namespace {

using testing::NodeWriter;
using testing::tape_of;

TEST(NamesTest, APathAsAnIdentifier) {
  const struct {
    const char* path;
    const char* name;
  } table[] = {
      {"", ""},
      {"h", "h"},
      {"self.h", "h"},
      {"env.action_manager.action", "action_manager_action"},
      {"env.scene['imu'].data", "scene_imu_data"},
      {"buffers[0]", "0"},
      {"self._last", "last"},
      {"self.", "self"},
      {"a.b..c[-1]", "b_c_1"},
  };
  for (const auto& line : table) EXPECT_EQ(identifier_of(line.path), line.name) << line.path;
}

TEST(NamesTest, AnArgumentByItsPathAndPlace) {
  const NodeWriter writer = tape_of({.lines = {"y = mul(x, w)", "z = cat(x, y, w)", "return z"}});
  const trace::Tape& tape = writer.node.passes[0].tape();
  const Paths nowhere = [](const at::Tensor&) { return std::string(); };
  const Paths somewhere = [](const at::Tensor&) { return std::string("env.w"); };
  const struct {
    trace::Site site;
    const Paths& paths;
    const char* text;
  } table[] = {
      {{0, 1, -1}, {}, " (its argument 'other')"},
      {{0, 1, -1}, nowhere, " (its argument 'other')"},
      {{0, 1, -1}, somewhere, " ('env.w', its argument 'other')"},
      {{1, 0, 2}, somewhere, " ('env.w', the third of its 'tensors')"},
  };
  for (const auto& line : table) {
    EXPECT_EQ(describe_argument(tape, line.site, line.paths), line.text);
  }
  EXPECT_EQ(describe_read(tape, {1, 0, 2}, at::ones({3}), somewhere),
            "aten::cat reads a tensor of shape [3] ('env.w', the third of its 'tensors')");
  EXPECT_EQ(describe_read(tape, {0, 1, -1}, {}, {}),
            "aten::mul reads a tensor (its argument 'other')");
}

TEST(NamesTest, ACallOfOursHasNoPlace) {
  NodeWriter writer = tape_of({.lines = {"y = mul(x, w)", "return y"}});
  trace::Tape& tape = *writer.node.passes[0].recording.tape;
  tape.calls()[0].frame = {};
  EXPECT_EQ(describe_argument(tape, {0, 1, -1}, {}), "");
}

TEST(NamesTest, AWarningHasItsLine) {
  const Diagnostic said = warning(Code::kRates, {"program.py", -3}, "policy", "text");
  EXPECT_EQ(said, (Diagnostic{.code = Code::kRates,
                              .level = LogLevel::kWarning,
                              .where = "program.py:3",
                              .node = "policy",
                              .text = "text"}));
}

}  // namespace
}  // namespace leapp::state
