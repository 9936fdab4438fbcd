// The ONNX translation that a TorchScript file may contain.
//
// compile_graph() adds it as one more record of the archive, after it compared it with the
// TorchScript model. torch.jit.load() ignores the record. A weight that the archive contains anyway
// is external data: its location is the name of the weight's record.
#pragma once

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Name of the record.
inline constexpr const char* kTranslationRecord = "extra/leapp_translation.onnx";

/// Returns a node with its ports as a translation calls them: in0, in1, .. and out0, out1, .. ONNX
/// has one namespace for both sides, TorchScript does not.
LEAPP_EXPORT Model with_translation_ports(const Model& node);

}  // namespace leapp
