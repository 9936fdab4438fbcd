#include "session/session.h"

#include <cstdlib>

#include "base/check.h"
#include "bundle/port_rules.h"
#include "session/front_end_interface.h"
#include "session/passes.h"
#include "session/recorder.h"
#include "session/session_lock.h"
#include "session/shadowing.h"
#include "session/warm_up.h"

namespace leapp::session {
namespace {

std::filesystem::path expand_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  const bool is_home = path == "~" || path.starts_with("~/");
  return home != nullptr && is_home ? home + path.substr(1) : path;
}

void require_possible(const std::error_code& failure, const std::string& what) {
  require(!failure, Code::kIo,
          what + ": " + failure.message() + ". Give leapp.start() a save_path you may write to.");
}

void check_schedule(const std::vector<NodeSchedule>& schedule) {
  const auto at_least = [](const NodeSchedule& entry, const char* key, std::int64_t value,
                           std::int64_t least) {
    require(value >= least, Code::kWrongValue,
            "leapp.start(schedule=..): '" + std::string(key) + "' of node '" + entry.node +
                "' must be at least " + std::to_string(least) + ", found " + std::to_string(value));
  };
  for (const NodeSchedule& entry : schedule) {
    at_least(entry, "every", entry.every, 1);
    at_least(entry, "phase", entry.phase, 0);
    at_least(entry, "repeat", entry.repeat, 1);
  }
}

// The directory that receives the export; its last part is the name of the graph.
std::filesystem::path directory_for(const StartOptions& options) {
  std::filesystem::path name = expand_home(options.name);
  if (!name.has_filename()) name = name.parent_path();
  const std::string last = name.filename().string();
  require(!last.empty() && last != "." && last != "..", Code::kBadName,
          "leapp.start() needs a name for the graph, found '" + options.name + "'");
  const std::string fault = find_node_name_fault(last);
  require(fault.empty(), Code::kBadName, "leapp.start(): invalid name of a graph: " + fault);
  // Absolute, because the program may change its working directory before it compiles.
  std::error_code failure;
  std::filesystem::path folder =
      std::filesystem::absolute(expand_home(options.save_path) / name, failure);
  require_possible(failure, "the working directory is not known");
  return folder;
}

void check_may_stop(const SessionData& data) {
  if (!data.active) {
    refuse(Code::kNoSession,
           "leapp.stop(): there is no active tracing session. Call leapp.start() first.");
  }
  if (const std::string* function = data.nodes.running_function()) {
    refuse(Code::kFunctionRunning,
           "leapp.stop() was called while the annotated function of node '" + *function +
               "' is still executing. Call it after the function returned; the session stays "
               "active.");
  }
  for (const SessionNode& node : data.nodes) {
    if (!node.pass.open || node.complete()) continue;
    refuse(Code::kIncomplete,
           "node '" + node.name +
               "' was created but never completed, so the session stays active. Call "
               "annotate.output_tensors('" +
               node.name + "', ..), or annotate.abandon('" + node.name +
               "') to drop the pass that was begun here, then leapp.stop() again. leapp.start() "
               "drops the whole session.",
           node.pass.record.opened_at);
  }
}

void drop_open_passes(SessionData& data) {
  for (SessionNode& node : data.nodes) {
    if (!node.pass.open) continue;
    // A loop that observes at the end of each step leaves an unused observation.
    data.messages.remark("Pass " + std::to_string(node.completed + 1) + " of node '" + node.name +
                         "' was begun but not completed, so LEAPP dropped it");
    drop_pass(data, node);
  }
}

// Writes are no longer observed, but the program may continue to write to its state.
void freeze_memory(SessionData& data, Pass& pass) {
  for (MemoryUse& use : pass.memory) {
    if (use.after) use.after->freeze();
    use.let_go = data.memory.find_creation(use.found) != nullptr &&
                 pass.tape().variable(use.var).impl.expired();
  }
}

std::string count(std::size_t number, const char* noun, const char* plural) {
  return std::to_string(number) + " " + (number == 1 ? noun : plural);
}

void end_session(SessionData& data) {
  data.active = false;
  for (SessionNode& node : data.nodes) {
    data.nodes.close_pass(node);
    for (Pass& pass : node.passes) freeze_memory(data, pass);
  }
  data.tape.close();
  data.memory.clear_creations();
  // Logged here and not at the end of each pass, because writing a line takes longer than an
  // operator.
  for (const SessionNode& node : data.nodes) {
    data.messages.remark("Node '" + node.name +
                         "': " + count(static_cast<std::size_t>(node.completed), "pass", "passes"));
  }
  data.messages.remark("Tracing stopped: " + count(data.nodes.size(), "node", "nodes"));
}

}  // namespace

