// A check that a model has a declared port.
#pragma once

#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp::onnx {

/// Returns why the inputs or outputs of a model do not contain the declared one, by its name, type
/// and shape: "is declared as int64, but the model has float32"; empty if they do. `model` names
/// the model in the text.
LEAPP_EXPORT std::string find_port_fault(const Port& declared, const std::vector<ValueInfo>& found,
                                         const std::string& model);

}  // namespace leapp::onnx
