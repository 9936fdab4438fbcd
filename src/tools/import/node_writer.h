// Writes one node of an imported bundle: its ONNX graph operator by operator, and its ports.
//
//   NodeWriter writer("act", like);
//   const std::string action = writer.input({.name = "action", .shape = {1, 12}});
//   writer.output({.name = "target", .shape = {1, 12}}, writer.op("Mul", {action, scale}));
//   Part part = std::move(writer).take();
//
// Values are identified by strings, as in ONNX. All constants are float32 or int64.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "leapp/bundle.h"
#include "onnx/model.h"

namespace leapp::importing {

/// A node and its model, before they are written to a file.
struct Part {
  Model node;
  onnx::Model model;
};

class NodeWriter {
 public:
  /// Creates a model with the operator sets and the file format of `like`, so that they can be
  /// merged.
  NodeWriter(std::string name, const onnx::Model& like);

  /// Adds a port and returns its value. Throws LP823 if the node already has a port of that name.
  std::string input(Port port);
  void output(Port port, const std::string& value);

  std::string floats(const std::vector<double>& values, const Shape& shape);
  std::string ints(const std::vector<std::int64_t>& values);

  /// Adds one operator of ONNX's own domain with one result.
  std::string op(const std::string& type, std::vector<std::string> inputs,
                 std::vector<onnx::Attribute> attributes = {});
  /// Adds frequently used operators.
  std::string reshape(const std::string& value, const Shape& shape);
  std::string concat(const std::vector<std::string>& values, std::int64_t axis);
  /// Returns the elements of an axis at these indices; the value itself if these are all elements
  /// in order.
  std::string gather(const std::string& value, const std::vector<std::int64_t>& places,
                     std::int64_t axis, std::int64_t size);

  Part take() &&;

 private:
  std::string fresh();
  void take_name(const std::string& name);

  Part part_;
  std::unordered_set<std::string> ports_;
  int count_ = 0;
};

/// Returns an attribute that is an integer.
onnx::Attribute attribute(const std::string& name, std::int64_t value);

}  // namespace leapp::importing
