// Converters that users registered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "export/onnx/op_context.h"
#include "leapp/trace/onnx_converter.h"

namespace leapp::onnx_export {

/// Returns the user's converter for the operator, or null if there is none. It stays usable after
/// it is replaced or removed.
std::shared_ptr<const OnnxConverter> find_custom(const std::string& qualified_name);
std::vector<std::string> custom_names();

void run_custom(const OnnxConverter& converter, OpContext& context);

}  // namespace leapp::onnx_export
