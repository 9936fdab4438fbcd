// After prepare(), a tick allocates nothing and takes no lock in LEAPP's own code, with any engine.
// The test also records what the engine does.
//
// Every allocation and every lock of this process goes through the functions below. While counting,
// they look up the library of the caller: the first one outside the C++ library. Calls of ONNX
// Runtime and libtorch count as theirs. Calls of this program, which contains the runtime, and of
// the engine plugin count as ours.
#include <dlfcn.h>
#include <execinfo.h>
#include <gmock/gmock.h>
#include <pthread.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>

#include "bundle/noise_port.h"
#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace {

// Allocations and locks while counting.
struct Count {
  int own = 0;
  int all = 0;
};

thread_local bool counting = false;
thread_local Count allocations;
thread_local Count locks;

bool is_own_library(std::string_view path) {
  return path.find("runtime_tests") != std::string_view::npos ||
         path.find("libleapp") != std::string_view::npos;
}

void note(Count& count, const void* caller) {
  if (!counting) return;
  counting = false;  // the following code may allocate
  ++count.all;
  std::array<void*, 16> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  // This function and its caller come first in the trace, whether inlined or not.
  int i = 0;
  while (i < depth && frames[static_cast<std::size_t>(i)] != caller) ++i;
  for (; i < depth; ++i) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0) continue;
    const std::string_view path = info.dli_fname;
    if (path.find("libstdc++") != std::string_view::npos) continue;
    if (is_own_library(path)) ++count.own;
    break;
  }
  counting = true;
}

void start_counting() {
  backtrace(std::array<void*, 1>().data(), 1);  // the first call loads a library
  allocations = locks = {};
  counting = true;
}

