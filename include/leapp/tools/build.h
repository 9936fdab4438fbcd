// Compiles a bundle's C++ nodes to machine code (export_with="cpp").
//
//   leapp::build_native("walker/walker.yaml");
//
// compiles them with the system's compiler into walker/walker.native.so, and records in
// walker.native.json the checksums of sources and weights, compiler, flags and target. A manager
// loads that library only if it matches these files and the caller allows machine code
// (BundleOptions::allow_native).
//
//   leapp::write_policy_source("walker/walker.yaml", "generated");
//
// writes sources instead, for a program that contains the policy: a class with the inputs and
// outputs of the whole tick, which needs no library, heap or files.
//
// Neither function runs the compiled code. Both wait for the disk and the compiler, so they are not
// for real time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

struct NativeOptions {
  /// A command or a path, for example a cross compiler. Empty: $CXX, c++, g++ or clang++.
  std::string compiler = {};
  /// Additional flags. On x86-64 without any -m flag, the library contains code for SSE2, AVX2 and
  /// AVX-512, and selects one at run time.
  std::vector<std::string> flags = {};
  std::filesystem::path folder = {};  ///< output directory; empty: the bundle's
  BundleOptions bundle = {};
};

/// Result of a build.
struct NativeBuild {
  std::filesystem::path library;
  std::filesystem::path record;
  std::string compiler;  ///< its version text
  std::string target;    ///< "x86_64-linux-gnu"
  std::vector<std::string> nodes;
};

/// Compiles all C++ nodes of a bundle into one library. Throws Error: kNothingToBuild if there are
/// none, kNoCompiler with the compiler's output. An earlier build is kept in that case.
LEAPP_EXPORT NativeBuild build_native(const std::filesystem::path& yaml,
                                      const NativeOptions& options = {});

/// Writes `<name>_policy.h`, `<name>_policy.cpp` and copies of the nodes' sources and weights into
/// the directory `folder`, which it creates. The header documents their use. Throws
/// Error(kNothingToBuild) unless every node is C++. Returns the header.
LEAPP_EXPORT std::filesystem::path write_policy_source(const std::filesystem::path& yaml,
                                                       const std::filesystem::path& folder,
                                                       const BundleOptions& options = {});

}  // namespace leapp
