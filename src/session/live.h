// The session while it is tracing: data that the functions of this layer work on.
//
// All of it is behind one mutex: whoever touches it holds a Lock. While one is held nothing calls
// into Python or logs: messages are queued and handed out after it is released, because a log sink
// may wait for Python's lock.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <source_location>
#include <thread>
#include <tuple>

#include "base/find.h"
#include "leapp/error.h"
#include "session/session.h"
#include "session/shadowing.h"
#include "session/tags.h"
#include "trace/dispatcher.h"
#include "trace/op_traits.h"
#include "trace/picks.h"

namespace leapp::session {

/// What is known of a pass under way.
struct OpenPass {
  /// Some of the declared buffers, whose tensors are asked for when the pass ends.
  struct Asked {
    std::size_t first;  ///< of `count` in a row
    std::size_t count;
    std::function<std::vector<at::Tensor>()> current;
  };

  bool open = false;
  bool recorded = false;  ///< operators are logged; else only inputs and outputs are kept
  bool awaited = false;   ///< the front end is told when it ends
  TagRef inside = {};     ///< of what it computes and does not put out
  std::thread::id thread = {};
  /// So far. An input that was not given yet has no name; a buffer is the very tensor in `updated`.
  Pass made = {};
  std::map<std::string, trace::FrameRef> places = {};  ///< where inputs were given
  std::vector<Asked> asked = {};
  std::vector<at::Tensor> handles = {};  ///< those in Live::taken_in, kept so that they stay apart

  /// Whether an input or a state of that name was given.
  bool has(const std::string& name) const;
};

/// A node while its session is tracing.
struct LiveNode : Node {
  OpenPass pass;
  std::vector<at::Tensor> declared;  ///< what annotations of the first pass named, as it was given
};

/// A value for memory. The weak reference keeps the memory's address from being reused.
template <typename Value>
struct OfMemory {
  c10::weak_intrusive_ptr<c10::StorageImpl> storage;
  Value value;
};
template <typename Value>
using ByMemory = ska::flat_hash_map<const c10::StorageImpl*, OfMemory<Value>>;

template <typename Value>
void set_memory(ByMemory<Value>& map, const c10::Storage& storage, Value value) {
  map.insert_or_assign(storage.unsafeGetStorageImpl(),
                       OfMemory<Value>{storage.getWeakStorageImpl(), value});
}

/// How memory was made outside of nodes.
struct Made {
  std::int32_t passes = 0;  ///< that had been recorded
  /// The memory that it was copied from, perhaps by way of others.
  std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> copy_of = {};
};

/// One call of an operator: before it ran the stack ends with its arguments, then with its results.
struct SeenCall {
  const trace::OpTraits& traits;
  const c10::OperatorHandle& op;  ///< as it is noted
  const torch::jit::Stack& stack;
  trace::FrameRef frame = {};

  std::span<const c10::IValue> arguments() const {
    return std::span(stack).last(traits.writes.size());
  }
  std::span<const c10::IValue> results() const {
    return std::span(stack).last(op.schema().returns().size());
  }
  Detour detour() const { return {op.schema().name(), frame}; }
};

/// What was traced since the session began.
struct Traced {
  /// Makes room for what a small pipeline needs, so that its first pass does not.
  Traced() {
    constexpr std::size_t kTensors = 64;
    taken_in.reserve(kTensors);
    writers.reserve(kTensors);
    made.reserve(kTensors);
  }

  std::vector<std::string> functions;  ///< nodes whose function is running, innermost last
  std::deque<LiveNode> nodes;          ///< references stay valid
  trace::CaptureTable captures;
  TagTable tags;
  /// What open nodes took in from others, of the passes that are not recorded.
  ska::flat_hash_map<const c10::TensorImpl*, TagRef> taken_in;
  /// Branches outside of nodes that outputs of a node decided: said once some node takes in what
  /// that one put out. A program may well choose by what it does with its last outputs.
  std::multimap<NodeId, Detour> branches;
  ByMemory<MemoryUse::Writer> writers;  ///< who last left its state in which memory
  ByMemory<Made> made;                  ///< what was made outside of nodes
  std::int32_t passes = 0;              ///< that were recorded
  std::set<std::tuple<Code, const void*, int, std::string>> queued;  ///< warnings: each once
};

struct Live final : Session, trace::Observer, Traced {
  using Traced::nodes;  // and not what those see of them who come after
  static Live& instance();

  // session.cpp: its life, its nodes and their passes.
  void start(const StartOptions& options);
  void stop();
  void reset();
  LiveNode* find(const std::string& name) { return find_in(nodes, name, &LiveNode::name); }
  LiveNode& at(NodeId id) { return nodes[static_cast<std::size_t>(id)]; }
  LiveNode& open_node(const std::string& name, const char* call);
  void check_thread(const LiveNode& node) const;
  void begin_pass(LiveNode& node, trace::FrameRef frame);
  /// Returns what it computed and the program still holds, if it was recorded.
  std::vector<at::Tensor> end_pass(LiveNode& node);
  /// Forgets the pass under way, if any, as after an exception in the user's code.
  void drop_pass(LiveNode& node);
  void drop_tape();

  // declarations.cpp, wiring.cpp, completion.cpp: what annotations do.
  std::vector<at::Tensor> add_inputs(const std::string& name, const NamedTensors& tensors,
                                     trace::FrameRef frame);
  NodePort& check_reentry(const LiveNode& node, std::vector<NodePort>& ports, const NodePort& port,
                          const char* side, trace::FrameRef frame);
  void connect(LiveNode& node, NodePort& port, const at::Tensor& tensor, trace::FrameRef frame);
  void complete(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options,
                trace::FrameRef frame);
  /// Writes down what a pass did. pass_builder.cpp
  Pass record(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options);
  /// Whether a value depends on memory from outside that the pass wrote to: a clock, say.
  bool depends_on_state(const LiveNode& node, VarId var) const;

