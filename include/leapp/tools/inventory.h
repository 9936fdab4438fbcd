// The inventory of constants: values in a bundle's nodes that no input, state or wire provides.
//
// compile_graph() creates it from the exported passes. Parameters and buffers of modules are
// counted; every other tensor or array, and every number, has its own entry. The user acknowledges
// real constants once, in the annotation of the node (OutputOptions::constants). Every other entry
// is a question to the user: should this be an input?
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp {

/// The parameters and buffers of one module that a node exports.
struct ExportedWeights {
  std::string module = {};  ///< path of the outermost module, such as "env.net"; may be empty
  std::int64_t parameters = 0;
  std::int64_t buffers = 0;
  std::int64_t values = 0;  ///< number of elements of all of them

  bool operator==(const ExportedWeights&) const = default;
};

/// One tensor, array or number that a node exports as a constant.
struct ExportedConstant {
  enum class Kind { kTensor, kNumber };

  Kind kind = Kind::kTensor;
  std::string path = {};   ///< path in the program: "env.commands"; empty if unknown
  std::string where = {};  ///< the line that reads it: "policy.py:42 in forward"; may be empty
  std::string op = {};     ///< the operator that reads it: "aten::cat"; empty for an output
  DType dtype = DType::kFloat32;
  Shape shape = {};  ///< for a tensor; a number has none
  double min = 0;    ///< of all elements except NaN; 0 if there are none
  double max = 0;    ///< likewise
  bool has_nan = false;
  bool acknowledged = false;

  bool operator==(const ExportedConstant&) const = default;
};

/// All constants that one node exports.
struct NodeInventory {
  std::string node = {};
  std::vector<ExportedWeights> weights = {};
  std::vector<ExportedConstant> constants = {};

  bool operator==(const NodeInventory&) const = default;
};

/// Returns "net: 6 parameters, 152,076 values".
LEAPP_EXPORT std::string to_string(const ExportedWeights& weights);

/// Returns "env.commands [1, 3], all zeros, read by aten::cat at policy.py:42 in forward".
LEAPP_EXPORT std::string to_string(const ExportedConstant& constant);

/// Returns a JSON array with one object for each node.
LEAPP_EXPORT std::string to_json(const std::vector<NodeInventory>& inventory);

/// Reads the inventory from the diagnostics.json next to a bundle's YAML file. Returns nothing if
/// there is no such file, or if compile_graph() did not write it.
LEAPP_EXPORT std::vector<NodeInventory> read_inventory(const std::filesystem::path& yaml);

/// Returns whether an acknowledged name matches the constant: it is the constant's path, the end of
/// that path ("default_pose" or "self.default_pose" for "env.default_pose"), or the start of the
/// line that reads it ("policy.py:42"). An asterisk matches any characters.
LEAPP_EXPORT bool acknowledges(const std::string& name, const ExportedConstant& constant);

}  // namespace leapp
