#include "bundle/safetensors.h"

#include <cstdint>

#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::StartsWith;

/// Returns a file with that header and data.
std::string file_of(const std::string& header, const std::string& data = {}) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 255);
  return bytes + header + data;
}

std::string refusal(const std::string& bytes) {
  return error_of(ErrorKind::kValue, [&] { SafeTensors::parse(bytes, "v"); });
}

std::string refusal_of_tensor(const std::string& json, const std::string& data = {}) {
  return refusal(file_of("{\"a\":" + json + "}", data));
}

// The output of safetensors.numpy.save({"b": float32 [[1, 2]], "a": uint8 [7]}, {"k": "v"}).
const std::string kPythonFile = file_of(
    "{\"__metadata__\":{\"k\":\"v\"},\"b\":{\"dtype\":\"F32\",\"shape\":[1,2],"
    "\"data_offsets\":[0,8]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[8,9]}}   ",
    std::string("\x00\x00\x80\x3F\x00\x00\x00\x40\x07", 9));

TEST(SafeTensors, ReadsWhatPythonWrites) {
  const SafeTensors file = SafeTensors::parse(kPythonFile, "v");
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.metadata(), (SafeTensors::Metadata{{"k", "v"}}));
  const ConstTensorView* const b = file.find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->dtype, DType::kFloat32);
  EXPECT_EQ(b->shape, (Shape{1, 2}));
  EXPECT_EQ(static_cast<const float*>(b->data)[1], 2.0F);
  EXPECT_EQ(*static_cast<const std::uint8_t*>(file.find("a")->data), 7);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(SafeTensors, WritesWhatPythonWrites) {
  const float b[] = {1, 2};
  const std::uint8_t a = 7;
  EXPECT_EQ(to_safetensors({{"a", {&a, DType::kUInt8, {1}}}, {"b", {b, DType::kFloat32, {1, 2}}}},
                           {{"k", "v"}}),
            kPythonFile);
}

TEST(SafeTensors, EveryTypeSurvivesAFile) {
  const test::TemporaryFolder folder;
  std::vector<std::uint8_t> bytes(32);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  std::vector<NamedTensorView> tensors;
  for (int i = 0; i < static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    tensors.push_back({"größe/" + std::string(name_of(dtype)), {bytes.data(), dtype, {2, 1}}});
  }
  tensors.push_back({"scalar", {bytes.data(), DType::kInt16, {}}});
  tensors.push_back({"empty", {nullptr, DType::kFloat32, {0, 4}}});
  write_safetensors(folder.path() / "v", tensors);
  const SafeTensors back = SafeTensors::read(folder.path() / "v");
  ASSERT_EQ(back.tensors().size(), tensors.size());
  for (const NamedTensorView& each : tensors) {
    const ConstTensorView* const found = back.find(each.name);
    ASSERT_NE(found, nullptr) << each.name;
    EXPECT_EQ(found->dtype, each.tensor.dtype);
    EXPECT_EQ(found->shape, each.tensor.shape);
    EXPECT_EQ(std::string_view(static_cast<const char*>(found->data), found->byte_size()),
              std::string_view(static_cast<const char*>(each.tensor.data), found->byte_size()));
  }
}

TEST(SafeTensors, EmptyFilesAndUnsortedHeadersAreFine) {
  EXPECT_TRUE(SafeTensors::parse(file_of("{}"), "v").tensors().empty());
  EXPECT_TRUE(SafeTensors::parse(to_safetensors({}), "v").tensors().empty());
  const SafeTensors file =
      SafeTensors::parse(file_of("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},"
                                 "\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                                 "ab"),
                         "v");
  EXPECT_EQ(*static_cast<const char*>(file.find("x")->data), 'b');
}

// After three bytes, a float is unaligned in the file, but not in memory.
TEST(SafeTensors, DataIsAlignedWhateverTheFileDid) {
  const SafeTensors file =
      SafeTensors::parse(file_of("{\"x\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                                 "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[3,7]}}",
                                 "abcdefg"),
                         "v");
  for (const NamedTensorView& each : file.tensors()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each.tensor.data) % 64, 0U);
  }
}

TEST(SafeTensors, b23_TheHeaderFitsTheFile) {
  EXPECT_EQ(refusal(""), "v: [B23] the file ends before its header");
  EXPECT_THAT(refusal(std::string(8, '\xFF')),
              StartsWith("v: [B23] the header claims 18446744073709551615 bytes of a file of 8"));
  EXPECT_THAT(refusal(file_of("{}").substr(0, 9)), HasSubstr("the header claims 2 bytes"));
  EXPECT_THAT(refusal(file_of("")), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(file_of("[]")), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(file_of("{\"a\"")), HasSubstr("is not valid JSON at byte"));
  EXPECT_THAT(refusal(file_of("{\"a\":\xFF}")), HasSubstr("is not valid JSON"));
  EXPECT_THAT(refusal(file_of("{}{}")), HasSubstr("is not valid JSON"));
}

TEST(SafeTensors, b23_ABigHeaderIsRefusedBeforeItIsRead) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("v", file_of("{}"));
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream.write("\x01\xE1\xF5\x05\x00\x00\x00\x00", 8);  // 100,000,001
  stream.close();
  std::filesystem::resize_file(path, 200'000'000);
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { SafeTensors::read(path); }),
              HasSubstr("the header claims 100000001 bytes"));
}

