#include "import/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Fields fields(const std::string& value) {
  return {"policy.onnx", {{"key", value}}, {}};
}

TEST(FieldsTest, ListsOfEveryWriterReadTheSame) {
  for (const char* text : {"1.000,2.500", "1, 2.5", "[1.0, 2.5]", "+1,25e-1"}) {
    EXPECT_THAT(fields(text).numbers("key", "numbers"), ElementsAre(1, 2.5)) << text;
  }
  for (const char* text : {"hip,knee", " hip , knee ", "[\"hip\", \"knee\"]"}) {
    EXPECT_THAT(fields(text).texts("key", "names"), ElementsAre("hip", "knee")) << text;
  }
}

TEST(FieldsTest, EntriesMayHoldSeveralNumbers) {
  for (const char* text : {"-inf;inf,1;2", "[-inf, inf],[1, 2]", "(-inf, inf), (1, 2)"}) {
    EXPECT_THAT(fields(text).nested("key", "ranges", Bounds::kMayBeInfinite),
                ElementsAre(ElementsAre(-INFINITY, INFINITY), ElementsAre(1, 2)))
        << text;
  }
  EXPECT_THAT(error_of([] { fields("1;2,3").numbers("key", "one each"); }),
              HasSubstr("a group of numbers"));
}

TEST(FieldsTest, WhatIsNoFiniteNumberIsNamed) {
  for (const char* text : {"nan", "inf", "1,x", "1e999", "1e39", "-1e39", "0x10", "1 2", "--1"}) {
    EXPECT_THAT(error_of([&] { fields(text).numbers("key", "gains"); }),
                StartsWith("LP823: policy.onnx: key 'key' has the value"))
        << text;
  }
  EXPECT_THAT(error_of([] { fields("1,,2").numbers("key", "gains"); }), HasSubstr("empty value"));
  EXPECT_THAT(error_of([] { fields("").texts("key", "names"); }), HasSubstr("empty value"));
}

// Constants of imported nodes are float32.
TEST(FieldsTest, NumbersMustFitAFloat32) {
  EXPECT_TRUE(is_finite_float(3.4e38));
  EXPECT_FALSE(is_finite_float(3.5e38));
  EXPECT_FALSE(is_finite_float(-1e39));
  EXPECT_FALSE(is_finite_float(NAN));
  EXPECT_THAT(error_of([] { fields("1e39").nested("key", "limits", Bounds::kMayBeInfinite); }),
              HasSubstr("expected numbers that a float32 can hold"));
  EXPECT_EQ(fields("0.5").positive("key"), 0.5);
  for (const char* text : {"1e39", "1e-60", "0", "-1", "inf", "nan"}) {
    EXPECT_THAT(error_of([&] { fields(text).positive("key"); }),
                HasSubstr("expected a positive number that a float32 can hold"))
        << text;
  }
}

TEST(FieldsTest, AMissingKeySaysWhatToGive) {
  EXPECT_EQ(error_of([] { fields("1").numbers("joint_names", "the joints"); }),
            "LP822: policy.onnx: key 'joint_names' is missing: give the joints (--set "
            "joint_names=.., settings={'joint_names': ..})");
}

TEST(FieldsTest, SettingsGoFirstAndMustBeOfUse) {
  const Fields given("policy.onnx", {{"key", "1"}}, {{"key", "2"}, {"kye", "3"}});
  EXPECT_THAT(given.numbers("key", "numbers"), ElementsAre(2));
  EXPECT_THAT(error_of([&] { given.check_settings(); }), HasSubstr("no setting 'kye'"));
  EXPECT_THAT(error_of([] {
                Fields("policy.onnx", {}, {{"a", "1"}, {"a", "2"}});
              }),
              HasSubstr("set twice"));
}

TEST(FieldsTest, AKeyThatStandsThereTwiceIsRefusedUnlessItIsSet) {
  const onnx::Properties twice = {{"key", "1"}, {"key", "2"}};
  EXPECT_THAT(error_of([&] { Fields("policy.onnx", twice, {}); }), HasSubstr("LP823"));
  EXPECT_EQ(error_of([&] { Fields("policy.onnx", twice, {{"key", "3"}}); }), "");
}

TEST(FieldsTest, HugeListsAreRefused) {
  std::string list = "1";
  for (std::size_t i = 0; i < kMaxList; ++i) list += ",1";
  EXPECT_THAT(error_of([&] { fields(list).numbers("key", "gains"); }), HasSubstr("4097 values"));
  for (char& c : list) {
    if (c == ',') c = ';';
  }
  EXPECT_THAT(error_of([&] { fields(list).nested("key", "gains"); }), HasSubstr("too many values"));
}

}  // namespace
}  // namespace leapp::importing
