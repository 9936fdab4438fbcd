// Session's half that begins and ends: itself, its nodes, their passes.
#include "session/session.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/div.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sub.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/join.h"
#include "bundle/contract_rules.h"
#include "bundle/port_rules.h"
#include "interop/convert.h"
#include "session/front_end.h"
#include "session/hooks.h"
#include "session/live.h"

namespace leapp::session {
namespace {

std::filesystem::path expand_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  const bool is_there = path == "~" || path.starts_with("~/");
  return home != nullptr && is_there ? home + path.substr(1) : path;
}

// Why a tensor has not a type, a shape and elements one after the other, as a port has; empty where
// it does. Asked of every port in every pass: text is made for a fault alone.
std::string find_dense_fault(const at::Tensor& tensor) {
  if (trace::is_wrapped(tensor)) {
    return "a value inside of torch.vmap() or another transform of torch.func, which has no "
           "elements of its own. Annotate outside of the transform: its inputs before, what it "
           "returns after.";
  }
  if (tensor.is_meta()) {
    return "on the meta device, where tensors have no elements. Make it on a device that has.";
  }
  if (tensor.layout() == at::kStrided || tensor.layout() == at::kMkldnn) return {};
  return c10::str(
      "a tensor of layout ", tensor.layout(),
      "; only dense tensors can be ports. Pass .to_dense(), or its values and indices apart.");
}

void require_contract(const Port& port) {
  if (port.semantics.extra.empty()) return;
  const auto fault = find_contract_fault(port);
  if (!fault) return;
  refuse(Code::kWrongValue, "port '" + port.name + "': " + fault->key + ": " + fault->what + " (" +
                                to_string(fault->code) + " of the bundle format).");
}

// Names that are fewer than the dimensions are those of the last ones. Where one dimension is named
// every reader takes that form; some take no null before it.
void drop_leading_axes(ElementNames& names) {
  const auto named = std::ranges::find_if_not(
      names, [](const auto& axis) { return std::holds_alternative<std::monostate>(axis); });
  if (named == names.end() - 1 && std::holds_alternative<std::vector<std::string>>(*named)) {
    names.erase(names.begin(), named);
  }
}

void check_may_stop(const Live& live) {
  if (!live.active()) {
    refuse(Code::kNoSession,
           "leapp.stop(): there is no active tracing session. Call leapp.start() first.");
  }
  if (!live.functions.empty()) {
    refuse(Code::kFunctionRunning,
           "leapp.stop() was called while the annotated function of node '" +
               live.functions.back() +
               "' is still executing. Call it after the function returned.");
  }
  for (const LiveNode& node : live.nodes) {
    if (!node.pass.open || node.complete()) continue;
    refuse(Code::kIncomplete,
           "node '" + node.name +
               "' was created but never completed, so leapp.stop() cannot end the session. Call "
               "annotate.output_tensors('" +
               node.name + "', ..) first, or annotate.abandon('" + node.name +
               "') to drop what was begun here.",
           node.pass.made.opened_at);
  }
}

}  // namespace

NodePort describe(const TensorSemantics& entry) {
  if (const std::string fault = find_port_name_fault(entry.name); !fault.empty()) {
    refuse(Code::kBadName, "no port can have that name: " + fault);
  }
  require(entry.ref.defined(), Code::kPayload, "port '" + entry.name + "' has no tensor");
  if (const std::string fault = find_extra_fault(entry.semantics.extra); !fault.empty()) {
    refuse(Code::kWrongValue, "extra keys of port '" + entry.name + "': " + fault);
  }
  if (const std::string fault = find_dense_fault(entry.ref); !fault.empty()) {
    refuse(Code::kNotDense, "port '" + entry.name + "' is " + fault);
  }
  NodePort port = {{entry.name, interop::to_dtype(entry.ref.scalar_type()), entry.ref.sizes().vec(),
                    entry.semantics}};
  require_contract(port);
  if (port.semantics.element_names) drop_leading_axes(*port.semantics.element_names);
  return port;
}

