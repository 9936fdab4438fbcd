// Lets each call in our own code that can fail do so once while a compiled library is copied,
// checked and opened. LEAPP_LONG tries all of them; otherwise the first ones and a tenth of the
// others.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "../core/runtime/engines/cpp/doubling_source.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "leapp/error.h"
#include "residue.h"
#include "runtime/engines/cpp/native_library.h"
#include "runtime/engines/cpp/native_record.h"

namespace leapp {
namespace {

using test::Fault;
using test::Residue;

class NativeSweepTest : public ::testing::TestWithParam<Fault> {
 protected:
  enum class Outcome { kLoaded, kRefused, kUnclear };

  void SetUp() override {
    if (find_compiler().empty()) GTEST_SKIP() << "there is no compiler";
    library_ = test::compile_doubling(folder_.path());
  }

  // A library of another checksum, because a library is opened once in a process.
  void renew() const {
    std::ofstream(library_, std::ios::app | std::ios::binary) << 'x';
    NativeRecord record{"w.native.so", sha256_file(library_), "g++", "x86_64", {}, {}};
    record.nodes["policy"] = native_checksums(test::doubling_model());
    std::ofstream(folder_.path() / "w.native.json") << to_json(record);
  }

  Outcome load() const {
    try {
      ModelFile file;
      file.allow_native = true;
      file.native_record = folder_.path() / "w.native.json";
      file.external_data = {{"policy.weights", std::as_bytes(std::span(weights_))}};
      load_cpp_engine(test::doubling_model(), file, {});
      return Outcome::kLoaded;
    } catch (const Error& error) {
      return error.code() == Code::kInternal ? Outcome::kUnclear : Outcome::kRefused;
    } catch (const std::bad_alloc&) {
      return Outcome::kRefused;
    } catch (const std::exception&) {
      return Outcome::kUnclear;
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path library_;
  std::array<float, 4> weights_{2, 2, 2, 2};
};

INSTANTIATE_TEST_SUITE_P(Faults, NativeSweepTest,
                         ::testing::Values(Fault::kAllocation, Fault::kOpen, Fault::kRead,
                                           Fault::kWrite, Fault::kMemoryFile, Fault::kLibrary),
                         [](const auto& each) {
                           return test::kFaultNames[static_cast<std::size_t>(each.param)];
                         });

TEST_P(NativeSweepTest, ALibraryLoadsOrIsRefusedAndLeavesNothing) {
  renew();
  ASSERT_EQ(load(), Outcome::kLoaded);  // what the process makes once
  const std::size_t step = std::getenv("LEAPP_LONG") != nullptr ? 1 : 10;
  std::size_t refused = 0;
  bool failed = true;
  for (std::size_t i = 0; failed; i += i < 20 ? 1 : step) {
    renew();
    Outcome outcome = Outcome::kUnclear;
    bool leaves_nothing = false;
    // An allocation that an error path makes once per process is not a leak, so a second attempt
    // repeats the failure.
    for (int attempt = 0; attempt < 2 && !leaves_nothing; ++attempt) {
      const Residue before = Residue::now();
      test::arm(GetParam(), i);
      outcome = load();
      failed = test::disarm();
      leaves_nothing = outcome == Outcome::kLoaded || Residue::now() == before;
    }
    ASSERT_NE(outcome, Outcome::kUnclear) << i;
    ASSERT_TRUE(leaves_nothing) << i;
    if (outcome == Outcome::kRefused) ++refused;
    if (!failed) {
      EXPECT_EQ(outcome, Outcome::kLoaded);
    }
  }
  EXPECT_GT(refused, 0U);
  RecordProperty("failed", static_cast<int>(refused));
}

}  // namespace
}  // namespace leapp