TEST(SafeTensors, b23_TensorsNeitherOverlapNorLeaveHoles) {
  const std::string one = "\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":";
  const auto two_at = [&](const std::string& a, const std::string& b, const std::string& data) {
    return refusal(file_of("{\"a\":{" + one + a + "},\"b\":{" + one + b + "}}", data));
  };
  EXPECT_THAT(
      two_at("[0,2]", "[1,3]", "abc"),
      HasSubstr("tensor 'b': its bytes begin at 1, expected 2: tensors may neither overlap"));
  EXPECT_THAT(two_at("[0,2]", "[3,5]", "abcde"), HasSubstr("begin at 3, expected 2"));
  EXPECT_THAT(two_at("[0,2]", "[2,4]", "abcde"),
              HasSubstr("the tensors take 4 bytes, the file holds 5"));
  EXPECT_THAT(two_at("[0,2]", "[2,4]", "abc"), HasSubstr("take 4 bytes, the file holds 3"));
  EXPECT_THAT(refusal(file_of("{}", "abc")), HasSubstr("take 0 bytes, the file holds 3"));
}

TEST(SafeTensors, b23_SizesAgreeWithShapes) {
  EXPECT_THAT(
      refusal_of_tensor("{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}", "abcd"),
      HasSubstr("tensor 'a': the shape [2] of float32 needs 8 bytes, data_offsets gives 4"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],"
                                "\"data_offsets\":[0,0]}"),
              HasSubstr("is too large to be counted"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"F32\",\"shape\":[4611686018427387904],"
                                "\"data_offsets\":[0,0]}"),
              HasSubstr("[B23]"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"U8\",\"shape\":[18446744073709551615],"
                                "\"data_offsets\":[0,0]}"),
              HasSubstr("a size out of range"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,0]}"),
              HasSubstr("data_offsets must have two numbers"));
}

TEST(SafeTensors, b23_FieldsHaveTheRightForm) {
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"F33\",\"shape\":[],\"data_offsets\":[0,0]}"),
              HasSubstr("tensor 'a': there is no dtype 'F33'"));
  EXPECT_THAT(refusal_of_tensor("{\"shape\":[],\"data_offsets\":[0,0]}"),
              HasSubstr("has no dtype"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,0]}"),
              HasSubstr("did not expect a negative number for 'shape'"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,0]}"),
              HasSubstr("did not expect a fraction"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"F32\",\"shape\":[[1]],\"data_offsets\":[0,0]}"),
              HasSubstr("did not expect a list"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":{},\"shape\":[],\"data_offsets\":[0,0]}"),
              HasSubstr("did not expect an object"));
  EXPECT_THAT(refusal_of_tensor("null"), HasSubstr("did not expect null"));
  EXPECT_THAT(refusal_of_tensor("7"), HasSubstr("did not expect a number"));
  EXPECT_THAT(refusal(file_of("{\"__metadata__\":{\"k\":1}}")),
              HasSubstr("did not expect a number"));
  EXPECT_THAT(refusal(file_of("{" + std::string(50'000, '['))), HasSubstr("[B23]"));
}

TEST(SafeTensors, b23_NamesAreUnique) {
  const std::string empty = "{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  EXPECT_THAT(refusal(file_of("{\"a\":" + empty + ",\"a\":" + empty + "}")),
              HasSubstr("the name 'a' appears twice"));
  EXPECT_THAT(refusal_of_tensor("{\"dtype\":\"U8\",\"dtype\":\"U8\"}"),
              HasSubstr("tensor 'a': the name 'dtype' appears twice"));
}

TEST(SafeTensors, b23_TheWriterRefusesWhatCannotBeRead) {
  const double zero[2] = {0, 0};
  const auto write = [&](const std::string& name, DType dtype) {
    return error_of(ErrorKind::kValue, [&] {
      to_safetensors({{name, {zero, dtype, {}}}, {"b", {zero, dtype, {}}}});
    });
  };
  EXPECT_THAT(write("a", DType::kComplex128),
              HasSubstr("the safetensors format has no complex128"));
  EXPECT_THAT(write("b", DType::kFloat32), HasSubstr("tensor 'b': its name is used twice"));
  EXPECT_THAT(write("__metadata__", DType::kFloat32), HasSubstr("its name is used twice"));
  EXPECT_THAT(write("\xFF", DType::kFloat32), HasSubstr("its name is not valid UTF-8"));
}

TEST(SafeTensors, b23_TheCallerLimitsTheMemory) {
  const std::string file = to_safetensors({{"a", {nullptr, DType::kUInt8, {0}}}}) + "xyz";
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { SafeTensors::parse(file, "v", 2); }),
              HasSubstr("the tensors take 3 bytes, more than the limit of 2"));
}

TEST(SafeTensors, FilesThatCannotBeOpened) {
  EXPECT_THAT(error_of(ErrorKind::kNotFound, [] { SafeTensors::read("/no/such/file"); }),
              HasSubstr("/no/such/file: the file was not found"));
  EXPECT_THAT(error_of(ErrorKind::kIo, [] { write_safetensors("/no/such/file", {}); }),
              HasSubstr("/no/such/file: the file could not be written"));
}

TEST(SafeTensors, TruncatedAndFlippedFilesNeverCrash) {
  for (std::size_t length = 0; length < kPythonFile.size(); ++length) {
    EXPECT_THAT(refusal(kPythonFile.substr(0, length)), StartsWith("v: [B23]"));
  }
  for (std::size_t i = 0; i < kPythonFile.size() * 8; ++i) {
    std::string damaged = kPythonFile;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    try {
      SafeTensors::parse(damaged, "v");
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), StartsWith("v: [B23]"));
    }
  }
}

}  // namespace
}  // namespace leapp