std::string describe(const NodePort& port) {
  return "'" + port.name + "' " + std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

std::vector<at::Tensor> refs_of(const NamedTensors& tensors) {
  std::vector<at::Tensor> refs;
  refs.reserve(tensors.size());
  for (const TensorSemantics& entry : tensors) refs.push_back(entry.ref);
  return refs;
}

Session& Session::instance() {
  return Live::instance();
}

std::vector<const Node*> Session::nodes() const {
  std::vector<const Node*> found;
  for (const LiveNode& node : Live::instance().nodes) found.push_back(&node);
  return found;
}

Live& Live::instance() {
  // Never destroyed: threads may still point to it at exit.
  static auto* session = [] {
    std::atexit([] { instance().flush_log(); });
    return new Live;
  }();
  return *session;
}

Lock::~Lock() {
  std::vector<std::function<void()>> lines;
  lines.swap(live_.lines);
  unseen_.reset();
  live_.mutex.unlock();
  for (const auto& say : lines) {
    try {
      say();
    } catch (...) {  // a log sink's own: whoever holds a lock is not the one to be told
    }
  }
}

void Live::remark(const std::string& text) {
  lines.push_back([text] { log(LogLevel::kInfo, text); });
}

void Live::warn(Code code, const std::string& node, const std::string& text,
                trace::FrameRef where) {
  if (!queued.emplace(code, where.code, where.position, text).second) return;
  lines.push_back([=, this] {
    const bool escapes = code == Code::kNumber || code == Code::kBranch;
    if (escapes && trace::only_shown(where)) return;
    diagnostics_.add({.code = code,
                      .level = LogLevel::kWarning,
                      .where = trace::resolve_source(where).to_string(),
                      .node = node,
                      .text = text});
  });
}

void Live::reset() {
  drop_tape();
  static_cast<Traced&>(*this) = {};
  open = 0;
  recording = 0;
  sizes_vary = false;
}

void Live::drop_tape() {
  picks.clear();
  picking = false;
  tape.reset();
  baked.clear();
}

void Live::start(const StartOptions& options) {
  require(trace::can_observe(), Code::kObserverTaken,
          "leapp.start(): another copy of LEAPP, or another tool that observes PyTorch's operators "
          "(TESTING_ONLY_GenericMode), is loaded in this process, and there can be one only");
  std::filesystem::path name = expand_home(options.name);
  if (!name.has_filename()) name = name.parent_path();
  const std::string last = name.filename().string();
  require(!last.empty() && last != "." && last != "..", Code::kBadName,
          "leapp.start() needs a name for the graph, found '" + options.name + "'");
  const std::string fault = find_node_name_fault(last);
  require(fault.empty(), Code::kBadName, "leapp.start(): no graph can have that name: " + fault);
  require(options.max_cached_io >= 0, Code::kWrongValue,
          "max_cached_io must not be negative, found " + std::to_string(options.max_cached_io));
  const std::filesystem::path folder =
      name.is_absolute() ? name : expand_home(options.save_path) / name;
  const auto require_possible = [](const std::error_code& failure, const std::string& what) {
    require(!failure, Code::kIo,
            what + ": " + failure.message() + ". Give leapp.start() a save_path you may write to.");
  };
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  require_possible(failure, "the folder " + folder.string() + " cannot be made");
  const trace::FrameRef frame = trace::capture_source();
  const bool was_active = active();
  const Lock lock;
  const std::filesystem::path log_path = folder / "log.txt";
  require_possible(log_file_.open(log_path), "the log " + log_path.string() + " cannot be written");
  reset();
  options_ = options;
  diagnostics_.clear();
  folder_ = folder;
  set_log_record([this](LogLevel level, std::string_view text) { log_file_.write(level, text); });
  active_ = true;
  trace::set_observer(this);
  if (was_active) {
    warn(Code::kSessionDropped, "",
         "leapp.start() was called while a session was active: what it had traced is dropped. Call "
         "leapp.stop() first.",
         frame);
  }
  remark("Tracing '" + graph_name() + "' into " + folder_.string());
}

void Live::stop() {
  const trace::FrameRef frame = trace::capture_source();
  locked(frame, [&](Live&) {
    check_may_stop(*this);
    for (LiveNode& node : nodes) {
      if (!node.pass.open) continue;
      // A loop that observes at the end of each step leaves an observation that nobody acts upon.
      remark("Pass " + std::to_string(node.completed + 1) + " of node '" + node.name +
             "' was begun and not completed; it counts for nothing");
      drop_pass(node);
    }
  });
  std::exception_ptr failure;  // of a front end; the session ends all the same
  try {
    if (hooks().stopping) hooks().stopping();
  } catch (...) {
    failure = std::current_exception();
  }
  locked(frame, [&](Live&) {
    active_ = false;
    open = 0;
    recording = 0;
    drop_tape();
    trace::set_observer(nullptr);
    for (LiveNode& node : nodes) {
      node.declared.clear();
      // Nobody announces writes from here on, and a program that goes on will write to its state.
      for (Pass& pass : node.passes) {
        for (MemoryUse& use : pass.memory) {
          if (use.after) use.after->freeze();
          use.let_go = made.count(trace::memory_of(use.found)) > 0 &&
                       pass.tape().variable(use.var).impl.expired();
        }
      }
    }
    made.clear();
    // Said here rather than as they were completed: handing out a line takes longer than an
    // operator.
    for (const LiveNode& node : nodes) {
      remark("Node '" + node.name + "': " + std::to_string(node.completed) +
             (node.completed == 1 ? " pass" : " passes"));
    }
    remark("Tracing stopped: " + std::to_string(nodes.size()) +
           (nodes.size() == 1 ? " node" : " nodes"));
  });
  log_file_.flush();
  if (failure) std::rethrow_exception(failure);
}

void Live::check_thread(const LiveNode& node) const {
  if (node.pass.thread == std::this_thread::get_id()) return;
  refuse(Code::kWrongThread, "node '" + node.name +
                                 "' was opened by another thread. A node must be traced from one "
                                 "thread, from its first input_tensors() to its output_tensors().");
}

LiveNode& Live::open_node(const std::string& name, const char* call) {
  LiveNode* node = find(name);
  if (node == nullptr || !node->pass.open) {
    std::vector<std::string> opened;
    for (const LiveNode& each : nodes) {
      if (each.pass.open) opened.push_back(each.name);
    }
    refuse(Code::kNodeNotOpen,
           std::string("annotate.") + call + "() for node '" + name +
               "', but annotate.input_tensors() was never called for it" +
               (node != nullptr ? " in this pass" : "") +
               ". Call annotate.input_tensors() first; open now: " + join_quoted(opened) + ".");
  }
  check_thread(*node);
  return *node;
}

void Live::begin_pass(LiveNode& node, trace::FrameRef frame) {
  node.pass = {.open = true, .thread = std::this_thread::get_id()};
  node.pass.inside = std::make_shared<const Tag>(Tag{node.id, "", {}, node.completed});
  node.pass.made.opened_at = frame;
  ++open;
  if (!node.traced || node.completed > options_.max_cached_io) return;
  node.pass.recorded = true;
  if (!tape) tape = std::make_shared<trace::Tape>(captures);
  node.pass.made.recording.tape = tape;
  node.pass.made.recording.first_call = tape->call_count();
  ++recording;
}

std::vector<at::Tensor> Live::end_pass(LiveNode& node) {
  std::vector<at::Tensor> computed;
  if (!node.pass.open) return computed;
  for (const at::Tensor& handle : node.pass.handles) taken_in.erase(handle.unsafeGetTensorImpl());
  const bool recorded = node.pass.recorded;
  const trace::FrameRef opened_at = node.pass.made.opened_at;
  node.pass = {};
  node.pass.made.opened_at = opened_at;  // of the last one
  --open;
  if (!recorded) return computed;
  // From here on its tensors are plain tensors again.
  for (VarId id = 0; id < static_cast<VarId>(tape->variable_count()); ++id) {
    trace::Variable& variable = tape->variable(id);
    if (variable.node != node.id) continue;
    variable.node = kNoId;
    if (variable.origin != trace::Variable::Origin::kResult) continue;
    if (auto object = variable.impl.lock()) computed.emplace_back(std::move(object));
  }
  for (trace::StoreId id = 0; id < static_cast<trace::StoreId>(tape->store_count()); ++id) {
    if (tape->store(id).node == node.id) tape->store(id).node = kNoId;
  }
  if (--recording == 0) drop_tape();
  return computed;
}

void Live::drop_pass(LiveNode& node) {
  end_pass(node);
  if (node.complete()) return;
  node.inputs.clear();
  node.outputs.clear();
  node.states.clear();
}

}  // namespace leapp::session

