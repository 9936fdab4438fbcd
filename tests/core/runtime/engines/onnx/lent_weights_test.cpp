#include "runtime/engines/onnx/lent_weights.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "../../../onnx/sample_model.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

namespace leapp {
namespace {

using onnx::testing::float_tensor;
using ::testing::ElementsAre;

// Returns a model with one large and one small weight, in memory such that the elements of the
// large one begin `shift` bytes after a multiple of 16.
struct Placed {
  explicit Placed(std::size_t shift) {
    std::vector<float> values(512);
    std::iota(values.begin(), values.end(), 1.0F);
    onnx::Model model = onnx::testing::sample_model();
    model.graph.initializers = {float_tensor("large", values), float_tensor("small", {1, 2})};
    const std::string text = onnx::serialize(model);
    const std::string_view elements(reinterpret_cast<const char*>(values.data()), 2048);
    const std::size_t offset = text.find(elements);
    storage.resize(text.size() + 64);
    void* base = storage.data();
    std::size_t space = storage.size();
    std::align(16, 1, base, space);
    auto* const begin = static_cast<std::byte*>(base) + (16 - offset % 16) % 16 + shift;
    std::memcpy(begin, text.data(), text.size());
    file = {.path = "folder/policy.onnx", .bytes = {begin, text.size()}};
    place = offset;
  }

  std::vector<std::byte> storage;
  ModelFile file;
  std::size_t place = 0;  // offset of the large weight's elements in the file
};

TEST(LentWeightsTest, LargeAlignedWeightsAreReadWhereTheyLie) {
  const Placed placed(0);
  std::string head;
  const ModelFile lent = use_weights_in_place(placed.file, head);
  ASSERT_EQ(lent.external_data.size(), 1U);
  EXPECT_EQ(lent.external_data[0].first, "policy.onnx");
  EXPECT_EQ(lent.external_data[0].second.data(), placed.file.bytes.data());
  const onnx::Model model = onnx::parse_model(onnx::Bytes::borrowed(lent.bytes), "policy.onnx");
  const onnx::Tensor& large = model.graph.initializers[0];
  ASSERT_TRUE(large.external.has_value());
  EXPECT_EQ(large.external->location, "policy.onnx");
  EXPECT_EQ(large.external->offset, placed.place);
  EXPECT_EQ(large.external->length, 2048U);
  EXPECT_EQ(large.raw.size, 0U);
  EXPECT_FALSE(model.graph.initializers[1].external.has_value());
  EXPECT_EQ(model.graph.initializers[1].raw.size, 8U);
}

TEST(LentWeightsTest, WeightsThatAreNotAlignedStayInTheModel) {
  const Placed placed(4);
  std::string head;
  const ModelFile lent = use_weights_in_place(placed.file, head);
  const onnx::Model model = onnx::parse_model(onnx::Bytes::borrowed(lent.bytes), "policy.onnx");
  EXPECT_FALSE(model.graph.initializers[0].external.has_value());
  EXPECT_EQ(model.graph.initializers[0].raw.size, 2048U);
}

}  // namespace
}  // namespace leapp
