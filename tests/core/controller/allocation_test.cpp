// update() makes no allocation and no system call, which is what a lock would need when taken.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdlib>
#include <new>

#include "support.h"

namespace {

thread_local bool counting = false;
thread_local int allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  if (counting) ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace leapp {
namespace {

using namespace std::chrono_literals;
using testing::add_legs;
using testing::PolicyBench;

/// Everything on: histories, chunks, limits, blending in, recording, interventions.
void add_everything(PolicyBench& bench, Execution execution) {
  add_legs(bench, {.limits = Limits{{-3}, {3}, {50}}, .fallback = Damp{}});
  for (Port* const port : {&bench.inputs[0], &bench.outputs[0]}) {
    port->shape = {1, 3, 2};
    port->semantics.element_names =
        ElementNames{{}, TemporalAxis{20}, std::vector<std::string>{"hip", "knee"}};
  }
  add_contract(bench.inputs[0].semantics, {.max_age_ms = 100});
  bench.options.interpolation = Interpolation::kLinear;
  bench.options.execution = execution;
  bench.options.blend_in = 50ms;
  bench.options.recording = bench.folder() / "run.mcap";
}

void run_ticks(PolicyBench& bench, Controller& controller) {
  for (int i = 0; i < 200; ++i) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (i < 150) controller.set_sensor(0, std::array{i % 20 == 7 ? nan : 0.1 * i, 0.3});
    controller.update();
    bench.now += 10ms;
  }
}

class ControllerAllocationTest : public ::testing::TestWithParam<Execution> {};

INSTANTIATE_TEST_SUITE_P(Executions, ControllerAllocationTest,
                         ::testing::Values(Execution::kSynchronous, Execution::kWorker));

TEST_P(ControllerAllocationTest, UpdateAllocatesNothing) {
  PolicyBench bench;
  add_everything(bench, GetParam());
  Controller controller = bench.make();
  controller.start();
  allocations = 0;
  counting = true;
  std::vector<int> seen(10);
  EXPECT_EQ(allocations, 1);  // the count works
  run_ticks(bench, controller);
  counting = false;
  EXPECT_EQ(allocations, 1);
  EXPECT_FALSE(controller.interventions().empty());
}

// A child gives up every system call but read, write and exit: another one ends it.
TEST_P(ControllerAllocationTest, UpdateCallsNoSystem) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no thread in a child";
#endif
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    PolicyBench bench;
    add_everything(bench, GetParam());
    Controller controller = bench.make();
    controller.start();
    const char unable = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0 ? 'd' : 'u';
    run_ticks(bench, controller);
    (void)!write(ends[1], &unable, 1);
    syscall(SYS_exit, 0);
  }
  close(ends[1]);
  char said = '-';
  (void)!read(ends[0], &said, 1);
  close(ends[0]);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (said == 'u') GTEST_SKIP() << "this machine has no seccomp";
  EXPECT_EQ(said, 'd') << "a system call ended the loop";
}

}  // namespace
}  // namespace leapp
