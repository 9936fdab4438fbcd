// The public annotations.
#include <c10/util/ScopeExit.h>

#include "leapp/leapp.h"
#include "session/completion.h"
#include "session/declarations.h"
#include "session/front_end.h"
#include "session/front_end_interface.h"
#include "session/index_views.h"
#include "session/passes.h"
#include "session/played_passes.h"
#include "session/ports.h"
#include "session/session_lock.h"
#include "session/shadowing.h"
#include "session/wiring.h"

namespace leapp::annotate {
namespace {

using session::Session;
using session::SessionData;
using session::Shadowing;

// Notifies a shadow run, if one is active, or prepares the session for an annotation. Returns
// whether the session traces: otherwise the annotation returns its tensors.
template <typename Notify>
bool begin_annotation(const std::source_location& where, Notify&& notify) {
  Session& session = Session::instance();
  Shadowing* const shadow = session.active() ? nullptr : session::shadowing.load();
  if (shadow == nullptr && !session.active()) return false;
  trace::set_cpp_location(where);
  if (shadow != nullptr) notify(*shadow);
  if (shadow == nullptr) session::synchronize_index_views(session);
  return shadow == nullptr;
}

// Runs an annotation that takes tensors and returns as many.
template <typename Work>
std::vector<at::Tensor> annotated(const std::source_location& where,
                                  void (Shadowing::*notify)(const std::string&,
                                                            const NamedTensors&),
                                  const std::string& node, const NamedTensors& tensors,
                                  Work&& work) {
  if (!begin_annotation(where, [&](Shadowing& shadow) { (shadow.*notify)(node, tensors); })) {
    return session::tensors_of(tensors);
  }
  const trace::FrameRef frame = trace::capture_source();
  return session::locked(Session::instance(), frame,
                         [&](SessionData& data) { return work(data, frame); });
}

// An open pass whose outputs are known but which is not completed yet.
struct EndingPass {
  std::vector<session::OpenPass::BufferQuery> queries;
  std::vector<session::Declared> buffers;
  NamedTensors independent;                   // outputs that may be state
  std::optional<session::PlayedPass> played;  // if these are results of an earlier pass
  bool notifies = false;                      // whether the front end receives a notification
  bool alone = false;                         // whether no other node is open
};

EndingPass begin_end(SessionData& data, const std::string& node, const NamedTensors& tensors,
                     const OutputOptions& options) {
  const session::SessionNode& open = data.nodes.require_open(node, "output_tensors");
  EndingPass ending{.queries = open.pass.buffer_queries,
                    .buffers = open.pass.record.buffers,
                    .independent = {},
                    .played = session::find_played(data, open, tensors, options),
                    .notifies = open.completed < 2,
                    .alone = data.nodes.open_names().size() == 1};
  if (Session::instance().front_end() != nullptr && !ending.played) {
    ending.independent = session::find_independent_outputs(data, open, tensors);
  }
  return ending;
}

// Runs Python, so the lock must not be held.
void ask_program(const std::string& node, EndingPass& ending) {
  for (const auto& [first, count, current] : ending.queries) {
    const std::vector<at::Tensor> now = current();
    for (std::size_t i = 0; i < count; ++i) ending.buffers.at(first + i).updated = now.at(i);
  }
  session::FrontEnd* const front_end = Session::instance().front_end();
  if (front_end != nullptr && ending.notifies) {
    for (const session::ForeignArray& array : front_end->pass_closing(node, ending.alone)) {
      front_end::note_foreign(array.tensor, array.written, array.left_at);
    }
  }
  std::vector<std::vector<at::Tensor>> sources;
  for (const TensorSemantics& output : ending.independent) {
    sources.push_back(front_end::outside_of(output.ref));
  }
  if (!sources.empty() && (front_end == nullptr || !front_end->keeps(sources))) {
    ending.independent.clear();
  }
}

// Returns "arg_0", "arg_1" and so on.
NamedTensors named(const char* prefix, int number, const std::vector<at::Tensor>& tensors) {
  NamedTensors all;
  for (const at::Tensor& tensor : tensors)
    all.push_back({prefix + std::to_string(number++), tensor});
  return all;
}

}  // namespace

std::vector<at::Tensor> input_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  int begun = 0;
  bool alone = false;
  const auto work = [&](SessionData& data, trace::FrameRef frame) {
    session::AddedInputs added = session::add_inputs(data, node, tensors, frame);
    begun = added.begun_pass;
    alone = data.nodes.open_names().size() == 1;
    trace::set_observer(&Session::instance().recorder());  // this thread may be new to the session
    return std::move(added.handles);
  };
  auto handles = annotated(where, &Shadowing::inputs, node, tensors, work);
  session::FrontEnd* const front_end = Session::instance().front_end();
  const bool notified = front_end != nullptr && (begun == 1 || begun == 2);
  if (notified) front_end->pass_opened(node, begun, alone);
  return handles;
}

