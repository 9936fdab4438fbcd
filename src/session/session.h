// The one tracing session of the process: nodes, their passes, and the recorder behind them.
//
// What it leaves behind are records (session/record): nodes with their passes, which nothing
// changes once a pass is complete. What persists from tick to tick is inferred from them later.
//
// Everything is behind one mutex. While it is held nothing calls into Python or logs: messages are
// queued and handed out after it is released, because a log sink may wait for Python's lock.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/diagnostic.h"
#include "base/log.h"
#include "leapp/leapp.h"
#include "session/log_file.h"
#include "session/picks.h"
#include "session/record/node.h"
#include "session/tags.h"
#include "trace/capture.h"
#include "trace/dispatcher.h"
#include "trace/op_traits.h"
#include "trace/tape.h"

namespace leapp::session {

/// What is known of a pass under way.
struct OpenPass {
  struct BufferGroup {
    std::vector<DeclaredBuffer> buffers;
    std::vector<at::Tensor> tensors;                   ///< as they were declared
    std::function<std::vector<at::Tensor>()> current;  ///< empty: they are only written in place
  };

  bool open = false;
  bool recorded = false;  ///< operators are logged; else only inputs and outputs are kept
  std::thread::id thread;
  trace::FrameRef opened_at;
  std::int32_t first_call = 0;  ///< the tape's length when the pass began
  std::map<std::string, VarId> inputs;
  std::map<std::string, at::Tensor> input_values;  ///< copies
  std::map<std::string, trace::FrameRef> input_places;
  std::vector<DeclaredState> states;
  std::vector<BufferGroup> buffers;
  std::vector<Between> between;

  bool has_input_or_state(const std::string& name) const;
};

/// A node while its session is tracing.
struct LiveNode : Node {
  OpenPass pass;
  std::vector<at::Tensor> declared;  ///< what annotations of the first pass named, as it was given
};

class Session final : public trace::Observer {
 public:
  /// The process's session; lives for ever, so that a thread's observer never dangles.
  static Session& instance();

  void start(const StartOptions& options);
  /// Runs one small pass that leaves nothing behind, before anything is traced. The code and the
  /// tables it goes through are cold when a program starts tracing, and the user's first pass
  /// should not pay for that.
  void warm_up();
  void stop();
  bool active() const noexcept { return active_.load(std::memory_order_acquire); }
  bool any_open() const noexcept { return open_.load(std::memory_order_acquire) > 0; }

  // declarations.cpp, completion.cpp: the annotations.
  std::vector<at::Tensor> input_tensors(const std::string& node, const NamedTensors& tensors);
  std::vector<at::Tensor> output_tensors(const std::string& node, const NamedTensors& tensors,
                                         const OutputOptions& options);
  std::vector<at::Tensor> state_tensors(const std::string& node, const NamedTensors& tensors);
  std::vector<at::Tensor> update_state(const std::string& node, const NamedTensors& tensors);
  void module(const std::string& node, const NamedTensors& buffers,
              std::function<std::vector<at::Tensor>()> current);
  std::vector<at::Tensor> register_buffer(const std::string& node, const NamedTensors& buffers);
  void mirror_tags(const at::Tensor& source, const at::Tensor& target);
  /// Forgets the pass under way, if any, as after an exception in the user's code.
  void abandon(const std::string& node);
  /// Remembers traced functions under way, so that stop() inside one can be refused.
  void enter_function(const std::string& node);
  void leave_function(const std::string& node);

  // questions.cpp: what front ends ask and tell; see front_end.h.
  std::vector<std::string> open_nodes();
  int pass_of(const std::string& node);
  bool is_traced(const at::Tensor& tensor);
  bool may_vary(const at::Tensor& tensor);
  bool was_read(const at::Tensor& tensor);
  bool was_input(const at::Tensor& tensor);
  bool was_declared(const at::Tensor& tensor);
  std::vector<std::pair<at::Tensor, std::string>> raw_constants_of(const std::string& node);
  std::vector<at::Tensor> outside_of(const at::Tensor& tensor);
  std::string opened_at(const std::string& node);
  std::vector<const void*> code_in(const std::string& node);
  void note_escape(const at::Tensor& tensor, Code code, const std::string& what);
  void note_size(const at::Tensor& tensor);
  void note_made(const at::Tensor& tensor);

