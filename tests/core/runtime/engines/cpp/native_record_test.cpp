#include "runtime/engines/cpp/native_record.h"

#include <gtest/gtest.h>

#include <fstream>

#include "build/native_text.h"
#include "leapp/error.h"

namespace leapp {
namespace {

Model cpp_model(const std::string& source, const std::string& weights) {
  Model model;
  model.name = "policy";
  model.file = FileEntry{"policy.cpp", "", source};
  if (!weights.empty()) model.external_data.push_back({"policy.weights", "", weights});
  return model;
}

NativeRecord record_of(const Model& model) {
  NativeRecord record{"w.native.so", "aa", "g++ 12", "x86_64-linux-gnu", {"-g"}, {}};
  record.nodes[model.name] = native_checksums(model);
  return record;
}

Code refused(const NativeRecord& record, const Model& model) {
  try {
    check_native_record(record, "w.native.json", model);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kInternal;
}

std::filesystem::path written(const std::string& text) {
  const auto file = std::filesystem::path(testing::TempDir()) / "w.native.json";
  std::ofstream(file) << text;
  return file;
}

TEST(NativeRecord, ComesBackAsItWasWritten) {
  const NativeRecord record = record_of(cpp_model("11", "22"));
  const NativeRecord read = read_native_record(written(to_json(record)));
  EXPECT_EQ(read.library, record.library);
  EXPECT_EQ(read.sha256, record.sha256);
  EXPECT_EQ(read.compiler, record.compiler);
  EXPECT_EQ(read.target, record.target);
  EXPECT_EQ(read.flags, record.flags);
  EXPECT_EQ(read.nodes, record.nodes);
}

TEST(NativeRecord, AnyTextComesBackAsItWasWritten) {
  NativeRecord record = record_of(cpp_model("11", "22"));
  record.flags = {"-DX=\"a\\b\"", "yes", "1e5", "", "\x01\t", "# \xe2\x82\xac: {}", "~"};
  record.nodes["knoten: [1]"] = {"", "null"};
  const NativeRecord read = read_native_record(written(to_json(record)));
  EXPECT_EQ(read.flags, record.flags);
  EXPECT_EQ(read.nodes, record.nodes);
}

TEST(NativeRecord, IsOfTheBundleAsItIsNow) {
  const Model model = cpp_model("11", "22");
  EXPECT_NO_THROW(check_native_record(record_of(model), "w.native.json", model));
  EXPECT_EQ(refused(record_of(model), cpp_model("12", "22")), Code::kStaleBuild);
  EXPECT_EQ(refused(record_of(model), cpp_model("11", "23")), Code::kStaleBuild);
  EXPECT_EQ(refused(record_of(model), cpp_model("11", "")), Code::kStaleBuild);
  Model other = model;
  other.name = "critic";
  EXPECT_EQ(refused(record_of(model), other), Code::kStaleBuild);
}

TEST(NativeRecord, AFileThatIsNoRecordIsStale) {
  const std::string whole = to_json(record_of(cpp_model("11", "22")));
  const std::string number = std::string(whole).replace(whole.find("\"11\""), 4, "11");
  const std::string cut = whole.substr(0, whole.size() / 2);
  const std::string deep = "{\"library\": " + std::string(100'000, '[') + "}";
  for (const std::string& text : {std::string(), std::string("[]"), std::string("{\"library\": 1}"),
                                  std::string("{\"library\": \"a\"}"), number, cut, deep}) {
    try {
      read_native_record(written(text));
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kStaleBuild);
    }
  }
}

TEST(NativeVariants, OnlyForProcessorsThatDiffer) {
  EXPECT_EQ(native_variants("x86_64-linux-gnu", {}).size(), 3U);
  EXPECT_EQ(native_variants("x86_64-linux-gnu", {"-g"}).size(), 3U);
  EXPECT_EQ(native_variants("x86_64-linux-gnu", {"-march=native"}).size(), 1U);
  EXPECT_EQ(native_variants("aarch64-linux-gnu", {}).size(), 1U);
}

}  // namespace
}  // namespace leapp
