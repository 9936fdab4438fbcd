// The one tracing session of the process: nodes, their passes, and the recorder behind them.
//
// Everything is behind one mutex. While it is held nothing calls into Python or logs: messages are
// queued and handed out after it is released, because a log sink may wait for Python's lock.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/log.h"
#include "leapp/leapp.h"
#include "session/log_file.h"
#include "session/node.h"
#include "session/picks.h"
#include "session/tags.h"
#include "trace/capture.h"
#include "trace/dispatcher.h"
#include "trace/op_traits.h"
#include "trace/tape.h"

namespace leapp::session {

/// A message that waits for the lock to be released; the place is turned into text then.
struct Message {
  LogLevel level = LogLevel::kInfo;
  std::string text;
  trace::FrameRef where;
};

class Session final : public trace::Observer {
 public:
  /// The process's session; lives for ever, so that a thread's observer never dangles.
  static Session& instance();

  void start(const StartOptions& options);
  /// Runs one small pass that leaves nothing behind, before anything is traced. The code and the
  /// tables it goes through are cold when a program starts tracing, and the user's first pass
  /// should not pay for that.
  void touch();
  void stop();
  bool active() const noexcept { return active_.load(std::memory_order_acquire); }
  bool any_open() const noexcept { return open_.load(std::memory_order_acquire) > 0; }
  std::vector<std::string> open_nodes();
  int pass_of(const std::string& node);

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

  /// Says that a traced value leaves through something the dispatcher does not see.
  void note_escape(const at::Tensor& tensor, const std::string& what);
  /// Says that the program reads how large a tensor is.
  void note_size(const at::Tensor& tensor);
  bool is_traced(const at::Tensor& tensor);
  bool may_vary(const at::Tensor& tensor);
  bool was_read(const at::Tensor& tensor);
  bool was_input(const at::Tensor& tensor);
  bool was_declared(const at::Tensor& tensor);
  /// Remembers what the program makes between nodes: a node that reads it was not given it.
  void note_made(const at::Tensor& tensor);
  std::vector<std::pair<at::Tensor, std::string>> raw_constants_of(const std::string& node);
  std::vector<at::Tensor> outside_of(const at::Tensor& tensor);
  std::string opened_at(const std::string& node);
  std::vector<const void*> code_in(const std::string& node);
  at::Tensor pick(const at::Tensor& of, const std::vector<std::int64_t>& places,
                  const std::vector<at::Tensor>& numbers);
  void put_back(const at::Tensor& copy, const at::Tensor& of,
                const std::vector<at::Tensor>& numbers);
  /// Lets picks agree with the tensors they are of: before annotations look at any of them.
  void settle_picks();

  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override;

  // For compile_graph(), which runs after stop() and on one thread.
  const std::deque<Node>& nodes() const noexcept { return nodes_; }
  std::deque<Node>& nodes() noexcept { return nodes_; }
  const StartOptions& options() const noexcept { return options_; }
  const std::string& graph_name() const noexcept { return graph_name_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }
  bool started_once() const noexcept { return started_once_; }
  /// Puts all that was said into log.txt.
  void flush_log() { log_file_.flush(); }
  /// Writes to log.txt, and to the process's sink.
  void say(LogLevel level, const std::string& text) { emit({level, text, {}}); }
  /// What was said since the session began. Not to be added to while the lock is held.
  Diagnostics& diagnostics() noexcept { return diagnostics_; }

 private:
  struct PendingCall;
  struct Lock;  // holds the mutex; hands out the queued messages after releasing it

  void emit(const Message& message);

  template <typename Work>
  auto locked(trace::FrameRef frame, Work&& work);

  Node* find(const std::string& name);
  Node& open_node(const std::string& name, const char* call);
  Node& enter_pass(const std::string& name);
  void begin_pass(Node& node);
  void end_pass(Node& node);
  std::vector<at::Tensor> add_inputs(const std::string& name, const NamedTensors& tensors,
                                     trace::FrameRef frame);
  at::Tensor add_input(Node& node, const TensorSemantics& entry, trace::FrameRef frame);
  std::vector<at::Tensor> add_states(const std::string& name, const NamedTensors& tensors,
                                     trace::FrameRef frame);
  std::vector<at::Tensor> set_states(const std::string& name, const NamedTensors& tensors);
  void add_buffers(const std::string& name, const NamedTensors& buffers,
                   std::function<std::vector<at::Tensor>()> current, const char* call);
  void connect(Node& node, NodePort& port, const at::Tensor& tensor, trace::FrameRef frame);
  void queue_gap(const std::string& here, const std::string& there, const Detour& detour,
                 std::size_t count);
  void check_thread(const Node& node) const;
  void check_reentry(const Node& node, const std::vector<NodePort>& ports, const NodePort& port,
                     const char* side, trace::FrameRef frame);