  // recorder.cpp: operators, and elements that a number chose.
  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override;
  at::Tensor pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                  const std::vector<at::Tensor>& numbers);
  void put_back(const at::Tensor& copy, const at::Tensor& of,
                const std::vector<at::Tensor>& numbers);
  /// Lets picks agree with the tensors they are of: before annotations look at any of them.
  void settle_picks();

  // For compile_graph(), which runs after stop() and on one thread.
  std::vector<const Node*> nodes() const;
  const StartOptions& options() const noexcept { return options_; }
  const std::string& graph_name() const noexcept { return graph_name_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }
  bool started_once() const noexcept { return started_once_; }
  void flush_log() { log_file_.flush(); }
  /// What was said since the session began. Not to be added to while the lock is held.
  Diagnostics& diagnostics() noexcept { return diagnostics_; }

 private:
  struct PendingCall;
  struct Lock;  // holds the mutex; hands out the queued messages after releasing it

  // A line that waits for the lock to be released; its place is turned into text then.
  struct Message {
    LogLevel level = LogLevel::kInfo;
    std::optional<Code> code;  // of a diagnostic; none: a remark for the log
    std::string node;
    std::string text;
    trace::FrameRef where;
  };
  void emit(const Message& message);
  void remark(std::string text);
  void warn(Code code, const std::string& node, std::string text, trace::FrameRef where);

  template <typename Work>
  auto locked(trace::FrameRef frame, Work&& work);

  LiveNode* find(const std::string& name);
  LiveNode& node_at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  LiveNode& open_node(const std::string& name, const char* call);
  LiveNode& enter_pass(const std::string& name);
  void begin_pass(LiveNode& node);
  void end_pass(LiveNode& node);
  void drop_pass(LiveNode& node);
  void check_thread(const LiveNode& node) const;
  void reset();

  // declarations.cpp, wiring.cpp
  std::vector<at::Tensor> add_inputs(const std::string& name, const NamedTensors& tensors,
                                     trace::FrameRef frame);
  at::Tensor add_input(LiveNode& node, const TensorSemantics& entry, trace::FrameRef frame);
  void drop_unfinished(const std::string& name, const NamedTensors& tensors, trace::FrameRef frame);
  std::vector<at::Tensor> add_states(const std::string& name, const NamedTensors& tensors,
                                     trace::FrameRef frame);
  void set_state(LiveNode& node, const TensorSemantics& entry);
  void add_buffers(const std::string& name, const NamedTensors& buffers,
                   std::function<std::vector<at::Tensor>()> current, const char* call);
  void check_reentry(const LiveNode& node, const std::vector<NodePort>& ports, const NodePort& port,
                     const char* side, trace::FrameRef frame);
  void connect(LiveNode& node, NodePort& port, const at::Tensor& tensor, trace::FrameRef frame);
  void refuse_open_value(const LiveNode& node, const NodePort& port, const at::Tensor& tensor,
                         trace::FrameRef frame);
  std::optional<PortId> source_of(LiveNode& node, NodePort& port, const at::Tensor& tensor,
                                  trace::FrameRef frame);
  void keep_route(LiveNode& node, const NodePort& port, const Tag& tag, trace::FrameRef frame);

  // completion.cpp: what happens when a pass ends.
  using Current = std::vector<std::vector<at::Tensor>>;  // the buffers' tensors, group by group
  void complete(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options,
                const Current& current, trace::FrameRef frame);
  void declare_outputs(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options);
  void check_outputs_again(const LiveNode& node, const NamedTensors& tensors,
                           const OutputOptions& options, trace::FrameRef frame);
  std::vector<std::size_t> independent_outputs(const LiveNode& node, const NamedTensors& tensors);
  bool depends_on_state(const LiveNode& node, VarId var) const;

