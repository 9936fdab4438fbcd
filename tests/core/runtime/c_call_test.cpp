#include "runtime/c_call.h"

#include <gmock/gmock.h>

#include <array>
#include <string>

namespace leapp::c {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Small {
  std::size_t size;
  int first;
  int second;
};

TEST(CCallTest, WhatACallThrowsBecomesAStatus) {
  EXPECT_EQ(guarded([] {}), LEAPP_OK);
  EXPECT_EQ(guarded([] { throw Error(Code::kUnknownPort, "no such port"); }), LEAPP_VALUE);
  EXPECT_STREQ(leapp_last_error(), "no such port [LP601]");
  EXPECT_STREQ(leapp_last_code(), "LP601");
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); }), LEAPP_IO);
  EXPECT_STREQ(leapp_last_error(), "out of memory [LP008]");
  EXPECT_EQ(guarded([] { throw std::runtime_error("surprise"); }), LEAPP_INTERNAL);
  EXPECT_STREQ(leapp_last_error(), "surprise [LP001]");
  EXPECT_EQ(guarded([] { throw 3; }), LEAPP_INTERNAL);
  EXPECT_STREQ(leapp_last_code(), "LP001");
}

TEST(CCallTest, EveryKindOfErrorHasItsStatus) {
  EXPECT_EQ(fail(Failure(Code::kUsage, "x")), LEAPP_USAGE);
  EXPECT_EQ(fail(Failure(Code::kWrongType, "x")), LEAPP_TYPE);
  EXPECT_EQ(fail(Failure(Code::kTickFailed, "x")), LEAPP_VALUE);
  EXPECT_EQ(fail(Failure(Code::kNotFound, "x")), LEAPP_NOT_FOUND);
  EXPECT_EQ(fail(Failure(Code::kIo, "x")), LEAPP_IO);
  EXPECT_EQ(fail(Failure(Code::kInternal, "x")), LEAPP_INTERNAL);
  EXPECT_EQ(status_of(Result<void>()), LEAPP_OK);
  EXPECT_EQ(status_of(Failure(Code::kUsage, "x")), LEAPP_USAGE);
}

TEST(CCallTest, LongErrorsAreCutAndSuccessLeavesTheLastOne) {
  fail(Code::kUsage, std::string(10'000, 'x'));
  EXPECT_LT(std::string(leapp_last_error()).size(), 2048u);
  EXPECT_THAT(leapp_last_error(), StartsWith("xxx"));
  EXPECT_EQ(guarded([] {}), LEAPP_OK);
  EXPECT_THAT(leapp_last_error(), StartsWith("xxx"));
}

TEST(CCallTest, StructsAreWrittenUpToTheCallersSize) {
  const Small value{sizeof(Small), 1, 2};
  std::array<unsigned char, 64> memory;
  memory.fill(0xA5);
  put_struct(value, reinterpret_cast<Small*>(memory.data()), offsetof(Small, second));
  EXPECT_EQ(memory[offsetof(Small, first)], 1);
  EXPECT_EQ(memory[offsetof(Small, second)], 0xA5);
  memory.fill(0xA5);
  put_struct(value, reinterpret_cast<Small*>(memory.data()), sizeof(Small) + 8);
  EXPECT_EQ(memory[offsetof(Small, second)], 2);
  EXPECT_EQ(memory[sizeof(Small) + 7], 0);
  EXPECT_EQ(memory[sizeof(Small) + 8], 0xA5);
  memory.fill(0xA5);
  put_struct(value, reinterpret_cast<Small*>(memory.data()), 0);
  EXPECT_EQ(memory[0], 0xA5);
}

TEST(CCallTest, StructsAreReadUpToTheCallersSize) {
  const Small defaults{0, 7, 8};
  Small given{sizeof(Small), 1, 2};
  EXPECT_EQ(take_struct(&given, sizeof(Small), defaults, "given").second, 2);
  EXPECT_EQ(take_struct(&given, offsetof(Small, second), defaults, "given").second, 8);
  EXPECT_EQ(take_struct(&given, offsetof(Small, second), defaults, "given").first, 1);
  struct {
    Small known;
    std::array<char, 8> unknown;
  } larger{given, {}};
  EXPECT_EQ(take_struct(&larger, sizeof(larger), defaults, "given").second, 2);
  larger.unknown[7] = 1;
  try {
    take_struct(&larger, sizeof(larger), defaults, "given");
    FAIL() << "a member that nobody knows was passed over";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kRuntimeOptions);
    EXPECT_THAT(error.text(), HasSubstr("given of 24 bytes sets members that this library"));
  }
}

}  // namespace
}  // namespace leapp::c
