// The sections of a bundle as Python dicts and lists, in the layout of its YAML.
#pragma once

#include <pybind11/pybind11.h>

#include "leapp/bundle.h"
#include "leapp/inference_manager.h"

namespace leapp::python {

/// Returns {node: {inputs, outputs, parameters}}.
pybind11::dict models_section(const Bundle& bundle);

/// Returns {data_flow, feedback_flow, inputs, outputs, ..}.
pybind11::dict pipeline_section(const Bundle& bundle);

/// Returns {"leapp config version": "1.3", ..}.
pybind11::dict system_section(const Bundle& bundle);

/// Returns the result of verification, as JSON and as text.
pybind11::tuple verify(const InferenceManager& manager);

}  // namespace leapp::python
