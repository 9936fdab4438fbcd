// The session's interface for front ends in other languages, in addition to leapp.h: they observe
// the program by other means than operators, and query and report facts here. Not installed; the
// bindings use it.
//
// All functions are thread-safe. Do not call them while holding a lock that Python's threads wait
// for, because source lines are read from Python's frames.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/code.h"
#include "leapp/trace/diagnostic.h"
#include "leapp/visibility.h"

namespace leapp::front_end {

/// Returns whether a pass of any node is open. Costs a memory load.
LEAPP_EXPORT bool any_open() noexcept;

/// Returns the names of the nodes with an open pass.
LEAPP_EXPORT std::vector<std::string> open_nodes();

/// Returns the number of passes of a node that were begun and not abandoned: 1 during and after the
/// first one. 0 if there is no such node.
LEAPP_EXPORT int pass_of(const std::string& node);

/// Marks the start or end of a function that is one pass of the node; stop() fails in between.
LEAPP_EXPORT void enter_function(const std::string& node);
LEAPP_EXPORT void leave_function(const std::string& node);

/// Returns whether the session follows this tensor or its memory: a value of an open node, or an
/// output of a node. False if no session is active.
LEAPP_EXPORT bool is_traced(const at::Tensor& tensor);

/// Returns whether the value may differ in another pass: the tensor is traced, or a node is open
/// and the tensor or its operands existed before. False for literals in the code.
LEAPP_EXPORT bool may_vary(const at::Tensor& tensor);

/// Returns the tensors from outside that the node's open pass has read and that no recorded
/// operator has written to in it. Empty if the pass is not recorded.
LEAPP_EXPORT std::vector<at::Tensor> unwritten_tensors(const std::string& node);

/// Returns the tensors from before the open pass that the value of this one depends on.
LEAPP_EXPORT std::vector<at::Tensor> outside_of(const at::Tensor& tensor);

/// Reports a tensor that the program created outside nodes without an operator.
LEAPP_EXPORT void note_made(const at::Tensor& tensor);

/// Reports that the program reads the size of a tensor: warns, with the user's line, if traced
/// values decided the size, because the number becomes a constant of the model.
LEAPP_EXPORT void note_size(const at::Tensor& tensor);

/// Reports a traced value that left the graph without an operator (a list of numbers, a NumPy
/// function): `text` becomes a warning with the caller's line, once per line. Does nothing for
/// tensors that are not traced.
LEAPP_EXPORT void note_escape(const at::Tensor& tensor, Code code, const std::string& text);

/// Reports that the open node uses an array that no recorded call computed, as this tensor.
LEAPP_EXPORT void note_foreign(const at::Tensor& tensor, bool written, const std::string& left_at);

/// Returns `source` with its dimensions `dims` indexed by `indices`, 0-d integer tensors that may
/// vary, so that the indices stay in the graph. The result is a copy that behaves like the view of
/// plain indexing until its node closes (trace/dynamic_index_views.h).
LEAPP_EXPORT at::Tensor index_view(const at::Tensor& source, const std::vector<std::int64_t>& dims,
                                   const std::vector<at::Tensor>& indices);
/// Notifies that the program is about to write such a copy back to its source, as in
/// `source[number] += 1`, so that LEAPP does not write it a second time.
LEAPP_EXPORT void begin_write_back(const at::Tensor& copy, const at::Tensor& source,
                                   const std::vector<at::Tensor>& indices);

/// Adds a message about the program, once. If it has no line, it gets the user's current line;
/// kDebug messages are only for log.txt.
LEAPP_EXPORT void diagnose(Diagnostic diagnostic);

}  // namespace leapp::front_end
