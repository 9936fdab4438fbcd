// The differences between two bundles: nodes, ports, semantics, wires, and weights by tensor.
//
//   const leapp::BundleDiff found = leapp::diff("before/walker.yaml", "after/walker.yaml");
//   if (!found.same()) std::cout << leapp::to_string(found);
//
// Plain values. No model is run. Not for real time: allocates, reads files, and throws the errors
// of read_bundle().
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Subject of a difference.
enum class DiffKind : std::uint8_t {
  kNode,       ///< a node, its backend or the operators of its model
  kPort,       ///< a port, its type or its shape
  kSemantics,  ///< semantics of a port: kind, element names, contract
  kWire,       ///< a wire, or a port of the whole pipeline
  kConfig,     ///< a key of the pipeline's configs
  kWeight,     ///< a tensor of a model, or an initial value
};

/// Returns "node", "port", "semantics", "wire", "config", "weight".
LEAPP_EXPORT std::string_view name_of(DiffKind kind) noexcept;

/// The element that differs most.
struct WorstElement {
  std::uint64_t index = 0;  ///< index in the whole tensor
  double before = 0;
  double after = 0;
};

/// One difference. An empty side means that the item is missing there.
struct Difference {
  DiffKind kind = DiffKind::kNode;
  std::string where;  ///< "policy", "policy/obs", "policy: actor.0.weight"
  std::string before;
  std::string after;
  std::optional<WorstElement> worst = {};  ///< for tensors with the same type and shape
};

struct BundleDiff {
  std::vector<Difference> differences;  ///< sorted by kind, then in the order of the second bundle
  std::size_t equal_weights = 0;        ///< number of equal tensors

  bool same() const noexcept { return differences.empty(); }
};

LEAPP_EXPORT BundleDiff diff(const std::filesystem::path& before,
                             const std::filesystem::path& after, const BundleOptions& options = {});

/// Returns one line of text for each difference.
LEAPP_EXPORT std::string to_string(const BundleDiff& diff);

/// Returns a JSON object: {"same": false, "equal_weights": 3, "differences": [..]}.
LEAPP_EXPORT std::string to_json(const BundleDiff& diff);

}  // namespace leapp
