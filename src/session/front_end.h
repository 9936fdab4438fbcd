// The session's interface for front ends in other languages, in addition to leapp.h: they observe
// the program by other means than operators, and query and report facts here. Not installed; the
// bindings use it.
//
// All of it is thread-safe. Nothing here may be called while a lock is held that Python's threads
// wait for: places are read from Python's frames.
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

/// Returns whether a pass of some node is under way. Costs a load.
LEAPP_EXPORT bool any_open() noexcept;

/// Returns the names of the nodes whose pass is under way.
LEAPP_EXPORT std::vector<std::string> open_nodes();

/// Returns how many passes of a node were begun and not abandoned: 1 in its first one and after it.
/// 0 if there is no such node.
LEAPP_EXPORT int pass_of(const std::string& node);

/// Starts or ends a function that is one pass of the node; stop() fails in between.
LEAPP_EXPORT void enter_function(const std::string& node);
LEAPP_EXPORT void leave_function(const std::string& node);

/// Returns whether the session follows this tensor, known by itself or through its memory: a value
/// of a node under way, or one that came out of a node. False when no session is active.
LEAPP_EXPORT bool is_traced(const at::Tensor& tensor);

/// Returns whether another pass may find another value here: the tensor is traced, or a node is
/// open and the program had it, or what it was computed from, before. False for what is written out
/// in the code.
LEAPP_EXPORT bool may_vary(const at::Tensor& tensor);

/// Returns the tensors that were there before the open pass and that the value of this one depends
/// on.
LEAPP_EXPORT std::vector<at::Tensor> outside_of(const at::Tensor& tensor);

/// Reports a tensor that the program made outside nodes without an operator.
LEAPP_EXPORT void note_made(const at::Tensor& tensor);

/// Reports that the program reads the size of a tensor: warns, with the user's line, if traced
/// values decided the size, because the number becomes part of the model.
LEAPP_EXPORT void note_size(const at::Tensor& tensor);

/// Reports a traced value that left the graph without an operator (a list of numbers, a NumPy
/// function): `text` becomes a warning with the caller's line, once per line. Does nothing for
/// tensors that are not traced.
LEAPP_EXPORT void note_escape(const at::Tensor& tensor, Code code, const std::string& text);

/// Returns `source` with its dimensions `dims` indexed by `indices`, 0-d integer tensors that may
/// vary, so that these stay in the graph. The result is a copy that behaves as the view that plain
/// indexing gives, until its node closes (trace/dynamic_index_views.h).
LEAPP_EXPORT at::Tensor index_view(const at::Tensor& source, const std::vector<std::int64_t>& dims,
                                   const std::vector<at::Tensor>& indices);
/// Notes that the program is about to write such a copy back to its place, as
/// `source[number] += 1` does, so that LEAPP does not write it a second time.
LEAPP_EXPORT void begin_write_back(const at::Tensor& copy, const at::Tensor& source,
                                   const std::vector<at::Tensor>& indices);

/// Says something of the program, once. Where it names no line it gets the user's present one;
/// kDebug is for log.txt alone.
LEAPP_EXPORT void diagnose(Diagnostic diagnostic);

}  // namespace leapp::front_end