namespace leapp {

using session::Live;

// One small pass that leaves nothing behind, before anything is traced: the code and the tables it
// goes through are cold when a program starts tracing. It does what a policy does, so that
// PyTorch's code is warm as well.
void front_end::warm_up() {
  const c10::impl::ExcludeDispatchKeyGuard own_operators_only(c10::python_ks);
  const at::Tensor one(at::detail::empty_cpu({1, 1}, at::TensorOptions(at::kFloat)));
  at::Tensor x;
  {
    const session::Lock live;
    demand(live->nodes.empty(), "the recorder is warmed up after nodes were opened");
    x = live->add_inputs("start", {{"x", one}}, {}).front();
    live->lines.clear();
  }
  const at::Tensor observed = at::cat({at::div(at::sub(x, one), one), one});
  const at::Tensor y = at::clamp(at::linear(observed, one, one), -1, 1);
  const session::Lock live;
  const bool seen = live->owner_of(y) != trace::kNoId;  // not inside a transform of functorch, say
  if (seen) live->complete(live->nodes.front(), {{"y", y}}, {}, {});
  live->lines.clear();
  live->reset();
}

void start(const StartOptions& options) {
  require(session::shadowing == nullptr, Code::kNotShadowed,
          "leapp.start(): a shadow run is on, and annotations cannot serve both; end it first.");
  Live::instance().start(options);
  front_end::warm_up();
}
void stop() {
  Live::instance().stop();
}
bool is_active() noexcept {
  return Live::instance().active();
}
std::vector<Diagnostic> diagnostics() {
  return Live::instance().diagnostics().by_harm();
}

}  // namespace leapp
