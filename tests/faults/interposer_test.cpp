// Replaces operator new and system functions in this program. The runtime is linked into the
// program, so its calls come here. Calls of other libraries do not, except for pthread_create() and
// the calls of the C++ library.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

#include "faults.h"

namespace leapp::test {
namespace {

std::atomic<int> armed{-1};
std::atomic<std::size_t> countdown{0};
std::atomic<std::size_t> seen{0};
std::atomic<int> rename_code{EACCES};
std::atomic<bool> failed{false};
std::atomic<long> blocks{0};

bool fails(Fault fault) noexcept {
  if (armed.load(std::memory_order_relaxed) != static_cast<int>(fault)) return false;
  if (seen.fetch_add(1) != countdown.load()) return false;
  failed = true;
  return true;
}

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (fails(Fault::kAllocation)) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  blocks.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void arm(Fault fault, std::size_t index, int code) {
  rename_code = code;
  seen = 0;
  failed = false;
  countdown = index;
  armed = static_cast<int>(fault);
}

bool disarm() {
  armed = -1;
  return failed;
}

std::size_t calls_seen() {
  return seen;
}

long live_blocks() {
  return blocks;
}

}  // namespace leapp::test

using leapp::test::Fault;

void* operator new(std::size_t size) {
  return leapp::test::allocate(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size) {
  return leapp::test::allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return leapp::test::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return leapp::test::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return leapp::test::allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return leapp::test::allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept {
  leapp::test::release(memory);
}
void operator delete[](void* memory) noexcept {
  leapp::test::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  leapp::test::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  leapp::test::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  leapp::test::release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  leapp::test::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  leapp::test::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  leapp::test::release(memory);
}

// Visible to the C++ library, which opens, renames and links files for std::filesystem and streams.
#pragma GCC visibility push(default)
extern "C" {

int open(const char* path, int flags, ...) {
  static const auto next = leapp::test::real<int (*)(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (leapp::test::fails(Fault::kOpen)) {
    errno = EMFILE;
    return -1;
  }
  return next(path, flags, mode);
}

ssize_t read(int descriptor, void* to, size_t count) {
  static const auto next = leapp::test::real<ssize_t (*)(int, void*, size_t)>("read");
  if (leapp::test::fails(Fault::kRead)) {
    errno = EIO;
    return -1;
  }
  return next(descriptor, to, count);
}

ssize_t write(int descriptor, const void* from, size_t count) {
  static const auto next = leapp::test::real<ssize_t (*)(int, const void*, size_t)>("write");
  if (leapp::test::fails(Fault::kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return next(descriptor, from, count);
}

void* mmap(void* at, size_t size, int access, int flags, int descriptor, off_t offset) noexcept {
  static const auto next =
      leapp::test::real<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  if (leapp::test::fails(Fault::kMap)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return next(at, size, access, flags, descriptor, offset);
}

int fsync(int descriptor) {
  static const auto next = leapp::test::real<int (*)(int)>("fsync");
  if (leapp::test::fails(Fault::kSync)) {
    errno = EIO;
    return -1;
  }
  return next(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = leapp::test::real<int (*)(const char*, const char*)>("rename");
  if (leapp::test::fails(Fault::kRename)) {
    errno = leapp::test::rename_code;
    return -1;
  }
  return next(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned int flags) noexcept {
  static const auto next =
      leapp::test::real<int (*)(int, const char*, int, const char*, unsigned int)>("renameat2");
  if (leapp::test::fails(Fault::kRename)) {
    errno = leapp::test::rename_code;
    return -1;
  }
  return next(from_folder, from, to_folder, to, flags);
}

int link(const char* from, const char* to) noexcept {
  static const auto next = leapp::test::real<int (*)(const char*, const char*)>("link");
  if (leapp::test::fails(Fault::kLink)) {
    errno = EPERM;
    return -1;
  }
  return next(from, to);
}

int memfd_create(const char* name, unsigned int flags) noexcept {
  static const auto next = leapp::test::real<int (*)(const char*, unsigned int)>("memfd_create");
  if (leapp::test::fails(Fault::kMemoryFile)) {
    errno = EMFILE;
    return -1;
  }
  return next(name, flags);
}

void* dlopen(const char* path, int flags) noexcept {
  static const auto next = leapp::test::real<void* (*)(const char*, int)>("dlopen");
  // A path that does not exist, so that dlerror() returns a message.
  return next(leapp::test::fails(Fault::kLibrary) ? "/nowhere/at/all.so" : path, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) noexcept {
  static const auto next =
      leapp::test::real<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
          "pthread_create");
  if (leapp::test::fails(Fault::kThread)) return EAGAIN;
  return next(thread, attributes, work, argument);
}

}  // extern "C"
#pragma GCC visibility pop

namespace leapp::test {
namespace {

// Shows that the replacements are called: a sweep without calls would pass.
TEST(InterposerTest, CallsPassThroughHere) {
  arm(Fault::kAllocation, 0);
  EXPECT_THROW(delete new int(1), std::bad_alloc);
  EXPECT_TRUE(disarm());
  arm(Fault::kOpen, 1);
  const int first = ::open("/dev/null", O_RDONLY);
  EXPECT_GE(first, 0);
  EXPECT_EQ(::open("/dev/null", O_RDONLY), -1);
  EXPECT_EQ(errno, EMFILE);
  EXPECT_TRUE(disarm());
  ::close(first);
  arm(Fault::kWrite, 0);
  EXPECT_EQ(::write(1, "x", 1), -1);
  EXPECT_TRUE(disarm());
  arm(Fault::kRead, 0);
  char letter = 0;
  EXPECT_EQ(::read(0, &letter, 1), -1);
  EXPECT_TRUE(disarm());
  arm(Fault::kMap, 0);
  EXPECT_EQ(::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED);
  EXPECT_TRUE(disarm());
  arm(Fault::kSync, 0);
  EXPECT_EQ(::fsync(1), -1);
  EXPECT_TRUE(disarm());
  arm(Fault::kRename, 0, EBUSY);
  EXPECT_EQ(::rename("/nowhere/a", "/nowhere/b"), -1);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_TRUE(disarm());
  arm(Fault::kLink, 0);
  EXPECT_EQ(::link("/nowhere/a", "/nowhere/b"), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_TRUE(disarm());
  arm(Fault::kMemoryFile, 0);
  EXPECT_EQ(::memfd_create("x", 0), -1);
  EXPECT_TRUE(disarm());
  arm(Fault::kLibrary, 0);
  EXPECT_EQ(::dlopen(nullptr, RTLD_NOW), nullptr);
  EXPECT_TRUE(disarm());
  arm(Fault::kThread, 0);
  pthread_t thread{};
  EXPECT_EQ(pthread_create(
                &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr),
            EAGAIN);
  EXPECT_TRUE(disarm());
  // The C++ library calls them, too.
  arm(Fault::kLink, 0);
  std::error_code error;
  std::filesystem::create_hard_link("/nowhere/a", "/nowhere/b", error);
  EXPECT_EQ(error.value(), EPERM);
  EXPECT_TRUE(disarm());
  const long before = live_blocks();
  int* const block = new int(2);
  EXPECT_EQ(live_blocks(), before + 1);
  delete block;
  EXPECT_EQ(live_blocks(), before);
}

}  // namespace
}  // namespace leapp::test
