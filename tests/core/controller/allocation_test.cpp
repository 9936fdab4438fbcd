// update() makes no allocation and no system call, which a contended lock would need.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "supervisor_bench.h"

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

/// Returns a bundle with everything enabled: histories, chunks, limits, blending in, recording,
/// interventions.
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
    if (i < 150) controller.set_sensor(0, std::array{i % 20 == 7 ? nan : 0.1 * i, 0.3}).value();
    controller.update();
    bench.now += 10ms;
  }
}

/// Returns two policies with everything enabled, which alternate every few ticks, with stops.
void add_everything(testing::SupervisorBench& bench, Execution execution) {
  bench.policies.clear();
  bench.supervision.policies.clear();
  for (const char* const name : {"stand", "walk"}) {
    testing::PolicyBench& policy = bench.add(name, 1);
    policy.inputs.clear();
    policy.outputs.clear();
    add_everything(policy, execution);
    policy.add_state("h", 3);
    bench.options = policy.options;
  }
  bench.robot = bench.policies[0].robot;
  bench.options.blend_in = 0ms;
  bench.supervision.blend_in = 0.05;
  bench.supervision.fallback = {{"target", Damp{}}};
  bench.add_switch("stand", "walk", testing::flag("go"));
  bench.add_switch("", "emergency_stop", testing::above("q", 1e6));
}

void run_ticks(testing::SupervisorBench& bench, Supervisor& supervisor) {
  for (int i = 0; i < 200; ++i) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double q = i % 50 == 49 ? 1e7 : 0.1 * i;
    if (i < 150) supervisor.set_sensor(0, std::array{i % 20 == 7 ? nan : q, 0.3}).value();
    (void)supervisor.set_flag(0, i % 7 == 3);
    if (i % 7 == 0) (void)supervisor.request(0);
    if (i % 50 == 5) supervisor.clear_emergency_stop();
    supervisor.update();
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
  EXPECT_EQ(allocations, 1);  // the counter works
  run_ticks(bench, controller);
  counting = false;
  EXPECT_EQ(allocations, 1);
  EXPECT_FALSE(controller.interventions().empty());
}

TEST_P(ControllerAllocationTest, ASupervisorAllocatesNothing) {
  testing::SupervisorBench bench;
  add_everything(bench, GetParam());
  Supervisor supervisor = bench.make();
  supervisor.start();
  allocations = 0;
  counting = true;
  run_ticks(bench, supervisor);
  counting = false;
  EXPECT_EQ(allocations, 0);
  for (const std::uint64_t count : supervisor.switch_counts()) EXPECT_GT(count, 0U);
}

// Lets any system call of this thread but write and exit end the process. Returns false if this
// system cannot do that.
bool forbid_system_calls() {
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Ticks in a child process, which a system call ends.
template <typename Bench>
void expect_no_system_call(Execution execution) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no thread in a child";
#endif
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    Bench bench;
    add_everything(bench, execution);
    auto loop = bench.make();
    loop.start();
    const char unable = forbid_system_calls() ? 'd' : 'u';
    run_ticks(bench, loop);
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

TEST_P(ControllerAllocationTest, UpdateCallsNoSystem) {
  expect_no_system_call<PolicyBench>(GetParam());
}

TEST_P(ControllerAllocationTest, ASupervisorCallsNoSystem) {
  expect_no_system_call<testing::SupervisorBench>(GetParam());
}

}  // namespace
}  // namespace leapp
