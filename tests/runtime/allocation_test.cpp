// After prepare() a tick makes no heap allocation in LEAPP's own code, whatever the engine.
//
// Every allocation of this process passes the operators below. While a count is on, the library
// that asked is looked up: the first caller outside the C++ library. Those of ONNX Runtime and
// libtorch are theirs; those of this program (which holds the runtime) and of the engine plugin are
// ours.
#include <dlfcn.h>
#include <execinfo.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string_view>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace {

thread_local bool counting = false;
thread_local int own_allocations = 0;
thread_local int all_allocations = 0;

bool is_own_library(std::string_view path) {
  return path.find("runtime_tests") != std::string_view::npos ||
         path.find("libleapp") != std::string_view::npos;
}

void note_allocation(const void* caller) {
  if (!counting) return;
  counting = false;  // what follows may allocate itself
  ++all_allocations;
  std::array<void*, 16> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  // This function and the operator come first, inlined into each other or not.
  int i = 0;
  while (i < depth && frames[static_cast<std::size_t>(i)] != caller) ++i;
  for (; i < depth; ++i) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0) continue;
    const std::string_view path = info.dli_fname;
    if (path.find("libstdc++") != std::string_view::npos) continue;
    if (is_own_library(path)) ++own_allocations;
    break;
  }
  counting = true;
}

void* allocate(std::size_t size, std::size_t alignment, const void* caller) {
  note_allocation(caller);
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
// Those that do not throw belong to the set: memory must go back to where it came from.
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

namespace leapp {
namespace {

using namespace leapp::testing;

class AllocationTest : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { find_libraries(); }
  void SetUp() override {
#ifndef LEAPP_TEST_LIBRARIES
    if (std::string(GetParam()) == ".pt") GTEST_SKIP() << "built without libtorch";
#endif
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, AllocationTest, ::testing::Values(".onnx", ".pt"),
                         [](const auto& test) { return std::string(test.param).substr(1); });

TEST_P(AllocationTest, TheCounterSeesOurOwn) {
  counting = true;
  own_allocations = 0;
  delete new int(3);
  counting = false;
  // A compiler may elide the pair above; a vector's growth it may not.
  std::vector<int> values;
  counting = true;
  values.resize(100);
  counting = false;
  EXPECT_GE(own_allocations, 1);
}

TEST_P(AllocationTest, TickAllocatesNothing) {
  TestBundle test;
  const std::string extension = GetParam();
  const bool onnx = extension == ".onnx";
  test.node("pre", "affine" + extension, {port("x")}, {port("y")})
      .node("policy", "recurrent" + extension, {port("x"), port(onnx ? "h_in" : "h")},
            {port("y"), port(onnx ? "h_out" : "h")})
      .wire("pre/y", "policy/x")
      .feedback(onnx ? "policy/h_out" : "policy/h", onnx ? "policy/h_in" : "policy/h")
      .input("pre/x")
      .output("policy/y");
  RuntimeOptions options;
  options.measure = true;
  options.finite = {true, true, true};
  options.deadline = std::chrono::seconds(10);
  options.staleness = {{"pre/x", std::chrono::seconds(10)}};
  for (const auto& [merge, translate] : {std::pair(Merge::kOff, false),
                                         {Merge::kAuto, false},
                                         {Merge::kOff, true},
                                         {Merge::kAuto, true}}) {
    options.merge = merge;
    options.engine.translate = translate;
    InferenceManager manager(test.write(), options);
    const InputPort in = manager.input_port("pre/x");
    const OutputPort out = manager.output_port("policy/y");
    const std::array<float, 4> x{1, 2, 3, 4};
    manager.prepare();
    float sum = 0;
    bool good = true;
    backtrace(std::array<void*, 1>().data(), 1);  // loads its library on first use
    own_allocations = all_allocations = 0;
    counting = true;
    for (int i = 0; i < 10; ++i) {
      manager.set_input(in, x.data());
      good = good && manager.tick().ok();
      sum += static_cast<const float*>(manager.output(out).data)[0];
    }
    counting = false;
    EXPECT_TRUE(good);
    EXPECT_NE(sum, 0);
    EXPECT_EQ(own_allocations, 0) << "of " << all_allocations << " in all";
  }
}

TEST_P(AllocationTest, AFailingTickAllocatesNothingEither) {
  TestBundle test;
  test.node("pre", std::string("affine") + GetParam(), {port("x")}, {port("y")})
      .input("pre/x")
      .output("pre/y");
  InferenceManager manager(test.write());
  manager.prepare();
  own_allocations = 0;
  counting = true;
  const bool good = manager.tick().ok();  // no input
  counting = false;
  EXPECT_FALSE(good);
  EXPECT_EQ(own_allocations, 0);
}

}  // namespace
}  // namespace leapp
