#include "export/cpp/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/cpp/pointwise.h"

namespace leapp::cpp_export {
namespace {

using testing::HasSubstr;

constexpr DType kFloat = DType::kFloat32;

std::string text_of(const Program& program) {
  std::string text;
  for (const std::string& statement : program.statements()) text += statement;
  return text;
}

TEST(CppProgram, StoresAChainAsOneLoop) {
  Program program;
  const Value x = program.read(program.add_input(kFloat, {2, 3}));
  const Value y =
      combine("($0 + $1)", {combine("($0 * $1)", {x, filled(2.0, kFloat)}, kFloat), x}, kFloat);
  program.store(y, program.add_output(kFloat, {2, 3}));
  EXPECT_EQ(text_of(program),
            "  for (Index i1 = 0; i1 < 6; ++i1) {\n"
            "    out0[i1] = (in0[i1] * 2.0f) + in0[i1];\n"
            "  }\n");
}

TEST(CppProgram, KeepsLoopsApartWhereBuffersAreWalkedDifferently) {
  Program program;
  const Value x = program.read(program.add_input(kFloat, {2, 3}));
  program.store(transposed(x, 0, 1), program.add_output(kFloat, {3, 2}));
  EXPECT_THAT(text_of(program), HasSubstr("out0[i1 * 2 + i2] = in0[i2 * 3 + i1];"));
}

TEST(CppProgram, GivesBuffersOfOneLifeAfterTheOtherTheSameMemory) {
  Program program;
  Value x = program.read(program.add_input(kFloat, {64}));
  for (int i = 0; i < 4; ++i) x = program.stored(combine("exp($0)", {x}, kFloat));
  program.store(x, program.add_output(kFloat, {64}));
  program.plan();
  EXPECT_EQ(program.scratch_bytes(), 2 * 256) << "one that is read, one that is written";
}

TEST(CppProgram, LetsAKernelTakeFunctionsAlong) {
  Program program;
  const Value y = program.pending(
      kFloat, {4}, [](const std::string& text, BufferId) { return "  kernel(" + text + ");\n"; });
  const Value scaled =
      combine("($0 * $1)", {combine("tanh($0)", {y}, kFloat), filled(2.0, kFloat)}, kFloat);
  program.store(scaled, program.add_output(kFloat, {4}));
  EXPECT_THAT(text_of(program), HasSubstr("kernel(tanh(x) * 2.0f);"));
}

TEST(CppProgram, CallsAKernelBeforeItsResultMeetsAnotherTensor) {
  Program program;
  const Value x = program.read(program.add_input(kFloat, {4}));
  const Value y = program.pending(
      kFloat, {4}, [](const std::string& text, BufferId) { return "  kernel(" + text + ");\n"; });
  program.store(combine("($0 + $1)", {y, x}, kFloat), program.add_output(kFloat, {4}));
  ASSERT_EQ(program.statements().size(), 2U);
  EXPECT_THAT(program.statements()[0], HasSubstr("kernel(x);"));
  EXPECT_THAT(program.statements()[1], HasSubstr("+ in0[i1];"));
}

TEST(CppProgram, KeepsOneCopyOfEqualWeights) {
  Program program;
  static constexpr float kNumbers[] = {1, 2, 3};
  ir::Blob blob;
  blob.data = {std::shared_ptr<void>(), reinterpret_cast<const std::byte*>(kNumbers)};
  blob.type = {kFloat, {3}};
  EXPECT_EQ(program.add_weight(blob, "a"), program.add_weight(blob, "b"));
  EXPECT_EQ(program.weights().size(), sizeof(kNumbers));
}

}  // namespace
}  // namespace leapp::cpp_export
