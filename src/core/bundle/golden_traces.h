// Golden traces: ticks of the traced program, which the bundle keeps so that other machines can
// repeat them.
//
// The file is a safetensors file whose tensors are called "tick/side/node/port"; rules B30 to B33
// of docs/reference/bundle.md define it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "bundle/safetensors.h"
#include "bundle/verified_files.h"
#include "leapp/bundle.h"
#include "leapp/comparison.h"
#include "leapp/visibility.h"

namespace leapp {

/// Content of a bundle's golden traces, checked against its ports. Owns the tensors; views are
/// valid as long as it lives. Movable; several threads may read it.
class LEAPP_EXPORT GoldenTraces {
 public:
  /// Throws Error(kValue): [B23], [B31] or [B32], with the file and the tensor or key at fault.
  GoldenTraces(const Bundle& bundle, const FileBytes& file, const BundleOptions& options = {});

  std::size_t ticks() const noexcept { return ticks_; }
  /// Returns the input, or null if the tick does not contain it.
  const ConstTensorView* input(std::size_t tick, const PortRef& port) const;
  const ConstTensorView* output(std::size_t tick, const PortRef& port) const;
  /// Returns the tolerance for an output.
  Tolerance tolerance(const PortRef& output) const;
  /// Returns why the values of a node are not compared; empty if they are.
  std::string not_compared(const std::string& node) const;

 private:
  SafeTensors tensors_;
  std::unordered_map<std::string, const ConstTensorView*> by_name_;
  std::size_t ticks_ = 0;
};

/// Returns the number of runs in a tick for which the file has values of an input: those of a
/// `repeat` for noise ports, otherwise 1. Values of several runs have a further dimension in front.
LEAPP_EXPORT std::int64_t golden_runs(const Bundle& bundle, const PortRef& input);

/// Returns the name of a tensor in the file.
LEAPP_EXPORT std::string golden_name(std::size_t tick, bool input, const PortRef& port);

/// Data about the ticks, in addition to their tensors.
struct GoldenNotes {
  std::size_t ticks = 0;
  Tolerance tolerance;
  std::map<std::string, Tolerance> outputs;         ///< "node/port" with its own tolerance
  std::map<std::string, std::string> not_compared;  ///< nodes, with the reason

  LEAPP_EXPORT SafeTensors::Metadata metadata() const;
};

}  // namespace leapp