void* allocate(std::size_t size, std::size_t alignment, const void* caller) {
  note(allocations, caller);
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return allocate(size, alignof(std::max_align_t), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
// The functions that do not throw must be replaced too: memory must return to the allocator that it
// came from.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, alignof(std::max_align_t), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, alignof(std::max_align_t), __builtin_return_address(0));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

// ThreadSanitizer replaces this function itself, so the test must not.
#ifndef __SANITIZE_THREAD__
extern "C" [[gnu::noinline]] int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  note(locks, __builtin_return_address(0));
  return real(mutex);
}
#endif

namespace leapp {
namespace {

using namespace leapp::testing;

class AllocationTest : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  void SetUp() override {
#ifndef LEAPP_TEST_LIBRARIES
    if (std::string(GetParam()).ends_with(".pt")) GTEST_SKIP() << "built without libtorch";
#endif
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, AllocationTest,
                         ::testing::Values(".onnx", ".pt", "_translated.pt"), [](const auto& test) {
                           const std::string name(test.param);
                           return name.substr(
                               1, name.rfind('.') == 0 ? name.npos : name.rfind('.') - 1);
                         });

// Returns a bundle preprocessing/x -> policy/y with a feedback state of the policy. The names are
// too long for the string's internal buffer.
std::filesystem::path write_policy(TestBundle& test, const std::string& extension) {
  const bool onnx = extension == ".onnx";
  test.node("preprocessing", "affine" + extension, {port("x")}, {port("y")})
      .node("recurrent_policy", "recurrent" + extension, {port("x"), port(onnx ? "h_in" : "h")},
            {port("y"), port(onnx ? "h_out" : "h")})
      .wire("preprocessing/y", "recurrent_policy/x")
      .feedback(onnx ? "recurrent_policy/h_out" : "recurrent_policy/h",
                onnx ? "recurrent_policy/h_in" : "recurrent_policy/h")
      .input("preprocessing/x")
      .output("recurrent_policy/y");
  if (test.bundle().pipeline.schedule.empty()) test.merged({"preprocessing", "recurrent_policy"});
  return test.write();
}

constexpr int kTicks = 10;

// Counts during kTicks ticks; each tick sets the input and reads the output.
void count_ticks(InferenceManager& manager) {
  const InputPort in = manager.input_port("preprocessing/x");
  const OutputPort out = manager.output_port("recurrent_policy/y");
  const std::array<float, 4> x{1, 2, 3, 4};
  manager.prepare();
  float sum = 0;
  bool good = true;
  start_counting();
  for (int i = 0; i < kTicks; ++i) {
    good = good && manager.set_input(in, x).ok();
    good = good && manager.tick().ok();
    sum += static_cast<const float*>(manager.output(out).data)[0];
  }
  counting = false;
  EXPECT_TRUE(good);
  EXPECT_NE(sum, 0);
}

TEST_P(AllocationTest, TheCounterSeesOurOwn) {
  std::vector<int> values;
  std::mutex mutex;
  start_counting();
  values.resize(100);
  mutex.lock();
  counting = false;
  mutex.unlock();
  EXPECT_EQ(allocations.own, 1);
#ifndef __SANITIZE_THREAD__
  EXPECT_EQ(locks.own, 1);
#endif
}

TEST_P(AllocationTest, ATickOfAScheduleAllocatesAndLocksNothing) {
  TestBundle test;
  test.bundle().pipeline.schedule = {
      {.node = "preprocessing", .on_change = {"x"}},
      {.node = "recurrent_policy", .every = 2, .repeat = 3, .carry = {{"y", "x"}}}};
  InferenceManager manager(write_policy(test, GetParam()));
  count_ticks(manager);
  EXPECT_EQ(allocations.own, 0);
  EXPECT_EQ(locks.own, 0);
}

TEST_P(AllocationTest, ATickWithNoiseAllocatesAndLocksNothing) {
  if (std::string(GetParam()) != ".onnx") GTEST_SKIP() << "noise does not depend on the engine";
  TestBundle test;
  test.bundle().pipeline.inputs = {{"noisy", {"x"}}};
  Port noise = port("x");
  make_noise(noise, NoiseDistribution::kNormal);
  test.node("noisy", "affine.onnx", {noise}, {port("y")}).output("noisy/y");
  for (const bool scheduled : {false, true}) {
    if (scheduled) test.bundle().pipeline.schedule = {{.node = "noisy", .repeat = 2}};
    InferenceManager manager(scheduled ? test.write() : write_policy(test, GetParam()));
    count_ticks(manager);
    EXPECT_EQ(allocations.own, 0);
    EXPECT_EQ(locks.own, 0);
  }
}

TEST_P(AllocationTest, TickAllocatesAndLocksNothing) {
  TestBundle test;
  const std::filesystem::path yaml = write_policy(test, GetParam());
  RuntimeOptions options;
  options.measure = true;
  options.finite = {true, true, true};
  options.deadline = std::chrono::seconds(10);
  options.staleness = {{"preprocessing/x", std::chrono::seconds(10)}};
  for (const auto& [merge, translate] : {std::pair(Merge::kOff, false),
                                         {Merge::kAuto, false},
                                         {Merge::kOff, true},
                                         {Merge::kAuto, true}}) {
    options.merge = merge;
    options.engine.translate = translate;
    InferenceManager manager(yaml, options);
    manager.trace_to(yaml.parent_path() / "ticks.pftrace");
    count_ticks(manager);
    EXPECT_EQ(allocations.own, 0) << "of " << allocations.all << " in all";
    EXPECT_EQ(locks.own, 0) << "of " << locks.all << " in all";
  }
}

TEST_P(AllocationTest, AFailingTickAllocatesNothingEither) {
  TestBundle test;
  test.node("pre", std::string("affine") + GetParam(), {port("x")}, {port("y")})
      .input("pre/x")
      .output("pre/y");
  InferenceManager manager(test.write());
  manager.prepare();
  start_counting();
  const bool good = manager.tick().ok();  // no input
  counting = false;
  EXPECT_FALSE(good);
  EXPECT_EQ(allocations.own, 0);
  EXPECT_EQ(locks.own, 0);
}

// The counts of ONNX Runtime 1.31, as in docs/explanation/benchmarks.md. A version that needs more
// should be examined.
TEST(EngineAllocationTest, OnnxRuntimeTakesNoMoreThanRecorded) {
  find_libraries();
  TestBundle test;
  const std::filesystem::path yaml = write_policy(test, ".onnx");
  struct Recorded {
    Merge merge;
    int allocations;  // in one tick
    int locks;
  };
  for (const Recorded& recorded : {Recorded{Merge::kAuto, 21, 4}, {Merge::kOff, 32, 6}}) {
    InferenceManager manager(yaml, {.merge = recorded.merge});
    count_ticks(manager);
    EXPECT_LE(allocations.all, kTicks * recorded.allocations);
    EXPECT_LE(locks.all, kTicks * recorded.locks);
  }
}

}  // namespace
}  // namespace leapp
