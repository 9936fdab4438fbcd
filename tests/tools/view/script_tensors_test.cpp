// The tensors that a TorchScript archive lists, and malformed pickles.
#include "view/script_tensors.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "view/zip_archive.h"

namespace leapp::view {
namespace {

using namespace std::string_literals;

std::string pickle_of(const std::string& model) {
  std::ifstream file(std::string(LEAPP_TEST_DATA) + "/models/" + model, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  const auto entries = read_zip(bytes);
  for (const ZipEntry& entry : *entries) {
    if (entry.name.ends_with("/data.pkl")) return std::string(entry.bytes);
  }
  return {};
}

// Returns a dict with one key: a tensor of two floats in storage "7", at offset one.
const std::string kOneTensor =
    "\x80\x02}(X\x01\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n"
    "FloatStorage\nX\x01\0\0\0"
    "7X\x03\0\0\0cpuK\x03tQK\x01K\x02\x85K\x01\x85\x89}tRu."s;

TEST(ScriptTensorsTest, ReadsNameTypeShapeAndPlace) {
  const std::vector<ScriptTensor> found = list_script_tensors(kOneTensor);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "w");
  EXPECT_EQ(found[0].storage, "7");
  EXPECT_EQ(found[0].dtype, DType::kFloat32);
  EXPECT_EQ(found[0].shape, Shape({2}));
  EXPECT_EQ(found[0].offset, 1u);
  EXPECT_TRUE(found[0].contiguous);
}

TEST(ScriptTensorsTest, NoCutAndNoFlippedByteLeadsAstray) {
  for (const std::string& pickle :
       {kOneTensor, pickle_of("affine.pt"), pickle_of("recurrent.pt")}) {
    for (std::size_t size = 0; size < pickle.size(); ++size) {
      list_script_tensors(std::string_view(pickle).substr(0, size));
    }
    for (std::size_t at = 0; at < pickle.size(); ++at) {
      for (const char byte : {'\0', '(', 't', 'u', '\x7f', '\xff'}) {
        std::string other = pickle;
        other[at] = byte;
        for (const ScriptTensor& tensor : list_script_tensors(other)) {
          EXPECT_TRUE(checked_element_count(tensor.shape).has_value());
        }
      }
    }
  }
}

TEST(ScriptTensorsTest, EndlessNestingEnds) {
  EXPECT_THAT(list_script_tensors("K\x01" + std::string(1'000'000, '\x85') + "."),
              testing::IsEmpty());
  // Nested dicts, filled from the outside in.
  std::string nested = "}";
  for (int i = 0; i < 100'000; ++i) nested += "X\x01\0\0\0a}q\0sh\0"s;
  EXPECT_THAT(list_script_tensors(nested + "."), testing::IsEmpty());
  // A dict that contains itself.
  EXPECT_THAT(list_script_tensors("}q\0(X\x01\0\0\0ah\0u."s), testing::IsEmpty());
}

TEST(ScriptTensorsTest, ATensorWithoutElementsHasAnySizes) {
  // [0, 2^62, 2^62]: the tensor has no elements, and the product of its sizes must not be computed.
  const std::string size = "\x8a\x08\0\0\0\0\0\0\0\x40"s;
  std::string pickle = kOneTensor;
  pickle.replace(pickle.find("K\x02\x85K\x01\x85"), 6, "K\0"s + size + size + "\x87K\x01\x85"s);
  const std::vector<ScriptTensor> found = list_script_tensors(pickle);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].contiguous);
}

TEST(ScriptTensorsTest, ManyObjectsMayHaveTheSameAttributes) {
  // A dict with many keys that is the state of many objects: no object copies it.
  std::string pickle = "}("s;
  for (int i = 0; i < 100'000; ++i) pickle += "X\x01\0\0\0aK\x01"s;
  pickle += "uq\0"s;
  for (int i = 0; i < 100'000; ++i) pickle += ")h\0b"s;
  EXPECT_THAT(list_script_tensors(pickle + "."), testing::IsEmpty());
}

}  // namespace
}  // namespace leapp::view