  // recorder.cpp, between_nodes.cpp: operators.
  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override;
  /// Lets picks agree with the tensors they are of: before an operator touches this memory, or
  /// (nullptr) before annotations look at any of them.
  void settle_picks(const std::vector<const c10::StorageImpl*>* touched = nullptr);
  /// The call, where it and all that lead to it can be repeated.
  std::shared_ptr<const BetweenCall> keep_call(const SeenCall& call) const;
  /// Lets the results of a call outside of nodes have the tag of an argument.
  void hand_on(const SeenCall& call, const TagRef& tag,
               const std::shared_ptr<const BetweenCall>& kept);
  TagRef with_shape_of(const at::Tensor& tensor, const TagRef& tag, trace::FrameRef frame) const;
  /// How what has the tag came to an input.
  Between between(const std::string& input, const Tag& tag, trace::FrameRef frame) const;

  // What is known of a tensor.
  /// Whether there is a tape, and it can be looked for there.
  bool may_be_known(const at::Tensor& tensor) const {
    return tape && tensor.defined() && !trace::is_wrapped(tensor);
  }
  /// Its variable, if there is a tape and it is known there.
  std::optional<VarId> variable_of(const at::Tensor& tensor) const;
  /// The open node that it is a value of, or kNoId.
  NodeId owner_of(const at::Tensor& tensor) const;
  const MemoryUse::Writer* writer_of(const at::Tensor& tensor) const;
  /// Whether a node took it in: what the world gives is no constant.
  bool is_input(const at::Tensor& tensor) const;
  /// Where it comes from as an operator sees it: what a node took in is inside that node, whoever
  /// put it out.
  TagRef tag_of(const at::Tensor& tensor) const;
  /// The program made it outside of nodes, perhaps as a copy.
  void note_made(const at::Tensor& tensor, const at::Tensor& copied = {});
  /// It became a number or a choice of branch.
  void note_escape(VarId var, NodeId owner, trace::FrameRef frame, Code code,
                   const std::string& text);

  // What is said once the lock is released: the place of a warning is turned into text then.
  void remark(const std::string& text);
  /// Once for each place and text.
  void warn(Code code, const std::string& node, const std::string& text, trace::FrameRef where);

  std::mutex mutex;
  std::atomic<int> open = 0;                 ///< passes under way
  std::atomic<int> recording = 0;            ///< those of them whose operators are logged
  std::shared_ptr<trace::Tape> tape;         ///< while a recorded pass is under way
  trace::Picks picks;                        ///< of `tape`, as are the following
  std::atomic<bool> picking = false;         ///< whether there are any; read without the lock
  std::map<VarId, BakedValue> baked;         ///< worth a warning if they end up as constants
  std::atomic<bool> sizes_vary = false;      ///< some size was decided by traced values
  std::vector<std::function<void()>> lines;  ///< what is said once the lock is released
};

/// The session with its mutex held, and with our own operators unseen: one that were seen would
/// wait for the mutex. Says the queued lines after releasing it; what a log sink throws is lost.
class Lock {
 public:
  Lock() { live_.mutex.lock(); }
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Live& operator*() const noexcept { return live_; }
  Live* operator->() const noexcept { return &live_; }

 private:
  Live& live_ = Live::instance();
  std::optional<trace::Unobserved> unseen_{std::in_place};
};

/// An error found while the lock is held. Turning its place into text may need Python's lock, so
/// that waits until ours is released: see locked().
struct PlacedError {
  Code code = Code::kUsage;
  std::string text;
  trace::FrameRef where = {};
};

[[noreturn]] inline void refuse(Code code, std::string text, trace::FrameRef where = {}) {
  throw PlacedError{code, std::move(text), where};
}
[[noreturn]] inline void refuse_new_signature(const Node& node, const std::string& what) {
  refuse(Code::kNewSignature, "Reentering " + node.name + " with new i/o: " + what);
}

/// Runs `work` under the lock and turns a PlacedError into an Error that begins with the user's
/// line, which is `frame` where the error has none.
template <typename Work>
auto locked(trace::FrameRef frame, Work&& work) {
  try {
    const Lock live;
    return work(*live);
  } catch (const PlacedError& error) {
    const bool has_place = error.where.code != nullptr;
    throw Error(error.code, trace::line_prefix(has_place ? error.where : frame) + error.text);
  }
}

/// What every annotation begins with: a shadow run is told of it, or the session is ready for it.
/// Returns whether it is; else the tensors go back as they came.
template <typename Tell>
bool is_traced_here(const std::source_location& where, Tell&& tell) {
  Live& live = Live::instance();
  Shadowing* const shadow = live.active() ? nullptr : shadowing.load();
  if (shadow == nullptr && !live.active()) return false;
  trace::set_cpp_location(where);
  if (shadow != nullptr) tell(*shadow);
  if (shadow == nullptr) live.settle_picks();
  return shadow == nullptr;
}

/// The tensors of a payload, in order.
std::vector<at::Tensor> refs_of(const NamedTensors& tensors);

/// The port that an entry of a payload makes. Throws PlacedError for what no port can be.
NodePort describe(const TensorSemantics& entry);

/// "'h' float32 [1, 4]".
std::string describe(const NodePort& port);

}  // namespace leapp::session
