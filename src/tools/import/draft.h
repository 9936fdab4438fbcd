// A bundle under construction: nodes and wires, then files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/node_writer.h"
#include "leapp/bundle.h"
#include "leapp/tensor.h"

namespace leapp::importing {

class Draft {
 public:
  /// Adds a node; the order is that of the bundle.
  void add(Part part) { parts_.push_back(std::move(part)); }

  /// Connects the source to the target, in the same tick or from the previous tick.
  void wire(const PortRef& source, const PortRef& target);
  void feed_back(const PortRef& source, const PortRef& target, Tensor initial);
  /// Hides an output that is only state from controllers.
  void hide(const PortRef& output) { hidden_.insert(output); }

  Metadata::Map& configs() { return bundle_.pipeline.configs; }

  /// Writes the bundle to the directory `target`, completely or not at all. Inputs without a source
  /// become inputs of the pipeline, outputs without a wire its outputs.
  Bundle write(const std::filesystem::path& target);

 private:
  void write_files(const std::filesystem::path& folder, const std::string& name);

  std::vector<Part> parts_;
  std::set<PortRef> hidden_;
  std::vector<std::pair<PortRef, Tensor>> initial_;
  Bundle bundle_;
};

}  // namespace leapp::importing
