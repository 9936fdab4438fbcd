#include "state/aliases.h"

#include "tape_of.h"

namespace leapp::state {
namespace {

using testing::tape_of;
using Lines = std::vector<std::string>;

TEST(AliasesTest, NamesThatOneTensorGainsOrLosesAreTornWhereItIsWritten) {
  const struct {
    const char* what;
    Lines lines;
    bool torn;
  } table[] = {
      {"two tensors", {"add_(a, x)", "y = add(a, b)", "return y"}, false},
      {"two that become one", {"y = add(a, b)", "add_(a, x)", "a := b", "return y"}, true},
      {"nobody writes to it", {"y = add(a, b)", "a := b", "return y"}, false},
      {"one tensor, read twice, that becomes two",
       {"1: c = alias(a)", "2+: c = alias(b)", "add_(a, x)", "y = add(a, c)", "return y"},
       true},
  };
  for (const auto& line : table) {
    const session::Node node = tape_of({.passes = 2, .lines = line.lines}).node;
    std::vector<std::int32_t> calls[2];
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::int32_t k = 0; k < node.passes[i].recording.end_call; ++k) calls[i].push_back(k);
    }
    const trace::Alignment aligned = trace::align_past_differences(
        {node.passes[0].tape(), calls[0]}, {node.passes[1].tape(), calls[1]});
    EXPECT_EQ(!find_torn(node.passes[0], node.passes[1], aligned).empty(), line.torn) << line.what;
  }
}

}  // namespace
}  // namespace leapp::state
