#include "trace/alignment.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

// A pass as the list of its operators: "tanh" applies to the current value, which is an input at
// first; "-tanh" applies to a constant.
struct Written {
  explicit Written(const std::string& operators) {
    const at::Tensor x = at::ones({2});
    const at::Tensor weight = at::ones({2});
    writer.input(x);
    at::Tensor value = x;
    std::istringstream words(operators);
    for (std::string word; words >> word;) {
      if (word.front() == '-') {
        kept.push_back(writer.call(("aten::" + word.substr(1)).c_str(), "", {weight}));
      } else {
        kept.push_back(value = writer.call(("aten::" + word).c_str(), "", {value}));
      }
      calls.push_back(static_cast<std::int32_t>(calls.size()));
    }
  }

  testing::TapeWriter writer;
  std::vector<at::Tensor> kept;
  std::vector<std::int32_t> calls;
};

// "0=0 1=2 !1,1 +1": the pairs, the difference, and the added calls.
std::string told(const Alignment& found) {
  std::string text;
  for (const auto& [a, b] : found.pairs) text += std::to_string(a) + "=" + std::to_string(b) + " ";
  if (found.difference) {
    const auto& [a, b] = *found.difference;
    text += "!" + std::to_string(a) + "," + std::to_string(b) + " ";
  }
  for (const std::int32_t call : found.added) text += "+" + std::to_string(call) + " ";
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(AlignmentTest, WhichCallsAreTheSame) {
  const struct {
    const char* what;
    const char* first;
    const char* again;
    const char* found;
    const char* past;  // with the calls after the difference
  } table[] = {
      {"nothing", "", "", "", ""},
      {"the same", "neg tanh", "neg tanh", "0=0 1=1", "0=0 1=1"},
      {"a constant less", "-exp neg", "neg", "1=0", "1=0"},
      {"a constant more", "neg tanh", "neg -exp tanh", "0=0 1=2", "0=0 1=2"},
      {"one that changes nothing", "neg tanh", "neg detach tanh", "0=0 1=2", "0=0 1=2"},
      {"another one", "neg tanh", "neg exp", "0=0 !1,1", "0=0 !1,1 +1"},
      {"one more at the end", "neg", "neg exp", "0=0 !-1,1", "0=0 !-1,1 +1"},
      {"one less at the end", "neg exp", "neg", "0=0 !1,-1", "0=0 !1,-1"},
      {"one more between", "neg tanh exp", "neg abs tanh exp", "0=0 !1,1", "0=0 1=2 2=3 !1,1 +1"},
      {"another one between", "neg tanh exp abs", "neg sin exp abs", "0=0 !1,1",
       "0=0 2=2 3=3 !1,1 +1"},
      {"the same in order, one of it on a constant", "neg tanh", "neg -tanh", "0=0 1=1", "0=0 1=1"},
      {"and where not all are the same", "neg tanh -exp", "neg -tanh", "0=0 !1,-1", "0=0 !1,-1"},
  };
  for (const auto& line : table) {
    const Written first(line.first);
    const Written again(line.again);
    const CallList was = {*first.writer.tape, first.calls};
    const CallList is = {*again.writer.tape, again.calls};
    EXPECT_EQ(told(align(was, is)), line.found) << line.what;
    EXPECT_EQ(told(align_past_differences(was, is)), line.past) << line.what;
  }
}

TEST(AlignmentTest, AtAnotherPlaceTheConstantsDecide) {
  const at::Tensor x = at::ones({2});
  const auto scaled = [&](testing::TapeWriter& writer, double scale, int line) {
    writer.input(x);
    const at::Tensor y = writer.call("aten::mul", "Scalar", {x, scale});
    writer.tape->calls().back().frame = {"program.py", line};
    return y;
  };
  const struct {
    const char* what;
    double scale;
    int line;
    const char* found;
  } table[] = {
      {"the same number", 2, 8, "0=0 !-1,1"},
      {"another one", 3, 8, "!0,0"},
      {"another one at the same place", 3, 1, "0=0 !-1,1"},
  };
  for (const auto& line : table) {
    testing::TapeWriter first;
    testing::TapeWriter again;
    const at::Tensor was = scaled(first, 2, 1);
    const at::Tensor is = scaled(again, line.scale, line.line);
    const at::Tensor more = again.call("aten::tanh", "", {is});  // otherwise in order
    EXPECT_EQ(told(align({*first.tape, {0}}, {*again.tape, {0, 1}})), line.found) << line.what;
  }
}

TEST(AlignmentTest, ResultsOfPairedCallsAreOneAnother) {
  const Written first("neg tanh");
  const Written again("neg exp tanh");
  const Tape& tape = *again.writer.tape;
  std::vector<VarId> as_first(tape.variable_count(), kNoId);
  pair_results(*first.writer.tape, first.writer.tape->call(1), tape, tape.call(2), as_first);
  const VarId tanh = again.writer.var(again.kept[2]);
  for (VarId var = 0; var < static_cast<VarId>(as_first.size()); ++var) {
    EXPECT_EQ(as_first[static_cast<std::size_t>(var)],
              var == tanh ? first.writer.var(first.kept[1]) : kNoId);
  }
}

TEST(AlignmentTest, AnAddedCallCountsWhereItsResultIsUsedOrKept) {
  const Written first("neg tanh");
  for (const bool survives : {false, true}) {
    const Written again("neg tanh exp");
    Tape& tape = *again.writer.tape;
    tape.variable(again.writer.var(again.kept.back())).survives = survives;
    const Alignment aligned =
        align_past_differences({*first.writer.tape, first.calls}, {tape, again.calls});
    EXPECT_EQ(find_added_call(tape, aligned).has_value(), survives);
  }
  const Written used("neg exp tanh");
  const Alignment aligned =
      align_past_differences({*first.writer.tape, first.calls}, {*used.writer.tape, used.calls});
  EXPECT_EQ(find_added_call(*used.writer.tape, aligned), 1);
}

}  // namespace
}  // namespace leapp::trace
