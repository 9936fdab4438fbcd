// Whether a model has a port as it is declared.
#pragma once

#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp::onnx {

/// Why the inputs or outputs that were found in a model have not the declared one, by its name,
/// type and shape: "is declared as int64, but the model has float32"; empty where they have it.
/// `model` stands for the model in the text.
LEAPP_EXPORT std::string find_port_fault(const Port& declared, const std::vector<ValueInfo>& found,
                                         const std::string& model);

}  // namespace leapp::onnx
