// Injected faults: one call of one kind fails, as on a system that lacks memory, space, descriptors
// or threads. interposer_test.cpp contains the replacements of the system's functions.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>

namespace leapp::test {

/// Calls that can fail: allocations of C++, and system calls.
enum class Fault {
  kAllocation,
  kOpen,
  kRead,
  kWrite,
  kMap,
  kSync,
  kRename,
  kLink,
  kMemoryFile,
  kLibrary,
  kThread,
};
inline constexpr std::array<const char*, 11> kFaultNames = {
    "allocation", "open", "read",         "write",  "mmap",          "fsync",
    "rename",     "link", "memfd_create", "dlopen", "pthread_create"};

/// Makes call number `index` (from 0) of that kind fail, in any thread, until disarm(). A rename
/// fails with `code`.
void arm(Fault fault, std::size_t index, int code = EACCES);
/// Returns whether a call failed since arm().
bool disarm();
/// Returns the number of calls of that kind since arm().
std::size_t calls_seen();

/// Returns the number of C++ allocations in use.
long live_blocks();

}  // namespace leapp::test