std::vector<at::Tensor> output_tensors(const std::string& node, const NamedTensors& tensors,
                                       const OutputOptions& options, std::source_location where) {
  const auto notify = [&](Shadowing& shadow) {
    shadow.outputs(node, tensors, options.static_outputs);
  };
  if (!begin_annotation(where, notify)) return session::tensors_of(tensors);
  const trace::FrameRef frame = trace::capture_source();
  Session& session = Session::instance();
  EndingPass ending = session::locked(
      session, frame, [&](SessionData& data) { return begin_end(data, node, tensors, options); });
  ask_program(node, ending);
  session::locked(session, frame, [&](SessionData& data) {
    session::SessionNode& open = data.nodes.require_open(node, "output_tensors");
    for (const TensorSemantics& output : ending.independent) open.undecided.insert(output.name);
    open.pass.record.buffers = ending.buffers;
    if (ending.played) {
      session::complete_played(data, open, tensors, options, std::move(*ending.played), frame);
    } else {
      session::complete_pass(data, open, tensors, options, frame);
    }
  });
  return session::tensors_of(tensors);
}

std::vector<at::Tensor> state_tensors(const std::string& node, const NamedTensors& tensors,
                                      std::source_location where) {
  const auto work = [&](SessionData& data, trace::FrameRef frame) {
    auto& open = data.nodes.require_open(node, "state_tensors");
    return session::add_states(data, open, tensors, frame);
  };
  return annotated(where, &Shadowing::states, node, tensors, work);
}

std::vector<at::Tensor> update_state(const std::string& node, const NamedTensors& tensors,
                                     std::source_location where) {
  const auto work = [&](SessionData& data, trace::FrameRef) {
    auto& open = data.nodes.require_open(node, "update_state");
    for (const TensorSemantics& entry : tensors) session::set_state(data, open, entry);
    return session::tensors_of(tensors);
  };
  return annotated(where, &Shadowing::updates, node, tensors, work);
}

void module(const std::string& node, const NamedTensors& buffers,
            std::function<std::vector<at::Tensor>()> current, std::source_location where) {
  const auto work = [&](SessionData& data, trace::FrameRef) {
    return session::add_buffers(data, data.nodes.require_open(node, "module"), buffers, current);
  };
  annotated(where, &Shadowing::states, node, buffers, work);
}

std::vector<at::Tensor> register_buffer(const std::string& node, const NamedTensors& buffers,
                                        std::source_location where) {
  const auto work = [&](SessionData& data, trace::FrameRef) {
    auto& open = data.nodes.require_open(node, "register_buffer");
    return session::add_buffers(data, open, buffers, {});
  };
  return annotated(where, &Shadowing::states, node, buffers, work);
}

void mirror_leapp_tags(const at::Tensor& source, const at::Tensor& target,
                       std::source_location where) {
  if (!begin_annotation(where, [](Shadowing&) {})) return;
  session::locked(Session::instance(), trace::capture_source(),
                  [&](SessionData& data) { session::mirror_tags(data, source, target); });
}

void abandon(const std::string& node) noexcept {
  if (Shadowing* shadow = session::shadowing) shadow->abandon(node);
  const session::SessionLock data;
  if (session::SessionNode* open = data->nodes.find(node)) session::drop_pass(*data, *open);
}

std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> method(
    const std::string& node,
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> callable,
    const OutputOptions& options, std::source_location where) {
  return [=](const std::vector<at::Tensor>& arguments) -> std::vector<at::Tensor> {
    if (!is_active() && session::shadowing == nullptr) return callable(arguments);
    const std::vector<at::Tensor> traced = input_tensors(node, named("arg_", 0, arguments), where);
    std::vector<at::Tensor> results;
    try {
      front_end::enter_function(node);
      const auto left = c10::make_scope_exit([&] { front_end::leave_function(node); });
      results = callable(traced);
    } catch (...) {
      abandon(node);
      throw;
    }
    return output_tensors(node, named("output", 1, results), options, where);
  };
}

}  // namespace leapp::annotate
