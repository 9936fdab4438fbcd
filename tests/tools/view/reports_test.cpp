// Reports about a bundle: read if they are valid, refused otherwise.
#include "view/reports.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "leapp/error.h"

namespace leapp::view {
namespace {

std::filesystem::path write(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

TEST(ReportsTest, ABenchReportHasItsTickAndItsNodes) {
  EXPECT_TRUE(bench_report({}).is_null());
  const auto report = bench_report(write("bench.json", R"({"tick": {"p50_us": 3}, "nodes": {}})"));
  EXPECT_EQ(report["tick"]["p50_us"], 3);
  const std::string deep(100'000, '[');  // dumping it would need more stack than available
  for (const std::string& text :
       {std::string("{}"), std::string("{\"tick\": 1, \"nodes\": {}}"), std::string("no"),
        std::string(R"({"tick": {}, "nodes": {"policy": null}})"),
        R"({"tick": {}, "nodes": {"a": )" + deep + std::string(deep.size(), ']') + "}}"}) {
    try {
      bench_report(write("bench.json", text));
      ADD_FAILURE() << text.substr(0, 50);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kNoBenchReport);
    }
  }
}

TEST(ReportsTest, AValidationReportIsOfThisVeryBundle) {
  Bundle bundle;
  bundle.file = write("walker.yaml", "models: {}\n");
  Digest digest(Digest::Kind::kSha256);
  digest.update("models: {}\n");
  const std::string sum = digest.finish();
  const auto read = [&](const std::string& text) {
    write("validation.json", text);
    return validation_report(bundle);
  };
  EXPECT_TRUE(read("{\"nodes\": [], \"yaml_sha256sum\": \"" + sum + "\"}").is_object());
  EXPECT_TRUE(read("{\"nodes\": [], \"yaml_sha256sum\": \"another\"}").is_null());
  for (const char* nodes : {"{}", "[null]", "[{}]", R"([{"samples": [1]}])",
                            R"([{"samples": [{"outputs": [null]}]}])"}) {
    const std::string text = std::string("{\"nodes\": ") + nodes;
    EXPECT_TRUE(read(text + ", \"yaml_sha256sum\": \"" + sum + "\"}").is_null()) << nodes;
  }
  EXPECT_TRUE(read("{\"nodes\": [], \"yaml_sha256sum\": [1]}").is_null());
  EXPECT_TRUE(read("{\"nodes\": []}").is_null());
  EXPECT_TRUE(read("[]").is_null());
  std::filesystem::remove(bundle.file.parent_path() / "validation.json");
  EXPECT_TRUE(validation_report(bundle).is_null());
}

}  // namespace
}  // namespace leapp::view
