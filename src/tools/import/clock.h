// A node that counts ticks from zero, for models with a time input.
#pragma once

#include "import/draft.h"
#include "import/node_writer.h"

namespace leapp::importing {

/// Adds the node `clock` to the draft and wires it to `reader`, an input of the node `node`: it
/// reads 0 in the first tick, 1 in the second.
void add_clock(Draft& draft, const std::string& node, const Port& reader, const onnx::Model& like);

}  // namespace leapp::importing
