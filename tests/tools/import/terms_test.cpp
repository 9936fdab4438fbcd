#include "import/terms.h"

#include <gmock/gmock.h>

#include <cmath>

#include "import/meaning.h"
#include "support.h"

namespace leapp::importing {
namespace {

using leapp::testing::error_of;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class TermsTest : public ::testing::Test {
 protected:
  // Returns the error of the terms for an observation of that size; "" if they fill it.
  std::string settle(std::int64_t size, const Settings& settings = {}) {
    const Fields fields("policy.onnx", {}, settings);
    return error_of([&] { settle_terms(deployment_, fields, plain_port("obs", {1, size})); });
  }

  std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> found;
    for (const Term& term : deployment_.terms) found.push_back(term.size);
    return found;
  }

  Deployment deployment_{.format = "mjlab",
                         .joints = {},
                         .default_position = {},
                         .stiffness = {},
                         .damping = {},
                         .terms = {{.name = "a", .size = 3}, {.name = "b", .ages = {1, 0}}},
                         .drives = {}};
};

TEST_F(TermsTest, OneSizeFollowsFromTheOthers) {
  EXPECT_EQ(settle(7), "");
  EXPECT_THAT(sizes(), ElementsAre(3, 2));
  EXPECT_EQ(deployment_.notes.size(), 1U);
}

TEST_F(TermsTest, WhatIsLeftMustDivideIntoFrames) {
  EXPECT_THAT(settle(8), StartsWith("LP824"));
  deployment_.terms[1].size = 0;
  EXPECT_THAT(settle(3), StartsWith("LP824"));
}

TEST_F(TermsTest, TwoUnknownSizesMustBeGiven) {
  deployment_.terms[0].size = 0;
  EXPECT_THAT(settle(7), StartsWith("LP822"));
  EXPECT_EQ(settle(7, {{kSizesKey, "3, 2"}}), "");
  EXPECT_THAT(sizes(), ElementsAre(3, 2));
}

TEST_F(TermsTest, SizesThatAreGivenMustBePossible) {
  for (const char* given : {"3", "3,0", "3,1.5", "4,2", "3,99999999"}) {
    deployment_.terms[1].size = 0;
    EXPECT_THAT(settle(7, {{kSizesKey, given}}), StartsWith("LP823")) << given;
  }
}

TEST_F(TermsTest, TheTermsMustFillTheObservation) {
  deployment_.terms[1].size = 1;
  EXPECT_THAT(settle(7), StartsWith("LP824"));
  EXPECT_EQ(settle(5), "");
}

TEST_F(TermsTest, ScalesRangesAndFramesMustFit) {
  deployment_.terms[0].scale = {1, 2};
  EXPECT_THAT(settle(7), StartsWith("LP823"));
  deployment_.terms[0].scale = {1, 2, 3};
  deployment_.terms[0].lower = 1;
  deployment_.terms[0].upper = 0;
  EXPECT_THAT(settle(7), StartsWith("LP823"));
  deployment_.terms[0].lower = -kInfinity;
  deployment_.time_major = true;
  EXPECT_THAT(settle(7), StartsWith("LP823"));
  deployment_.time_major = false;
  EXPECT_EQ(settle(7), "");
}

TEST(TermListsTest, AHistoryIsListedFromItsOldestFrame) {
  const Fields fields("policy.onnx", {}, {});
  EXPECT_THAT(oldest_first(fields, "key", 3), ElementsAre(2, 1, 0));
  EXPECT_THAT(oldest_first(fields, "key", 0), ElementsAre(0));
  for (const double length : {-1.0, 1.5, 1001.0, static_cast<double>(NAN)}) {
    EXPECT_THAT(error_of([&] { oldest_first(fields, "key", length); }), StartsWith("LP823"));
  }
  EXPECT_THAT(all_of(3), ElementsAre(0, 1, 2));
}

TEST(TermListsTest, NamesStandOnce) {
  const Fields fields("policy.onnx", {}, {});
  EXPECT_EQ(error_of([&] { check_unique(fields, "key", {"a", "b"}); }), "");
  EXPECT_THAT(error_of([&] { check_unique(fields, "key", {"a", "a"}); }), StartsWith("LP823"));
}

}  // namespace
}  // namespace leapp::importing
