#include "session/session.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mul.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/check.h"
#include "interop/convert.h"
#include "session/hooks.h"
#include "session/session_lock.h"
#include "trace/recording.h"

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
  if (entry.ref.layout() == at::kStrided || entry.ref.layout() == at::kMkldnn) return;
  std::ostringstream layout;
  layout << entry.ref.layout();
  throw PlacedError{ErrorKind::kType,
                    "port '" + entry.name + "' is a tensor of layout " + layout.str() +
                        "; only dense tensors can be ports. Pass .to_dense(), or its values and "
                        "indices apart.",
                    {}};
}

}  // namespace

NodePort describe(const TensorSemantics& entry) {
  require(entry.ref.defined(), ErrorKind::kType, "port '" + entry.name + "' has no tensor");
  require_dense(entry);
  NodePort port;
  port.name = entry.name;
  port.semantics = entry.semantics;
  port.dtype = interop::to_dtype(entry.ref.scalar_type());
  port.shape = entry.ref.sizes().vec();
  return port;
}

at::Tensor copy_of(const at::Tensor& tensor) {
  if (tensor.is_cpu() && tensor.layout() == at::kStrided && tensor.is_contiguous() &&
      tensor.has_storage() && !tensor.is_conj() && !tensor.is_neg()) {
    // Most are small: the operators would take longer than the copy.
    at::Tensor copy(at::detail::empty_cpu(tensor.sizes(), at::TensorOptions(tensor.scalar_type())));
    if (copy.nbytes() != 0) {
      std::memcpy(copy.mutable_data_ptr(), tensor.const_data_ptr(), copy.nbytes());
    }
    return copy;
  }
  const trace::Unobserved guard;
  const at::NoGradGuard no_grad;
  return tensor.detach().clone(at::MemoryFormat::Contiguous);
}

std::string escape_text(const std::string& op, trace::Escape escape) {
  if (escape == trace::Escape::kBranch) {
    return op +
           " turns a traced tensor into True or False: the branch taken now is the only one "
           "that is exported. Use torch.where() to keep the choice in the model.";
  }
  return op +
         " turns a traced tensor into a number: whatever is computed from it is exported as a "
         "constant. Keep it a tensor to keep it in the model.";
}

std::string not_traced_text(const std::string& node, const std::string& output) {
  return "outputs of node '" + node + "' are non-traced tensors: '" + output +
         "' does not depend on the node's inputs. Compute it from what input_tensors() returned; a "
         "constant can be a static output.";
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
  log(message.level, trace::line_prefix(message.where) + message.text);
}

void Session::queue(LogLevel level, std::string text, trace::FrameRef where) {
  messages_.push_back({level, std::move(text), where});
}

void Session::queue_once(LogLevel level, std::string text, trace::FrameRef where) {
  if (said_.insert({text, {where.code, where.position}}).second) {
    queue(level, std::move(text), where);
  }
}

void Session::reset() {
  nodes_.clear();
  captures_.clear();
  tape_.reset();
  tags_.clear();
  writers_.clear();
  outsiders_.clear();
  escapes_.clear();
  picks_.clear();
  picking_ = false;
  made_.clear();
  said_.clear();
  open_ = 0;
  recording_ = 0;
  functions_.clear();
  sizes_vary_ = false;
}

void Session::start(const StartOptions& options) {
  require(trace::can_observe(), ErrorKind::kUsage,
          "leapp.start(): another copy of LEAPP, or another tool that observes PyTorch's operators "
          "(TESTING_ONLY_GenericMode), is loaded in this process, and there can be one only");
  const std::filesystem::path name = expand_home(options.name);
  const std::string last =
      name.has_filename() ? name.filename().string() : name.parent_path().filename().string();
  require(!last.empty() && last != "." && last != "..", ErrorKind::kValue,
          "leapp.start() needs a name for the graph, found '" + options.name + "'");
  require(options.max_cached_io >= 0, ErrorKind::kValue,
          "max_cached_io must not be negative, found " + std::to_string(options.max_cached_io));
  const std::filesystem::path folder =
      name.is_absolute() ? name : expand_home(options.save_path) / name;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  require(!failure, ErrorKind::kIo,
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
    queue(LogLevel::kWarning,
          "leapp.start() was called while a session was active: what it had traced is dropped. "
          "Call leapp.stop() first.",
          frame);
  }
  queue(LogLevel::kInfo, "Tracing '" + graph_name_ + "' into " + folder_.string());
}

