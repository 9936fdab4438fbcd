// A bundle as Python's own dicts and lists, laid out like its YAML.
#pragma once

#include <pybind11/pybind11.h>

#include "leapp/bundle.h"
#include "leapp/inference_manager.h"

namespace leapp::python {

/// {node: {inputs, outputs, parameters}}.
pybind11::dict models_section(const Bundle& bundle);

/// {data_flow, feedback_flow, inputs, outputs, ..}.
pybind11::dict pipeline_section(const Bundle& bundle);

/// {"leapp config version": "1.3", ..}.
pybind11::dict system_section(const Bundle& bundle);

/// What verifying finds, as JSON and as text.
pybind11::tuple verify(const InferenceManager& manager);

}  // namespace leapp::python