  // pass_builder.cpp: what it leaves behind.
  Pass record(LiveNode& node, const NamedTensors& tensors, const OutputOptions& options,
              const Current& current);
  VarId output_variable(LiveNode& node, const TensorSemantics& entry);
  void record_memory(const LiveNode& node, Pass& pass);
  void record_outside(const LiveNode& node, Pass& pass);
  void warn_of_dynamic_ports(const LiveNode& node, const Pass& pass, trace::FrameRef frame);
  void note_writers(const LiveNode& node);
  const MemoryUse::Writer* writer_of(const at::Tensor& tensor) const;
  void tag_outputs(const LiveNode& node, const NamedTensors& tensors, const OutputOptions& options);

  // recorder.cpp, between_nodes.cpp
  void before_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                            const torch::jit::Stack& stack, trace::FrameRef frame,
                            PendingCall& pending);
  void note_arguments(const trace::OpTraits& traits, const c10::IValue* args, trace::FrameRef frame,
                      PendingCall& pending);
  VarId note_argument(const at::Tensor& tensor, trace::FrameRef frame, PendingCall& pending);
  void note_escapes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                    trace::FrameRef frame, const PendingCall& pending);
  void after_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                           const torch::jit::Stack& stack, trace::FrameRef frame,
                           PendingCall& pending);
  void record_draw(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                   const c10::IValue* results, trace::FrameRef frame, const PendingCall& pending);
  void append_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                   const c10::IValue* results, trace::FrameRef frame, const PendingCall& pending);
  bool was_drawn(VarId var) const;
  template <typename Next>
  void settle_picks(Next&& next);
  void run_outside_nodes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                         torch::jit::Stack* stack);
  void propagate_tags(const c10::OperatorHandle& op, const trace::OpTraits& traits,
                      const std::optional<Tag>& tag, const torch::jit::Stack& stack,
                      trace::FrameRef frame, const std::shared_ptr<const BetweenCall>& call);
  std::shared_ptr<const BetweenCall> keep_call(const trace::OpTraits& traits,
                                               const c10::OperatorHandle& op,
                                               const torch::jit::Stack& stack,
                                               trace::FrameRef frame);
  bool is_input(const at::Tensor& tensor) const;
  Tag with_shape_of(const at::Tensor& tensor, Tag tag, trace::FrameRef frame);

  std::atomic<bool> active_ = false;
  std::atomic<int> open_ = 0;       // passes under way
  std::atomic<int> recording_ = 0;  // those of them whose operators are logged
  std::mutex mutex_;
  StartOptions options_;
  std::string graph_name_;
  std::filesystem::path folder_;
  bool started_once_ = false;
  std::vector<std::string> functions_;  // nodes whose function is running, innermost last
  std::deque<LiveNode> nodes_;          // references stay valid
  trace::CaptureTable captures_;
  std::shared_ptr<trace::Tape> tape_;     // while a recorded pass is under way
  Picks picks_;                           // of tape_
  std::atomic<bool> picking_ = false;     // whether there are any; read without the lock
  std::atomic<bool> sizes_vary_ = false;  // some size was decided by traced values
  TagTable tags_;
  struct Written {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;  // keeps the address from being reused
    MemoryUse::Writer writer;
  };
  std::map<const c10::StorageImpl*, Written> writers_;  // who last left its state in which memory
  std::map<VarId, BakedValue> baked_;  // of tape_: worth a warning if they end up as constants
  struct LiveEscape {
    Escape escape;
    std::int32_t call;  // number of calls before it, on the tape
  };
  std::vector<LiveEscape> escapes_;  // of tape_
  struct Made {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;  // keeps the address from being reused
    std::int32_t after;                                 // as many recorded passes
  };
  std::map<const c10::StorageImpl*, Made> made_;  // memory that operators outside of nodes made
  std::int32_t passes_ = 0;                       // that were recorded
  LogFile log_file_;
  Diagnostics diagnostics_;
  std::vector<Message> messages_;
  std::set<std::tuple<Code, const void*, int, std::string>> queued_;  // warnings: each once
};

}  // namespace leapp::session
