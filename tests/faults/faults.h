// Faults on purpose: one call of one kind fails, as a system short of memory, space, descriptors or
// threads makes it. interposer_test.cpp holds the functions that stand in for the system's.
#pragma once

#include <array>
#include <cstddef>

namespace leapp::test {

/// What can fail: allocations of C++, and calls of the system.
enum class Fault {
  kAllocation,
  kOpen,
  kRead,
  kWrite,
  kMap,
  kSync,
  kRename,
  kMemoryFile,
  kLibrary,
  kThread,
};
inline constexpr std::array<const char*, 10> kFaultNames = {
    "allocation", "open",   "read",         "write",  "mmap",
    "fsync",      "rename", "memfd_create", "dlopen", "pthread_create"};

/// Lets call number `index` (from 0) of that kind fail, in whichever thread it is made, until
/// disarm().
void arm(Fault fault, std::size_t index);
/// Returns whether a call failed since arm().
bool disarm();
/// How many calls of that kind there were since arm().
std::size_t calls_seen();

/// Blocks of C++'s memory that are in use.
long live_blocks();

}  // namespace leapp::test
