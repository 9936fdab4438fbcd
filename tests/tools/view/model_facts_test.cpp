// Tests of the facts that a page shows about a model file.
#include "view/model_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace leapp::view {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ModelFactsTest : public ::testing::Test {
 protected:
  ModelFacts read(const std::string& backend, const std::string& text) {
    const std::filesystem::path folder = ::testing::TempDir();
    std::ofstream(folder / "model_facts") << text;
    Model model;
    model.name = "policy";
    model.backend = backend;
    model.file = FileEntry{"model_facts", "", ""};
    return read_facts(model, folder, {});
  }
};

TEST_F(ModelFactsTest, ASourceIsShownFromItsModelOn) {
  const ModelFacts facts = read("cpp", "inline int f();\n// ---- the model ----\nint run();\n");
  EXPECT_EQ(facts.code, "// ---- the model ----\nint run();\n");
  EXPECT_EQ(facts.file_bytes, 50U);
  EXPECT_THAT(facts.remarks, IsEmpty());
}

TEST_F(ModelFactsTest, AFileThatIsNoArchiveIsRemarkedOn) {
  EXPECT_THAT(read("jit", "nothing").remarks, SizeIs(1));
}

}  // namespace
}  // namespace leapp::view
