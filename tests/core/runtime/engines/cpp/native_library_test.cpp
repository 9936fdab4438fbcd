#include "runtime/engines/cpp/native_library.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/hash.h"
#include "base/input_file.h"
#include "base/temporary_folder.h"
#include "doubling_source.h"
#include "leapp/error.h"
#include "runtime/engines/cpp/native_record.h"

namespace leapp {
namespace {

using test::compile_doubling;
using test::doubling_model;
using ::testing::Each;
using ::testing::HasSubstr;

// A compiled library with its record.
class NativeLibraryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_compiler().empty()) GTEST_SKIP() << "there is no compiler";
    library_ = compile_doubling(folder_.path());
  }

  // A library with another checksum, larger than the files that are read at once.
  void grow(std::size_t bytes) const {
    std::ofstream(library_, std::ios::app | std::ios::binary) << std::string(bytes, 'x');
  }

  void write_record(const std::string& sha256) const {
    NativeRecord record{"w.native.so", sha256, "g++ 12", "x86_64-linux-gnu", {"-O0"}, {}};
    record.nodes["policy"] = native_checksums(doubling_model());
    std::ofstream(folder_.path() / "w.native.json") << to_json(record);
  }

  std::unique_ptr<Engine> load(bool allow = true) const {
    ModelFile file;
    file.allow_native = allow;
    file.native_record = folder_.path() / "w.native.json";
    file.external_data = {{"policy.weights", std::as_bytes(std::span(weights_))}};
    return load_cpp_engine(doubling_model(), file, {});
  }

  std::string fault(Code code, bool allow = true) const {
    try {
      load(allow);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.text();
    }
    ADD_FAILURE() << "the library was loaded";
    return {};
  }

  float run(Engine& engine) const {
    std::array<float, 4> x{1, 1, 1, 1};
    std::array<float, 4> y{};
    const TensorView in{x.data(), DType::kFloat32, {1, 4}};
    const TensorView out{y.data(), DType::kFloat32, {1, 4}};
    engine.bind(std::array<ConstTensorView, 1>{in}, std::array{out})->run().value();
    return y[0];
  }

  TemporaryFolder folder_;
  std::filesystem::path library_;
  std::array<float, 4> weights_{2, 2, 2, 2};
};

TEST_F(NativeLibraryTest, RunsOnlyIfItIsAllowed) {
  write_record(sha256_file(library_));
  EXPECT_THAT(fault(Code::kNativeNotAllowed, false), HasSubstr("allow_native"));
  EXPECT_EQ(run(*load()), 2);
}

TEST_F(NativeLibraryTest, ALibraryThatWasChangedIsRefusedWhateverItsSize) {
  write_record(sha256_file(library_));
  grow(20 << 20);
  EXPECT_THAT(fault(Code::kStaleBuild), HasSubstr("its checksum is " + sha256_file(library_)));
}

// The library that runs is a copy that no process can write to, not the file.
TEST_F(NativeLibraryTest, ALargeLibraryIsOpenedFromASealedCopy) {
  grow(20 << 20);
  write_record(sha256_file(library_));
  const std::unique_ptr<Engine> engine = load();
  const int former = ::open(library_.c_str(), O_WRONLY | O_TRUNC);
  ASSERT_GE(former, 0);
  ::close(former);  // the file is empty now
  EXPECT_EQ(run(*engine), 2);
  EXPECT_THAT(fault(Code::kStaleBuild), HasSubstr("its checksum is"));
  // The copies are file descriptors of this process, and none of them can be written to.
  int copies = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.find("memfd:leapp-native") == std::string::npos) continue;
    ++copies;
    const int descriptor = std::stoi(entry.path().filename().string());
    EXPECT_EQ(::pwrite(descriptor, "x", 1, 0), -1) << target;
    EXPECT_EQ(::ftruncate(descriptor, 0), -1) << target;
  }
  EXPECT_GE(copies, 1);
}

TEST_F(NativeLibraryTest, TheSameLibraryIsOpenedOnce) {
  grow(1);
  write_record(sha256_file(library_));
  const auto count = [] {
    int found = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
      ++found;
    }
    return found;
  };
  const std::unique_ptr<Engine> first = load();
  const int descriptors = count();
  const std::unique_ptr<Engine> second = load();
  EXPECT_EQ(count(), descriptors);
  EXPECT_EQ(run(*second), 2);
}

TEST_F(NativeLibraryTest, APipeOrALibraryElsewhereIsRefused) {
  write_record(sha256_file(library_));
  std::filesystem::remove(library_);
  ASSERT_EQ(mkfifo(library_.c_str(), 0600), 0);
  EXPECT_THAT(fault(Code::kIo), HasSubstr("not a regular file"));
  std::filesystem::remove(library_);
  EXPECT_THAT(fault(Code::kNotFound), HasSubstr("was not found"));
  NativeRecord record{"../w.native.so", "aa", "g++", "x86_64", {}, {}};
  record.nodes["policy"] = native_checksums(doubling_model());
  std::ofstream(folder_.path() / "w.native.json") << to_json(record);
  EXPECT_THAT(fault(Code::kStaleBuild), HasSubstr("the library is not in the same directory"));
}

}  // namespace
}  // namespace leapp
