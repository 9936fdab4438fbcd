#include "runtime_sections.h"

#include <pybind11/stl.h>

#include "python_values.h"

namespace leapp::python {
namespace {

namespace py = pybind11;
using python::to_python;

py::dict to_python(const Port& port) {
  py::dict dict;
  dict["name"] = port.name;
  dict["dtype"] = name_of(port.dtype);
  dict["shape"] = py::cast(port.shape);
  dict["type"] = "tensor";
  const Semantics& semantics = port.semantics;
  if (semantics.kind) dict["kind"] = *semantics.kind;
  if (semantics.element_names) {
    py::list names;
    for (const auto& entry : *semantics.element_names) {
      if (const auto* axis = std::get_if<TemporalAxis>(&entry)) {
        names.append("__temporal_axis__");
        dict["temporal_period_ms"] = axis->period_ms;
      } else if (const auto* list = std::get_if<std::vector<std::string>>(&entry)) {
        names.append(py::cast(*list));
      } else {
        names.append(py::none());
      }
    }
    dict["element_names"] = names;
  }
  for (const auto& [key, value] : semantics.extra) dict[py::str(key)] = to_python(value);
  return dict;
}

py::list to_python(const std::vector<Port>& ports) {
  py::list list;
  for (const Port& port : ports) list.append(to_python(port));
  return list;
}

py::dict to_python(const std::vector<Wire>& wires) {
  py::dict dict;
  for (const Wire& wire : wires) {
    py::list targets;
    for (const PortRef& target : wire.targets) targets.append(to_string(target));
    dict[py::str(to_string(wire.source))] = targets;
  }
  return dict;
}

py::dict to_python(const std::vector<NodePorts>& nodes) {
  py::dict dict;
  for (const NodePorts& node : nodes) dict[py::str(node.node)] = py::cast(node.ports);
  return dict;
}

py::dict to_python(const std::vector<NodeSchedule>& nodes) {
  py::dict section;
  for (const NodeSchedule& node : nodes) {
    py::dict entry;
    if (!node.ages.empty()) entry["age"] = py::cast(node.ages);
    if (!node.carry.empty()) entry["carry"] = py::cast(node.carry);
    if (node.every != 1) entry["every"] = node.every;
    if (!node.index.empty()) entry["index"] = node.index;
    if (!node.on_change.empty()) entry["on_change"] = py::cast(node.on_change);
    if (node.phase != 0) entry["phase"] = node.phase;
    if (node.repeat != 1) entry["repeat"] = node.repeat;
    if (node.when) entry["when"] = to_string(*node.when);
    section[py::str(node.node)] = entry;
  }
  return section;
}

}  // namespace

py::dict models_section(const Bundle& bundle) {
  py::dict models;
  for (const Model& model : bundle.models) {
    py::dict parameters;
    parameters["model_path"] = model.file ? py::cast(model.file->path) : py::none();
    if (model.file) {
      parameters["md5sum"] = model.file->md5sum;
      parameters["sha256sum"] = model.file->sha256sum;
    }
    parameters["backend"] = py::cast(model.backend);
    if (model.opset_version) parameters["opset_version"] = *model.opset_version;
    if (model.torch_version) parameters["torch_version"] = *model.torch_version;
    py::dict entry;
    entry["inputs"] = to_python(model.inputs);
    entry["outputs"] = to_python(model.outputs);
    entry["parameters"] = parameters;
    models[py::str(model.name)] = entry;
  }
  return models;
}

py::dict pipeline_section(const Bundle& bundle) {
  const Pipeline& pipeline = bundle.pipeline;
  py::dict section;
  if (!pipeline.configs.empty()) section["configs"] = to_python(Metadata{pipeline.configs});
  section["data_flow"] = to_python(pipeline.data_flow);
  section["feedback_flow"] = to_python(pipeline.feedback_flow);
  if (pipeline.golden) section["golden"] = pipeline.golden->path;
  if (pipeline.initial_values) section["initial_values"] = pipeline.initial_values->path;
  section["inputs"] = to_python(pipeline.inputs);
  if (pipeline.merged) section["merged"] = py::cast(*pipeline.merged);
  section["outputs"] = to_python(pipeline.outputs);
  if (!pipeline.schedule.empty()) section["schedule"] = to_python(pipeline.schedule);
  return section;
}

py::dict system_section(const Bundle& bundle) {
  const SystemInformation& info = bundle.system_information;
  const auto text = [](const std::optional<std::string>& value) { return value.value_or("None"); };
  py::dict section;
  section["cuda version"] = text(info.cuda_version);
  section["leapp config version"] = info.config_version;
  section["leapp version"] = text(info.leapp_version);
  section["os"] = text(info.os);
  section["python version"] = text(info.python_version);
  section["torch version"] = text(info.torch_version);
  return section;
}

py::tuple verify(const InferenceManager& manager) {
  const Verification result = [&] {
    const py::gil_scoped_release release;
    return manager.verify();
  }();
  return py::make_tuple(to_json(result), to_string(result));
}

}  // namespace leapp::python
