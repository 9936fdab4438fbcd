#include "bundle/initial_values.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/log.h"
#include "base/utf8.h"
#include "leapp/error.h"

namespace leapp {
namespace {

// A dry run writes neither models nor initial values.
bool can_run(const Bundle& bundle) {
  return std::all_of(bundle.models.begin(), bundle.models.end(),
                     [](const Model& model) { return model.file.has_value(); });
}

// Readers of one output share its memory, so that it holds one value until its node has run: B40.
void check_held_values(const Bundle& bundle, const SafeTensors& values, const std::string& file) {
  if (bundle.pipeline.schedule.empty()) return;
  for (const Wire& wire : bundle.pipeline.data_flow) {
    const PortRef* first = nullptr;
    for (const PortRef& target : wire.targets) {
      const ConstTensorView* const value = values.find(to_string(target));
      if (value == nullptr) continue;
      if (first == nullptr) first = &target;
      const ConstTensorView& other = *values.find(to_string(*first));
      if (value->byte_size() == 0 ||
          std::memcmp(value->data, other.data, value->byte_size()) == 0) {
        continue;
      }
      throw Error(rule(40), file + ": [B40] " + quote_for_message(to_string(*first)) + " and " +
                                quote_for_message(to_string(target)) + " both read " +
                                quote_for_message(to_string(wire.source)) +
                                ", so their initial values must not differ");
    }
  }
}

}  // namespace

SafeTensors read_initial_values(const Bundle& bundle, const FileBytes* file,
                                const BundleOptions& options) {
  if (file == nullptr) {
    if (!bundle.pipeline.feedback_flow.empty() && can_run(bundle)) {
      warn(Code::kNoInitialValues, bundle.file.string() +
                                       ": the bundle has no pipeline.initial_values, so every "
                                       "feedback input starts as zeros");
    }
    return {};
  }
  const std::filesystem::path& path = file->path();
  const auto bytes = file->bytes();
  SafeTensors values =
      SafeTensors::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(),
                         options.max_tensor_bytes);
  std::unordered_map<std::string, const Port*> inputs;
  for (const Model& model : bundle.models) {
    for (const Port& port : model.inputs) inputs[model.name + "/" + port.name] = &port;
  }
  for (const auto& [name, tensor] : values.tensors()) {
    const auto fail = [&, &key = name](const std::string& what) {  // B20
      throw Error(rule(20), path.string() + ": [B20] the initial value " + quote_for_message(key) +
                                " " + what);
    };
    const auto found = inputs.find(name);
    if (found == inputs.end()) fail("belongs to no input of this bundle");
    const Port& port = *found->second;
    if (tensor.shape != port.shape) {
      fail("has shape " + to_string(tensor.shape) + ", the port has " + to_string(port.shape));
    }
    if (tensor.dtype != port.dtype) {
      fail("has dtype " + std::string(name_of(tensor.dtype)) + ", the port has " +
           std::string(name_of(port.dtype)));
    }
  }
  for (const Wire& wire : bundle.pipeline.feedback_flow) {
    for (const PortRef& target : wire.targets) {
      if (values.find(to_string(target)) != nullptr) continue;
      throw Error(rule(20), path.string() +
                                ": [B20] there is no initial value for the feedback input " +
                                quote_for_message(to_string(target)) +
                                "; the file was damaged or edited: export again");
    }
  }
  check_held_values(bundle, values, path.string());
  return values;
}

FileEntry write_initial_values(const std::filesystem::path& path,
                               const std::vector<std::pair<PortRef, ConstTensorView>>& values) {
  std::vector<NamedTensorView> tensors;
  tensors.reserve(values.size());
  for (const auto& [target, value] : values) tensors.push_back({to_string(target), value});
  write_safetensors(path, tensors);
  return entry_of(path);
}

}  // namespace leapp