Session& Session::instance() {
  static auto* session = [] {
    std::atexit([] { instance().flush_log(); });
    return new Session;
  }();
  return *session;
}

Session::Session()
    : data_(std::make_unique<Guarded<SessionData>>()),
      recorder_(std::make_unique<Recorder>(*this)) {}

Session::~Session() = default;

trace::Observer& Session::recorder() noexcept {
  return *recorder_;
}

bool Session::started_once() {
  return !SessionLock(*this)->folder.empty();
}

std::vector<const Node*> Session::nodes() {
  const SessionLock data(*this);
  std::vector<const Node*> found;
  for (const SessionNode& node : data->nodes) found.push_back(&node);
  return found;
}

RunLog Session::runs() {
  return SessionLock(*this)->runs;
}

StartOptions Session::options() {
  return SessionLock(*this)->options;
}

std::string Session::graph_name() {
  return folder().filename().string();
}

std::filesystem::path Session::folder() {
  return SessionLock(*this)->folder;
}

void Session::start(const StartOptions& options, FrontEnd* front_end) {
  require(trace::can_observe(), Code::kObserverTaken,
          "leapp.start(): another copy of LEAPP, or another tool that observes PyTorch's operators "
          "(TESTING_ONLY_GenericMode), is active in this process, but only one is possible");
  require(options.max_cached_io >= 0, Code::kWrongValue,
          "max_cached_io must not be negative, found " + std::to_string(options.max_cached_io));
  check_schedule(options.schedule);
  const std::filesystem::path folder = directory_for(options);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  require_possible(failure, "the directory " + folder.string() + " cannot be created");
  const trace::FrameRef frame = trace::capture_source();
  const SessionLock data(*this);
  const std::filesystem::path log_path = folder / "log.txt";
  require_possible(log_file_.open(log_path), "the log " + log_path.string() + " cannot be written");
  const bool was_active = data->active;
  *data = {};
  data->active = true;
  data->options = options;
  data->folder = folder;
  diagnostics_.clear();
  front_end_ = front_end;
  set_log_record([this](LogLevel level, std::string_view text) { log_file_.write(level, text); });
  trace::set_observer(recorder_.get());
  if (was_active) {
    data->messages.warn(Code::kSessionDropped, "",
                        "leapp.start() was called while a session was active, so its traced passes "
                        "are dropped. Call leapp.stop() first.",
                        frame);
  }
  data->messages.remark("Tracing '" + folder.filename().string() + "' into " + folder.string());
}

void Session::stop() {
  const trace::FrameRef frame = trace::capture_source();
  locked(*this, frame, [](SessionData& data) {
    check_may_stop(data);
    drop_open_passes(data);
  });
  locked(*this, frame, end_session);
  trace::set_observer(nullptr);
  log_file_.flush();
}

void Session::drop() noexcept {
  if (!active()) return;
  {
    const SessionLock data(*this);
    *data = {};
    data->messages.remark("The session was dropped");
  }
  trace::set_observer(nullptr);
  log_file_.flush();
}

}  // namespace leapp::session

namespace leapp {

using session::Session;

void session::start(const StartOptions& options, FrontEnd* front_end) {
  require(shadowing == nullptr, Code::kNotShadowed,
          "leapp.start(): a shadow run is active. Annotations cannot serve both; end the shadow "
          "run first.");
  Session::instance().start(options, front_end);
  warm_up();
}
void session::detach_front_end() noexcept {
  Session::instance().detach_front_end();
}
void start(const StartOptions& options) {
  session::start(options, nullptr);
}
void stop() {
  Session::instance().stop();
}
void drop() noexcept {
  Session::instance().drop();
}
Trace::Trace(const StartOptions& options) {
  start(options);
}
Trace::~Trace() {
  if (!stopped_) drop();
}
void Trace::stop() {
  leapp::stop();
  stopped_ = true;
}
bool is_active() noexcept {
  return Session::instance().active();
}
std::vector<Diagnostic> diagnostics() {
  return Session::instance().diagnostics().by_harm();
}

}  // namespace leapp
