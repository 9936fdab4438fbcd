#include "state/initial.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::codes;
using Lines = std::vector<std::string>;

// Returns a node whose input "t" received `t` in its first pass, and whose input "q" received `q`.
// `fed` selects the later passes in which "t" receives the node's output.
Node node_with(const at::Tensor& q, const at::Tensor& t, bool fed) {
  static trace::CaptureTable captures;
  Node node = testing::node_of("pi", 0, 3);
  node.inputs = {testing::port("q", {2}), testing::port("t", {2})};
  node.outputs = {testing::port("g", {2})};
  if (fed) {
    node.inputs[1].source = session::PortId{0, "g"};
    node.inputs[1].age.add({1, 0, 1});
  }
  Pass& first = node.passes.emplace_back();
  first.recording.tape = std::make_shared<trace::Tape>(captures);
  first.recording.inputs = {{"q", first.recording.tape->add_input(trace::alias_of(q), 0)},
                            {"t", first.recording.tape->add_input(trace::alias_of(t), 0)}};
  return node;
}

TEST(InitialTest, FeedbackThatBeginsWithASensorsTensorIsSaid) {
  const at::Tensor q = at::ones({2});
  const struct {
    const char* what;
    at::Tensor t;
    bool fed;
    Lines codes;
  } table[] = {
      {"the sensor's own tensor", q, true, {"LP308"}},
      {"another one of the same value", q.clone(), true, {}},
      {"an input that is never fed back", q, false, {}},
  };
  for (const auto& line : table) {
    const Node node = node_with(q, line.t, line.fed);
    const Node* nodes[] = {&node};
    const Findings found = find_initial(nodes);
    ASSERT_EQ(codes(found), line.codes) << line.what;
    if (!found.empty()) {
      EXPECT_THAT(found[0].text, ::testing::HasSubstr("'pi/t' began with the tensor that 'pi/q'"));
    }
  }
}

TEST(InitialTest, ANodeThatWasNotRecordedIsPassedOver) {
  Node node = testing::node_of("pi", 0, 3);
  node.inputs = {testing::port("t")};
  node.inputs[0].source = session::PortId{0, "g"};
  node.inputs[0].age.add({1, 0, 1});
  const Node* nodes[] = {&node};
  EXPECT_TRUE(find_initial(nodes).empty());
}

}  // namespace
}  // namespace leapp::state
