#include <set>

#include "base/check.h"
#include "ir/graph.h"

namespace leapp::ir {
namespace {

void fail(const std::string& what, const Op* op) {
  std::string text = "internal error in LEAPP, please report it: the graph is broken: " + what;
  if (op != nullptr) text += " at " + op->signature->qualified_name();
  throw Error(Code::kInternal, text);
}

}  // namespace

void verify(const Graph& graph) {
  std::vector<bool> defined(graph.value_count(), false);
  const auto check_use = [&](ValueId id, const Op* op) {
    if (id < 0 || static_cast<std::size_t>(id) >= graph.value_count()) fail("no such value", op);
    if (!defined[static_cast<std::size_t>(id)] && !graph.is_constant(id)) {
      fail("value " + std::to_string(id) + " is read before it is defined", op);
    }
  };
  std::set<std::string> names;
  for (const ValueId id : graph.inputs()) {
    defined.at(static_cast<std::size_t>(id)) = true;
    if (!names.insert(graph.value(id).name).second) {
      fail("two inputs called '" + graph.value(id).name + "'", nullptr);
    }
  }
  for (const Op& op : graph.ops()) {
    if (op.arguments.size() != op.signature->parameters.size()) fail("wrong argument count", &op);
    if (op.results.size() != op.signature->returns.size()) fail("wrong result count", &op);
    for (const Argument& argument : op.arguments) {
      for_each_value(argument, [&](ValueId id) { check_use(id, &op); });
    }
    for (const Result& result : op.results) {
      if (!result.is_list && result.values.size() != 1) fail("a result without a value", &op);
      for (const ValueId id : result.values) {
        if (id == kNoValue) continue;
        if (defined[static_cast<std::size_t>(id)]) fail("a value defined twice", &op);
        defined[static_cast<std::size_t>(id)] = true;
      }
    }
  }
  names.clear();
  for (const Graph::Output& output : graph.outputs()) {
    check_use(output.value, nullptr);
    if (!names.insert(output.name).second)
      fail("two outputs called '" + output.name + "'", nullptr);
  }
}

}  // namespace leapp::ir
