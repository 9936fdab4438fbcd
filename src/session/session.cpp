#include "session/session.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mul.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/check.h"
#include "bundle/contract_rules.h"
#include "bundle/port_rules.h"
#include "interop/convert.h"
#include "session/hooks.h"
#include "session/session_internal.h"

namespace leapp::session {
namespace {

std::filesystem::path expand_home(const std::string& path) {
  if (path.empty() || path.front() != '~') return path;
  const char* home = std::getenv("HOME");
  if (home == nullptr || (path.size() > 1 && path[1] != '/')) return path;
  std::string expanded = home;
  return expanded.append(path, 1);
}

// A port has a type and a shape, and elements one after the other.
void require_dense(const TensorSemantics& entry) {
  if (trace::is_wrapped(entry.ref) || entry.ref.is_meta()) {
    throw PlacedError{Code::kNotDense,
                      "port '" + entry.name +
                          (entry.ref.is_meta()
                               ? "' is on the meta device, where tensors have no elements. Make it "
                                 "on a device that has."
                               : "' is a value inside of torch.vmap() or another transform of "
                                 "torch.func, which has no elements of its own. Annotate outside "
                                 "of the transform: its inputs before, what it returns after.")};
  }
  if (entry.ref.layout() == at::kStrided || entry.ref.layout() == at::kMkldnn) return;
  std::ostringstream layout;
  layout << entry.ref.layout();
  throw PlacedError{Code::kNotDense,
                    "port '" + entry.name + "' is a tensor of layout " + layout.str() +
                        "; only dense tensors can be ports. Pass .to_dense(), or its values and "
                        "indices apart."};
}

void require_contract(const NodePort& port) {
  if (port.semantics.extra.empty()) return;
  const auto fault = find_contract_fault({port.name, port.dtype, port.shape, port.semantics});
  if (!fault) return;
  throw PlacedError{Code::kWrongValue, "port '" + port.name + "': " + fault->key + ": " +
                                           fault->what + " (" + to_string(fault->code) +
                                           " of the bundle format)."};
}

// Names that are fewer than the dimensions are those of the last ones. Where one dimension is named
// every reader takes that form; some take no null before it.
void drop_leading_axes(ElementNames& names) {
  const auto named = std::find_if(names.begin(), names.end(), [](const auto& axis) {
    return !std::holds_alternative<std::monostate>(axis);
  });
  if (named == names.end() - 1 && std::holds_alternative<std::vector<std::string>>(*named)) {
    names.erase(names.begin(), named);
  }
}

std::string left_open_text(const LiveNode& node) {
  return (node.complete() ? "pass " + std::to_string(node.completed + 1) + " of node '" +
                                node.name + "' was never completed"
                          : "node '" + node.name + "' was created but never completed") +
         ", so leapp.stop() cannot end the session. Call annotate.output_tensors('" + node.name +
         "', ..) first, or annotate.abandon('" + node.name + "') to drop what was begun here.";
}

}  // namespace

NodePort describe(const TensorSemantics& entry) {
  if (std::string fault = find_port_name_fault(entry.name); !fault.empty()) {
    throw PlacedError{Code::kBadName, "no port can have that name: " + std::move(fault)};
  }
  require(entry.ref.defined(), Code::kPayload, "port '" + entry.name + "' has no tensor");
  if (std::string fault = find_extra_fault(entry.semantics.extra); !fault.empty()) {
    throw PlacedError{Code::kWrongValue,
                      "extra keys of port '" + entry.name + "': " + std::move(fault)};
  }
  require_dense(entry);
  NodePort port;
  port.name = entry.name;
  port.semantics = entry.semantics;
  port.dtype = interop::to_dtype(entry.ref.scalar_type());
  port.shape = entry.ref.sizes().vec();
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
  // Never destroyed: threads may still point to it at exit.
  static auto* session = [] {
    std::atexit([] { instance().flush_log(); });
    return new Session;
  }();
  return *session;
}

void Session::emit(const Message& message) {
  if (!message.code) {
    log(message.level, message.text);
    return;
  }
  const bool escapes = message.code == Code::kNumber || message.code == Code::kBranch;
  if (escapes && trace::only_shown(message.where)) return;
  diagnostics_.add({.code = *message.code,
                    .level = message.level,
                    .where = trace::resolve_source(message.where).to_string(),
                    .node = message.node,
                    .text = message.text});
}

void Session::remark(std::string text) {
  messages_.push_back({LogLevel::kInfo, std::nullopt, {}, std::move(text), {}});
}

void Session::warn(Code code, const std::string& node, std::string text, trace::FrameRef where) {
  if (!queued_.emplace(code, where.code, where.position, text).second) return;
  messages_.push_back({LogLevel::kWarning, code, node, std::move(text), where});
}

void Session::reset() {
  nodes_.clear();
  captures_.clear();
  tape_.reset();
  tags_.clear();
  writers_.clear();
  baked_.clear();
  escapes_.clear();
  picks_.clear();
  picking_ = false;
  made_.clear();
  queued_.clear();
  open_ = 0;
  recording_ = 0;
  functions_.clear();
  sizes_vary_ = false;
}

void Session::start(const StartOptions& options) {
  require(trace::can_observe(), Code::kObserverTaken,
          "leapp.start(): another copy of LEAPP, or another tool that observes PyTorch's operators "
          "(TESTING_ONLY_GenericMode), is loaded in this process, and there can be one only");
  const std::filesystem::path name = expand_home(options.name);
  const std::string last =
      name.has_filename() ? name.filename().string() : name.parent_path().filename().string();
  require(!last.empty() && last != "." && last != "..", Code::kBadName,
          "leapp.start() needs a name for the graph, found '" + options.name + "'");
  const std::string fault = find_node_name_fault(last);
  require(fault.empty(), Code::kBadName, "leapp.start(): no graph can have that name: " + fault);
  require(options.max_cached_io >= 0, Code::kWrongValue,
          "max_cached_io must not be negative, found " + std::to_string(options.max_cached_io));
  const std::filesystem::path folder =
      name.is_absolute() ? name : expand_home(options.save_path) / name;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  require(!failure, Code::kIo,
          "the folder " + folder.string() + " cannot be made: " + failure.message() +
              ". Give leapp.start() a save_path you may write to.");
  const trace::FrameRef frame = trace::capture_source();
  const bool was_active = active();
  const Lock lock(*this);
  reset();
  options_ = options;
  graph_name_ = last;
  folder_ = folder.has_filename() ? folder : folder.parent_path();
  diagnostics_.clear();
  log_file_.open(folder_ / "log.txt");
  set_log_record([this](LogLevel level, std::string_view text) { log_file_.write(level, text); });
  started_once_ = true;
  active_ = true;
  trace::set_observer(this);
  if (was_active) {
    warn(Code::kSessionDropped, "",
         "leapp.start() was called while a session was active: what it had traced is dropped. "
         "Call leapp.stop() first.",
         frame);
  }
  remark("Tracing '" + graph_name_ + "' into " + folder_.string());
}

void Session::warm_up() {
  const c10::impl::ExcludeDispatchKeyGuard own_operators_only(c10::python_ks);
  const at::Tensor one(at::detail::empty_cpu({1}, at::TensorOptions(at::kFloat)));
  at::Tensor x;
  {
    const Lock lock(*this);
    demand(nodes_.empty(), "the recorder is warmed up after nodes were opened");
    x = add_inputs("start", {{"x", one}}, {}).front();
    messages_.clear();
  }
  const at::Tensor y = at::add(at::mul(x, one), one);
  const bool seen = is_traced(y);  // not inside a transform of functorch, say
  const Lock lock(*this);
  if (seen) complete(nodes_.front(), {{"y", y}}, {}, {}, {});
  messages_.clear();
  reset();
}

void Session::stop() {
  const trace::FrameRef frame = trace::capture_source();
  locked(frame, [&] {
    if (!active()) {
      throw PlacedError{Code::kNoSession,
                        "leapp.stop(): there is no active tracing session. Call leapp.start() "
                        "first."};
    }
    if (!functions_.empty()) {
      throw PlacedError{Code::kFunctionRunning,
                        "leapp.stop() was called while the annotated function of node '" +
                            functions_.back() +
                            "' is still executing. Call it after the function returned."};
    }
    for (const LiveNode& node : nodes_) {
      if (node.pass.open)
        throw PlacedError{Code::kIncomplete, left_open_text(node), node.pass.opened_at};
    }
  });
  std::exception_ptr failure;  // of a front end; the session ends all the same
  try {
    if (hooks().stopping) hooks().stopping();
  } catch (...) {
    failure = std::current_exception();
  }
  locked(frame, [&] {
    active_ = false;
    open_ = 0;
    made_.clear();
    recording_ = 0;
    tape_.reset();
    trace::set_observer(nullptr);
    for (LiveNode& node : nodes_) {
      node.declared.clear();
      // Nobody announces writes from here on, and a program that goes on will write to its state.
      for (const Pass& pass : node.passes) {
        for (const MemoryUse& use : pass.memory) {
          if (use.after) use.after->freeze();
        }
      }
    }
    remark("Tracing stopped: " + std::to_string(nodes_.size()) +
           (nodes_.size() == 1 ? " node" : " nodes"));
  });
  log_file_.flush();
  if (failure) std::rethrow_exception(failure);
}

std::vector<const Node*> Session::nodes() const {
  std::vector<const Node*> nodes;
  for (const LiveNode& node : nodes_) nodes.push_back(&node);
  return nodes;
}

LiveNode* Session::find(const std::string& name) {
  const auto it = std::find_if(nodes_.begin(), nodes_.end(),
                               [&](const LiveNode& node) { return node.name == name; });
  return it == nodes_.end() ? nullptr : &*it;
}

void Session::check_thread(const LiveNode& node) const {
  if (node.pass.thread == std::this_thread::get_id()) return;
  throw PlacedError{Code::kWrongThread,
                    "node '" + node.name +
                        "' was opened by another thread. A node must be traced from one thread, "
                        "from its first input_tensors() to its output_tensors()."};
}

void Session::begin_pass(LiveNode& node) {
  node.pass = {};
  node.pass.open = true;
  node.pass.thread = std::this_thread::get_id();
  node.pass.recorded = node.traced && node.completed <= options_.max_cached_io;
  ++open_;
  if (!node.pass.recorded) return;
  if (!tape_) tape_ = std::make_shared<trace::Tape>(captures_);
  node.pass.first_call = static_cast<std::int32_t>(tape_->calls().size());
  ++recording_;
}

void Session::end_pass(LiveNode& node) {
  if (!node.pass.open) return;
  node.pass.open = false;
  --open_;
  if (!node.pass.recorded) return;
  // From here on its tensors are plain tensors again.
  for (VarId id = 0; id < static_cast<VarId>(tape_->variable_count()); ++id) {
    if (tape_->variable(id).node == node.id) tape_->variable(id).node = kNobody;
  }
  for (trace::StoreId id = 0; id < static_cast<trace::StoreId>(tape_->store_count()); ++id) {
    if (tape_->store(id).node == node.id) tape_->store(id).node = kNobody;
  }
  if (--recording_ > 0) return;
  picks_.clear();
  picking_ = false;
  tape_.reset();
  baked_.clear();
  escapes_.clear();
}

LiveNode& Session::open_node(const std::string& name, const char* call) {
  LiveNode* node = find(name);
  if (node == nullptr || !node->pass.open) {
    throw PlacedError{Code::kNodeNotOpen,
                      std::string("annotate.") + call + "() for node '" + name +
                          "', but annotate.input_tensors() was never called for it" +
                          (node != nullptr ? " in this pass" : "") +
                          ". Call annotate.input_tensors() first."};
  }
  check_thread(*node);
  return *node;
}

LiveNode& Session::enter_pass(const std::string& name) {
  LiveNode* node = find(name);
  if (node == nullptr) {
    if (std::string fault = find_node_name_fault(name); !fault.empty()) {
      throw PlacedError{Code::kBadName, "no node can have that name: " + std::move(fault)};
    }
    node = &nodes_.emplace_back();
    node->name = name;
    node->id = static_cast<NodeId>(nodes_.size()) - 1;
    const auto& excluded = options_.non_traced;
    node->traced = std::find(excluded.begin(), excluded.end(), name) == excluded.end();
    remark("Node '" + name + "' opened");
  }
  if (node->pass.open) {
    check_thread(*node);
  } else {
    begin_pass(*node);
  }
  trace::set_observer(this);  // this thread may be new to the session
  return *node;
}

void Session::abandon(const std::string& name) {
  const Lock lock(*this);
  LiveNode* node = find(name);
  if (node != nullptr) drop_pass(*node);
}

void Session::drop_pass(LiveNode& node) {
  end_pass(node);
  if (node.complete()) return;
  node.inputs.clear();
  node.outputs.clear();
  node.states.clear();
}

void Session::enter_function(const std::string& node) {
  const Lock lock(*this);
  functions_.push_back(node);
}

void Session::leave_function(const std::string& node) {
  const Lock lock(*this);
  const auto last = std::find(functions_.rbegin(), functions_.rend(), node);
  if (last != functions_.rend()) functions_.erase(std::next(last).base());
}

}  // namespace leapp::session
