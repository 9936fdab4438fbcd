#include "session/ports.h"

#include "base/check.h"
#include "base/find.h"
#include "bundle/contract_rules.h"
#include "bundle/port_rules.h"
#include "interop/convert.h"
#include "session/placed_error.h"
#include "trace/dispatcher.h"

namespace leapp::session {
namespace {

// Returns why the tensor lacks the type, shape or dense elements of a port; empty if it is valid.
// Called for each port in each pass, so it creates text only for faults.
std::string find_dense_fault(const at::Tensor& tensor) {
  if (trace::is_wrapped(tensor)) {
    return "a value inside torch.vmap() or another transform of torch.func, which has no elements "
           "of its own. Annotate the inputs of the transform before the call, and its results "
           "after it.";
  }
  if (tensor.is_meta()) {
    return "on the meta device, where tensors have no elements. Create it on another device.";
  }
  if (tensor.layout() == at::kStrided || tensor.layout() == at::kMkldnn) return {};
  return c10::str(
      "a tensor of layout ", tensor.layout(),
      "; only dense tensors can be ports. Pass .to_dense(), or its values and indices separately.");
}

void require_contract(const Port& port) {
  if (port.semantics.extra.empty()) return;
  const auto fault = find_contract_fault(port);
  if (!fault) return;
  refuse(Code::kWrongValue, "port '" + port.name + "': " + fault->key + ": " + fault->what + " (" +
                                to_string(fault->code) + " of the bundle format).");
}

}  // namespace

NodePort describe(const TensorSemantics& entry) {
  if (const std::string fault = find_port_name_fault(entry.name); !fault.empty()) {
    refuse(Code::kBadName, "invalid name of a port: " + fault);
  }
  require(entry.ref.defined(), Code::kPayload, "port '" + entry.name + "' has no tensor");
  if (const std::string fault = find_extra_fault(entry.semantics.extra); !fault.empty()) {
    refuse(Code::kWrongValue, "extra keys of port '" + entry.name + "': " + fault);
  }
  if (const std::string fault = find_dense_fault(entry.ref); !fault.empty()) {
    refuse(Code::kNotDense, "port '" + entry.name + "' is " + fault);
  }
  NodePort port = {{entry.name, interop::to_dtype(entry.ref.scalar_type()), entry.ref.sizes().vec(),
                    entry.semantics}};
  require_contract(port);
  return port;
}

std::string describe(const NodePort& port) {
  return "'" + port.name + "' " + std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

NodePort& match_port(const Node& node, std::vector<NodePort>& ports, const NodePort& port,
                     const char* side, MessageQueue& messages, trace::FrameRef frame) {
  NodePort* known = find_in(ports, port.name, &NodePort::name);
  const bool found = known != nullptr;
  if (!found || known->dtype != port.dtype || known->shape != port.shape) {
    std::string text = std::string(side) + " " + describe(port) + ", but the first pass had ";
    text += found ? describe(*known) : "only";
    for (const NodePort& each : ports) text += found ? "" : " " + describe(each);
    refuse_new_signature(node, text + ". Use another node name for another signature.");
  }
  if (port.semantics != Semantics{} && port.semantics != known->semantics) {
    messages.warn(Code::kLaterPassIgnored, node.name,
                  std::string(side) + " '" + port.name + "' of node '" + node.name +
                      "' has a different kind, element names or extra keys than in the first pass. "
                      "The bundle uses those of the first pass",
                  frame);
  }
  return *known;
}

std::optional<std::int64_t> number_of(const at::Tensor& tensor) {
  // Other tensors may have no memory, as those of FakeTensorMode.
  const bool is_readable = tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
                           tensor.numel() == 1 && tensor.has_storage() &&
                           tensor.storage().data() != nullptr;
  if (!is_readable) return std::nullopt;
  switch (tensor.scalar_type()) {
    case at::kBool:
      return *tensor.const_data_ptr<bool>();
    case at::kInt:
      return *tensor.const_data_ptr<std::int32_t>();
    case at::kLong:
      return *tensor.const_data_ptr<std::int64_t>();
    default:
      return std::nullopt;
  }
}

std::vector<at::Tensor> tensors_of(const NamedTensors& entries) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(entries.size());
  for (const TensorSemantics& entry : entries) tensors.push_back(entry.ref);
  return tensors;
}

}  // namespace leapp::session
