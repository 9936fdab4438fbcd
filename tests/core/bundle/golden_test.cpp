// Bundles of earlier releases, which must load in every later release; see COMPATIBILITY.md.
#include "bundle/initial_values.h"
#include "support.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;
const fs::path kBundles = fs::path(LEAPP_TEST_DATA) / "bundles";

TEST(Golden, EveryBundleLoadsAndItsFilesAreWhole) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kBundles)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    const Bundle bundle = read_bundle(entry.path());
    const VerifiedFiles files(bundle, entry.path().parent_path(), {});
    const FileBytes& initial = files.at(bundle.pipeline.initial_values->path);
    EXPECT_EQ(read_initial_values(bundle, &initial).tensors().size(), 2U);
    ++count;
  }
  EXPECT_GE(count, 2);
}

// The first bundles lack keys that were added later.
TEST(Golden, OursIsWrittenByteForByteAsItIsStored) {
  const fs::path file = kBundles / "leapp-cpp-0.1" / "walker" / "walker.yaml";
  std::string written = to_yaml(read_bundle(file));
  for (const char* line :
       {"      warp_segments: 0\n", "      warp_segments: 0\n", "  warp version: null\n"}) {
    written = test::replaced(written, line, "");
  }
  EXPECT_EQ(written, test::read_file(file));
}

TEST(Golden, TheOthersLayoutIsOurs) {
  const fs::path file = kBundles / "leapp-python-0.7.2" / "walker" / "walker.yaml";
  EXPECT_EQ(to_yaml(read_bundle(file)), test::read_file(file));
}

TEST(Golden, TheExampleOfTheSpecificationIsABundle) {
  const std::string page = test::read_file(fs::path(LEAPP_TEST_DATA).parent_path().parent_path() /
                                           "docs/reference/bundle.md");
  const std::size_t begin = page.find("```yaml\n") + 8;
  const Bundle bundle = parse_bundle(page.substr(begin, page.find("```", begin) - begin), "page");
  check(bundle);
  EXPECT_EQ(bundle.models[0].external_data.size(), 1U);
  EXPECT_EQ(parse_bundle(to_yaml(bundle), "again"), bundle);
}

}  // namespace
}  // namespace leapp