void Session::touch() {
  const c10::impl::ExcludeDispatchKeyGuard own_operators_only(c10::python_ks);
  const at::Tensor one(at::detail::empty_cpu({1}, at::TensorOptions(at::kFloat)));
  at::Tensor x;
  {
    const Lock lock(*this);
    require(nodes_.empty(), ErrorKind::kUsage, "the recorder is warmed up before nodes are opened");
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
  locked(trace::capture_source(), [&] {
    if (!active()) {
      throw PlacedError{ErrorKind::kUsage,
                        "leapp.stop(): there is no active tracing session. Call leapp.start() "
                        "first.",
                        {}};
    }
    if (!functions_.empty()) {
      throw PlacedError{ErrorKind::kUsage,
                        "leapp.stop() was called while the annotated function of node '" +
                            functions_.back() +
                            "' is still executing. Call it after the function returned.",
                        {}};
    }
  });
  if (hooks().stopping) hooks().stopping();
  locked({}, [&] {
    active_ = false;
    open_ = 0;
    made_.clear();
    recording_ = 0;
    tape_.reset();
    trace::set_observer(nullptr);
    // Nobody announces writes from here on, and a program that goes on will write to its state.
    for (Node& node : nodes_) {
      node.declared.clear();
      for (const Sample& sample : node.samples) {
        for (const MemoryUse& use : sample.memory) {
          if (use.after) use.after->freeze();
        }
      }
    }
    queue(LogLevel::kInfo, "Tracing stopped: " + std::to_string(nodes_.size()) +
                               (nodes_.size() == 1 ? " node" : " nodes"));
  });
  log_file_.flush();
}

Node* Session::find(const std::string& name) {
  const auto it = std::find_if(nodes_.begin(), nodes_.end(),
                               [&](const Node& node) { return node.name == name; });
  return it == nodes_.end() ? nullptr : &*it;
}

void Session::check_thread(const Node& node) const {
  if (node.pass.thread == std::this_thread::get_id()) return;
  throw PlacedError{ErrorKind::kUsage,
                    "node '" + node.name +
                        "' was opened by another thread. A node must be traced from one thread, "
                        "from its first input_tensors() to its output_tensors().",
                    trace::FrameRef{}};
}

void Session::begin_pass(Node& node) {
  node.pass = {};
  node.pass.open = true;
  node.pass.thread = std::this_thread::get_id();
  node.pass.recorded = node.traced && node.passes <= options_.max_cached_io;
  ++open_;
  if (!node.pass.recorded) return;
  if (!tape_) tape_ = std::make_shared<trace::Tape>(captures_);
  node.pass.first_call = static_cast<std::int32_t>(tape_->calls().size());
  ++recording_;
}

void Session::end_pass(Node& node) {
  if (!node.pass.open) return;
  node.pass.open = false;
  if (open_ > 0) --open_;
  if (!node.pass.recorded) return;
  // From here on its tensors are plain tensors again.
  for (VarId id = 0; id < static_cast<VarId>(tape_->variable_count()); ++id) {
    if (tape_->variable(id).node == node.id) tape_->variable(id).node = kNobody;
  }
  for (trace::StoreId id = 0; id < static_cast<trace::StoreId>(tape_->store_count()); ++id) {
    if (tape_->store(id).node == node.id) tape_->store(id).node = kNobody;
  }
  if (--recording_ == 0) {
    picks_.clear();
    picking_ = false;
    tape_.reset();
    outsiders_.clear();
    escapes_.clear();
  }
}

Node& Session::open_node(const std::string& name, const char* call) {
  Node* node = find(name);
  if (node == nullptr || !node->pass.open) {
    throw PlacedError{ErrorKind::kUsage,
                      std::string("annotate.") + call + "() for node '" + name +
                          "', but annotate.input_tensors() was never called for it" +
                          (node != nullptr ? " in this pass" : "") +
                          ". Call annotate.input_tensors() first.",
                      {}};
  }
  check_thread(*node);
  return *node;
}

Node& Session::enter_pass(const std::string& name) {
  Node* node = find(name);
  if (node == nullptr) {
    require(!name.empty(), ErrorKind::kValue, "a node needs a name");
    if (name.find('/') != std::string::npos) {
      throw PlacedError{ErrorKind::kValue,
                        "node name '" + name +
                            "' contains '/', which separates node and port in the bundle. Choose "
                            "another name.",
                        {}};
    }
    nodes_.emplace_back();
    node = &nodes_.back();
    node->name = name;
    node->id = static_cast<NodeId>(nodes_.size()) - 1;
    const auto& excluded = options_.non_traced;
    node->traced = std::find(excluded.begin(), excluded.end(), name) == excluded.end();
    queue(LogLevel::kInfo, "Node '" + name + "' opened");
  }
  if (node->pass.open) {
    check_thread(*node);
  } else {
    begin_pass(*node);
  }
  trace::set_observer(this);  // this thread may be new to the session
  return *node;
}

void Session::mirror_tags(const at::Tensor& source, const at::Tensor& target) {
  if (!active()) return;
  const trace::FrameRef frame = trace::capture_source();
  locked(frame, [&] {
    const bool same = source.sizes() == target.sizes() &&
                      source.scalar_type() == target.scalar_type() && at::equal(source, target);
    if (!same) {
      throw PlacedError{ErrorKind::kValue,
                        "mirror_leapp_tags(): source and target do not match. It is for a target "
                        "that holds exactly the source's values after a copy.",
                        {}};
    }
    if (const auto tag = tags_.find(source)) tags_.set(target, *tag);
    if (!tape_) return;
    const auto from = tape_->find(source);
    if (from && tape_->variable(*from).node != kNobody) tape_->mirror(*from, target);
  });
}

void Session::abandon(const std::string& name) {
  const Lock lock(*this);
  Node* node = find(name);
  if (node == nullptr || !node->pass.open) return;
  end_pass(*node);
  if (node->complete()) return;
  node->inputs.clear();
  node->outputs.clear();
  node->states.clear();
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

std::vector<std::string> Session::open_nodes() {
  const Lock lock(*this);
  std::vector<std::string> open;
  for (const Node& node : nodes_) {
    if (node.pass.open) open.push_back(node.name);
  }
  return open;
}

int Session::pass_of(const std::string& name) {
  const Lock lock(*this);
  const Node* node = find(name);
  return node == nullptr ? 0 : node->passes + (node->pass.open ? 1 : 0);
}

void Session::note_escape(const at::Tensor& tensor, const std::string& what) {
  const trace::FrameRef frame = trace::capture_source();
  const Lock lock(*this);
  if (!tape_ || !tensor.defined() || trace::is_wrapped(tensor)) return;
  if (recording_ == 0) return;
  const VarId var = tape_->use(tensor);
  if (tape_->variable(var).node == kNobody) {
    escapes_.push_back({var, frame, what, static_cast<std::int32_t>(tape_->calls().size())});
  } else {
    nodes_[static_cast<std::size_t>(tape_->variable(var).node)].read_values = true;
    queue_once(LogLevel::kWarning, what, frame);
  }
}

bool Session::is_traced(const at::Tensor& tensor) {
  const Lock lock(*this);
  if (!active() || !tensor.defined() || trace::is_wrapped(tensor)) return false;
  const auto var = tape_ ? tape_->find(tensor) : std::nullopt;
  if (var && tape_->variable(*var).node != kNobody) return true;
  return tags_.find(tensor).has_value();
}

bool Session::may_vary(const at::Tensor& tensor) {
  if (is_traced(tensor)) return true;
  static const c10::OperatorName literal("aten::lift_fresh", "");  // torch.tensor(3)
  const Lock lock(*this);
  if (!tape_ || recording_ == 0 || !tensor.defined() || trace::is_wrapped(tensor)) return false;
  const auto is_programs = [&](VarId id) {
    const trace::Variable& variable = tape_->variable(id);
    return variable.origin == trace::Variable::Origin::kOutside &&
           (variable.store == kNobody || !tape_->store(variable.store).fresh);
  };
  const auto var = tape_->find(tensor);
  if (!var || is_programs(*var)) return true;
  // Not depends_on(): what is written out in the code comes from outside as well.
  for (const std::int32_t index : trace::slice(*tape_, {*var})) {
    const trace::Call& call = tape_->calls()[static_cast<std::size_t>(index)];
    if (call.op.operator_name() == literal) continue;
    bool found = false;
    trace::for_each_variable(*tape_, call, [&](VarId id) { found |= is_programs(id); });
    if (found) return true;
  }
  return false;
}

std::vector<at::Tensor> Session::outside_of(const at::Tensor& tensor) {
  const Lock lock(*this);
  std::vector<at::Tensor> found;
  if (!tape_ || !tensor.defined() || trace::is_wrapped(tensor)) return found;
  const auto var = tape_->find(tensor);
  if (!var) return {tensor};
  std::set<trace::StoreId> seen = {kNobody};
  const auto look = [&](VarId id) {
    const trace::Variable& variable = tape_->variable(id);
    if (variable.origin != trace::Variable::Origin::kOutside) return false;
    if (seen.insert(variable.store).second) found.push_back(variable.held);
    return false;
  };
  trace::depends_on(*tape_, *var, look);
  return found;
}

std::string Session::opened_at(const std::string& name) {
  trace::FrameRef frame;
  {
    const Lock lock(*this);
    const Node* node = find(name);
    if (node != nullptr) frame = node->opened_at;
  }
  return trace::resolve_source(frame).to_string();
}

std::vector<const void*> Session::code_in(const std::string& name) {
  const Lock lock(*this);
  const Node* node = find(name);
  if (node == nullptr || node->recording.tape == nullptr) return {};
  std::set<const void*> found;
  const auto add = [&](trace::FrameRef frame) {
    if (frame.code != nullptr && frame.position >= 0) found.insert(frame.code);  // not C++
  };
  add(node->opened_at);
  const trace::Recording& recording = node->recording;
  for (std::int32_t i = recording.first_call; i < recording.end_call; ++i) {
    add(recording.tape->calls()[static_cast<std::size_t>(i)].frame);
  }
  return {found.begin(), found.end()};
}

std::vector<std::pair<at::Tensor, std::string>> Session::raw_constants_of(const std::string& name) {
  std::vector<std::pair<at::Tensor, trace::FrameRef>> found;
  {
    const Lock lock(*this);
    const Node* node = find(name);
    if (node == nullptr || node->recording.tape == nullptr) return {};
    const trace::Recording& recording = node->recording;
    const trace::Tape& tape = *recording.tape;
    std::set<trace::StoreId> seen = {kNobody};
    for (const trace::StateCandidate& state : recording.states) {
      seen.insert(tape.variable(state.before).store);
    }
    for (const std::int32_t index : recording.calls) {
      const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
      trace::for_each_variable(tape, call, [&](VarId var) {
        const trace::Variable& variable = tape.variable(var);
        if (variable.origin != trace::Variable::Origin::kOutside) return;
        if (!seen.insert(variable.store).second || tape.store(variable.store).fresh) return;
        if (made_.count(variable.held.storage().unsafeGetStorageImpl()) == 0) return;
        if (tags_.find(variable.held)) return;  // a node's value, which is named by itself
        found.emplace_back(variable.held, call.frame);
      });
    }
  }
  std::vector<std::pair<at::Tensor, std::string>> placed;
  for (auto& [tensor, frame] : found) {
    placed.emplace_back(std::move(tensor), trace::resolve_source(frame).to_string());
  }
  return placed;
}

bool Session::was_input(const at::Tensor& tensor) {
  const Lock lock(*this);
  if (!tensor.defined() || !tensor.has_storage()) return false;
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    if (node.recording.tape == nullptr) return false;
    return std::any_of(node.recording.inputs.begin(), node.recording.inputs.end(),
                       [&](const trace::Recording::Port& port) {
                         return node.recording.tape->tensor(port.var).is_alias_of(tensor);
                       });
  });
}

bool Session::was_declared(const at::Tensor& tensor) {
  const Lock lock(*this);
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return std::any_of(node.declared.begin(), node.declared.end(),
                       [&](const at::Tensor& declared) { return declared.is_same(tensor); });
  });
}

bool Session::was_read(const at::Tensor& tensor) {
  const Lock lock(*this);
  if (!tensor.defined() || !tensor.has_storage()) return false;
  const c10::StorageImpl* memory = tensor.storage().unsafeGetStorageImpl();
  for (const Node& node : nodes_) {
    if (node.carried.has_read(tensor)) return true;
    for (const Sample& sample : node.samples) {
      for (const MemoryUse& use : sample.memory) {
        if (use.found.defined() && use.found.has_storage() &&
            use.found.storage().unsafeGetStorageImpl() == memory) {
          return true;
        }
      }
    }
  }
  return false;
}

std::vector<at::Tensor> refs_of(const NamedTensors& tensors) {
  std::vector<at::Tensor> refs;
  refs.reserve(tensors.size());
  for (const TensorSemantics& entry : tensors) refs.push_back(entry.ref);
  return refs;
}

}  // namespace leapp::session