  // passes.cpp: what happens when a pass ends.
  using Current = std::vector<std::vector<at::Tensor>>;  // the buffers' tensors, group by group
  void complete(Node& node, const NamedTensors& tensors, const OutputOptions& options,
                const Current& current, trace::FrameRef frame);
  void declare_outputs(Node& node, const NamedTensors& tensors, const OutputOptions& options);
  void check_outputs_again(const Node& node, const NamedTensors& tensors,
                           const OutputOptions& options, trace::FrameRef frame);
  static void check_any_effect(const Node& node, const trace::Recording& recording,
                               const Sample& sample);
  static Sample unrecorded_sample(const Node& node, const NamedTensors& tensors,
                                  const OutputOptions& options);
  std::vector<std::size_t> foreign_outputs(const Node& node, const NamedTensors& tensors) const;
  std::vector<std::size_t> independent_outputs(const Node& node, const NamedTensors& tensors,
                                               const Current& current);
  trace::Recording record(Node& node, const NamedTensors& tensors, const OutputOptions& options,
                          const Current& current, Sample& sample);
  std::vector<VarId> output_variables(Node& node, const NamedTensors& tensors,
                                      std::vector<std::size_t>& untraced);
  bool depends_on_state(VarId var, const trace::Recording& recording) const;
  void find_states(const Node& node, const Current& current, trace::Recording& recording,
                   Sample& sample);
  void find_memory(const Node& node, const Current& current, const trace::Recording& recording,
                   Sample& sample);
  void note_writers(const Node& node);
  const MemoryUse::Writer* writer_of(const at::Tensor& tensor) const;
  void follow_pass(Node& node, const trace::Recording& again);
  struct Base;
  void compare_passes(const Base& base, const trace::Recording& again, const Alignment& aligned);
  void follow_carried(const Base& base, const trace::Recording& again, const Alignment& aligned);
  void warn_of_escapes(const Carried& carried, const trace::Recording& recording);
  void warn_of_varying_ports(const Node& node, const trace::Recording& recording,
                             trace::FrameRef frame);
  void warn_of_baked_values(const Node& node, const trace::Recording& recording);
  void tag_outputs(const Node& node, const NamedTensors& tensors, const OutputOptions& options);
  void reset();
  void queue(LogLevel level, std::string text, trace::FrameRef where = {});
  void queue_once(LogLevel level, std::string text, trace::FrameRef where);

  void before_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                            const torch::jit::Stack& stack, trace::FrameRef frame,
                            PendingCall& pending);
  void after_recorded_call(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                           const torch::jit::Stack& stack, trace::FrameRef frame,
                           PendingCall& pending);
  bool was_drawn(VarId var) const;
  template <typename Next>
  void settle_picks(Next&& next);
  VarId note_argument(const at::Tensor& tensor, trace::FrameRef frame, PendingCall& pending);
  void run_outside_nodes(const trace::OpTraits& traits, const c10::OperatorHandle& op,
                         torch::jit::Stack* stack);
  void propagate_tags(const c10::OperatorHandle& op, const trace::OpTraits& traits,
                      const std::optional<Tag>& tag, const torch::jit::Stack& stack,
                      trace::FrameRef frame);

  std::atomic<bool> active_ = false;
  std::atomic<int> open_ = 0;       // passes under way
  std::atomic<int> recording_ = 0;  // those of them whose operators are logged
  std::mutex mutex_;
  StartOptions options_;
  std::string graph_name_;
  std::filesystem::path folder_;
  bool started_once_ = false;
  std::vector<std::string> functions_;  // nodes whose function is running, innermost last
  std::deque<Node> nodes_;              // references stay valid
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
  struct Outside {
    std::optional<Tag> tag;  // it came from a node
    bool random = false;     // a random operator made it
    trace::FrameRef frame;   // where it was first used or made
    std::string op;
  };
  std::map<VarId, Outside> outsiders_;  // of tape_: worth a warning if they end up as constants
  std::vector<trace::Recording::Escape> escapes_;  // of tape_
  // Memory that operators outside of nodes made; weak, which keeps an address from being reused.
  std::map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> made_;
  LogFile log_file_;
  Diagnostics diagnostics_;
  std::vector<Message> messages_;
  std::set<std::pair<std::string, std::pair<const void*, int>>> said_;
};

}  // namespace leapp::session
