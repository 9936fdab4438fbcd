// Runs the loop of a bundle of C++ nodes on the installed library, and checks that no thread of the
// process does what a real-time thread must not do. tests/python/test_real_time.py creates the
// bundle.
//
//   real_time_loop tick|synchronous|worker walker.yaml robot.yaml
//   real_time_loop allocate|lock|call      makes one such mistake, in another thread
// Functions of this program replace malloc(), similar functions and the locks of POSIX, and count
// their calls. Any system call other than the one that prints the counts ends the process (SIGSYS).
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "leapp/controller.h"

namespace {

std::atomic<bool> watching{false};
std::atomic<int> allocations{0};
std::atomic<int> locks{0};

void note(std::atomic<int>& count) {
  if (watching.load(std::memory_order_relaxed)) count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STAND_IN extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}

STAND_IN void* malloc(std::size_t size) noexcept {
  note(allocations);
  return __libc_malloc(size);
}
STAND_IN void* calloc(std::size_t count, std::size_t size) noexcept {
  note(allocations);
  return __libc_calloc(count, size);
}
STAND_IN void* realloc(void* memory, std::size_t size) noexcept {
  note(allocations);
  return __libc_realloc(memory, size);
}
STAND_IN void* memalign(std::size_t alignment, std::size_t size) noexcept {
  note(allocations);
  return __libc_memalign(alignment, size);
}
STAND_IN void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  note(allocations);
  return __libc_memalign(alignment, size);
}
STAND_IN int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  note(allocations);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
STAND_IN void free(void* memory) noexcept {
  if (memory != nullptr) note(allocations);
  __libc_free(memory);
}

#define STAND_IN_LOCK(name, type, exception)                                            \
  STAND_IN int name(type* object) exception {                                           \
    static const auto next = reinterpret_cast<int (*)(type*)>(dlsym(RTLD_NEXT, #name)); \
    note(locks);                                                                        \
    return next(object);                                                                \
  }
STAND_IN_LOCK(pthread_mutex_lock, pthread_mutex_t, noexcept)
STAND_IN_LOCK(pthread_mutex_trylock, pthread_mutex_t, noexcept)
STAND_IN_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, noexcept)
STAND_IN_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, noexcept)
STAND_IN_LOCK(pthread_cond_signal, pthread_cond_t, noexcept)
STAND_IN_LOCK(pthread_cond_broadcast, pthread_cond_t, noexcept)
STAND_IN_LOCK(sem_wait, sem_t, )
STAND_IN_LOCK(sem_post, sem_t, noexcept)
STAND_IN int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto next = reinterpret_cast<int (*)(pthread_cond_t*, pthread_mutex_t*)>(
      dlsym(RTLD_NEXT, "pthread_cond_wait"));
  note(locks);
  return next(condition, mutex);
}
STAND_IN int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(pthread_spinlock_t*)>(dlsym(RTLD_NEXT, "pthread_spin_lock"));
  note(locks);
  return next(lock);
}
#endif

namespace {

using namespace std::chrono_literals;

/// Forbids all threads of the process any system call except write() and exit_group(). Returns
/// false if this system cannot do that.
bool forbid_system_calls() {
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

bool begin_watch() {
  const bool forbidden = forbid_system_calls();
  watching = true;
  return forbidden;
}

/// Prints the counts and ends the process immediately, because ending threads would make system
/// calls.
[[noreturn]] void report(bool forbidden, int results) {
  watching = false;
  std::array<char, 200> line{};
  const int size = std::snprintf(
      line.data(), line.size(),
      "{\"allocations\": %d, \"locks\": %d, \"results\": %d, \"calls_forbidden\": %s}\n",
      allocations.load(), locks.load(), results, forbidden ? "true" : "false");
  const bool written = write(1, line.data(), static_cast<std::size_t>(size)) == size;
  _exit(written ? 0 : 1);
}

[[noreturn]] void make_mistake(std::string_view mistake) {
  std::atomic<int> phase{0};
  std::mutex mutex;
  std::thread other([&] {
    // the first allocation of a thread needs memory from the system
    ::operator delete(::operator new(1));
    phase = 1;
    while (phase != 2) {
    }
    if (mistake == "allocate") ::operator delete(::operator new(1));
    if (mistake == "lock") const std::lock_guard lock(mutex);
    if (mistake == "call") (void)getppid();
    phase = 3;
    while (true) {
    }
  });
  while (phase != 1) {
  }
  mutex.lock();  // the replacements have found the original functions
  mutex.unlock();
  const bool forbidden = begin_watch();
  phase = 2;
  while (phase != 3) {
  }
  report(forbidden, 0);
}

leapp::RuntimeOptions options() {
  leapp::RuntimeOptions runtime;
  runtime.bundle.allow_native = true;
  return runtime;
}

[[noreturn]] void run_manager(const std::string& bundle) {
  leapp::InferenceManager manager(bundle, options());
  const leapp::InputPort in = manager.input_port("observe/joint_pos");
  const leapp::OutputPort out = manager.output_port("policy/target");
  manager.prepare();
  const bool forbidden = begin_watch();
  int results = 0;
  std::array<float, 24> q{};
  for (int i = 0; i < 1000; ++i) {
    q[static_cast<std::size_t>(i) % q.size()] += 0.01F;
    const bool good = manager.set_input(in, q).ok() && manager.tick().ok();
    if (good && manager.output(out).data != nullptr) ++results;
  }
  report(forbidden, results);
}

[[noreturn]] void run_controller(const std::string& bundle, const std::string& robot, bool worker) {
  std::chrono::nanoseconds now{0};
  leapp::ControllerOptions all;
  all.runtime = options();
  all.blend_in = 100ms;
  all.interpolation = leapp::Interpolation::kLinear;
  if (worker) all.execution = leapp::Execution::kWorker;
  all.worker_poll = 0ns;  // a worker that sleeps makes system calls, which is not update()
  all.deadline = 1h;
  all.clock = [&now] { return now; };
  leapp::Controller controller(bundle, leapp::read_robot(robot), all);
  const std::size_t joints = controller.sensor("joint_pos");
  const std::size_t target = controller.actuator("joint_target");
  std::array<double, 8> q{};
  long ticks = 0;
  const auto tick = [&] {
    q[static_cast<std::size_t>(ticks++) % q.size()] += 1e-5;
    now += 10us;
    const bool set = controller.set_sensor(joints, q).ok();
    const bool ran = controller.update() == leapp::ControllerState::kRunning;
    return set && ran && !controller.actuator_values(target).empty();
  };
  controller.start();
  // A thread starts with system calls, so a worker is checked from its first result on.
  while (worker && !tick()) {
  }
  const bool forbidden = begin_watch();
  const int wanted = worker ? 200'000 : 1000;  // so that a slow worker also runs the policy
  int results = 0;
  while (results < wanted && ticks < 100'000'000) results += tick() ? 1 : 0;
  report(forbidden, results);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (count == 2) make_mistake(mode);
  if (count != 4) return 2;
  if (mode == "tick") run_manager(arguments[2]);
  run_controller(arguments[2], arguments[3], mode == "worker");
}
