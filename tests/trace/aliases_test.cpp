#include "trace/aliases.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

// Returns a pass that may write to `a`, and multiplies it by `b`.
struct TwoNames {
  TwoNames(const at::Tensor& a, const at::Tensor& b, bool writes) {
    const at::Tensor x = at::ones({2});
    writer.input(x);
    writer.mul(a, b);
    if (writes) writer.add_in_place(a, x);
    pass.tape = writer.tape;
    pass.end_call = writer.tape->call_count();
  }

  testing::TapeWriter writer;
  Recording pass;
};

TEST(AliasesTest, NamesThatOneTensorGainsOrLosesAreTornWhereItIsWritten) {
  const at::Tensor a = at::ones({2});
  const at::Tensor b = at::ones({2});
  const struct {
    const char* what;
    bool was_one, is_one, writes, mismatched;
  } table[] = {
      {"two tensors", false, false, true, false},
      {"one tensor", true, true, true, false},
      {"two that become one", false, true, true, true},
      {"one that becomes two", true, false, true, true},
      {"nobody writes to it", false, true, false, false},
  };
  for (const auto& line : table) {
    const TwoNames first(a, line.was_one ? a.alias() : b, line.writes);
    const TwoNames again(a, line.is_one ? a.alias() : b, line.writes);
    const Alignment aligned = align({*first.pass.tape, own_calls(first.pass, 0)},
                                    {*again.pass.tape, own_calls(again.pass, 0)});
    EXPECT_EQ(!find_mismatched_aliases(first.pass, again.pass, aligned).empty(), line.mismatched)
        << line.what;
  }
}

}  // namespace
}  // namespace leapp::trace
