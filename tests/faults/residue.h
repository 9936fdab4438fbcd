// Resources that one run left in the process.
#pragma once

#include <cstddef>
#include <filesystem>

#include "faults.h"

namespace leapp::test {

struct Residue {
  std::size_t files = 0;
  std::size_t threads = 0;
  long blocks = 0;

  static Residue now() {
    const std::size_t files = entries_of("/proc/self/fd");
    const std::size_t threads = entries_of("/proc/self/task");
    return {files, threads, live_blocks()};
  }
  bool operator==(const Residue&) const = default;

 private:
  static std::size_t entries_of(const char* folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
  }
};

}  // namespace leapp::test
