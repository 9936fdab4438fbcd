#include "build/source_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "leapp/error.h"

namespace leapp {
namespace {

std::filesystem::path written(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(file) << text;
  return file;
}

TEST(SourceCompiler, MakesASharedObject) {
  if (find_compiler().empty()) GTEST_SKIP() << "there is no compiler";
  const auto source = written("good.cpp", "extern \"C\" int one() { return 1; }\n");
  const auto library = std::filesystem::path(testing::TempDir()) / "good.so";
  compile_sources({source}, library);
  EXPECT_TRUE(std::filesystem::exists(library));
}

TEST(SourceCompiler, SaysWhatTheCompilerSaid) {
  if (find_compiler().empty()) GTEST_SKIP() << "there is no compiler";
  const auto source = written("bad.cpp", "this is no source\n");
  try {
    compile_sources({source}, std::filesystem::path(testing::TempDir()) / "bad.so");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNoCompiler);
    EXPECT_THAT(error.what(), testing::HasSubstr("bad.cpp"));
  }
}

TEST(SourceCompiler, NamesACompilerThatIsNotThere) {
  try {
    compile_sources({"x.cpp"}, std::filesystem::path(testing::TempDir()) / "x.so",
                    {.compiler = "no-such-compiler"});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'no-such-compiler' could not be run"));
  }
}

}  // namespace
}  // namespace leapp
