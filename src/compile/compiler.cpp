#include "compile/compiler.h"

#include <c10/util/ScopeExit.h>
#include <torch/version.h>

#include <algorithm>
#include <future>

#include "base/check.h"
#include "base/checkpoint.h"
#include "base/hash.h"
#include "base/join.h"
#include "bundle/staging.h"
#include "compile/between.h"
#include "compile/bundle_files.h"
#include "compile/draft.h"
#include "compile/drawing.h"
#include "compile/failure_signs.h"
#include "compile/inventory.h"
#include "compile/merge_statement.h"
#include "compile/model_files.h"
#include "compile/own_model.h"
#include "compile/phase_times.h"
#include "compile/playback.h"
#include "compile/refusals.h"
#include "compile/schedule.h"
#include "compile/translations.h"
#include "compile/wires.h"
#include "leapp/leapp.h"
#include "rehearse/counter_examples.h"
#include "rehearse/golden_ticks.h"
#include "rehearse/rollout.h"
#include "session/front_end_interface.h"
#include "session/session.h"
#include "state/infer.h"
#include "state/schedule_inference.h"
#include "validate/node_validation.h"
#include "validate/validation_report.h"

// No function here changes the records of the session, so a second call gives the same bundle.
namespace leapp {
namespace compile {
namespace {

using session::Backend;
using session::Session;

std::vector<NodeInventory>& inventory_of_last_compile() {
  static auto* inventory = new std::vector<NodeInventory>;
  return *inventory;
}

// One export in progress: the nodes so far, and their directory.
class Compiler {
 public:
  Compiler(Session& session, const CompileOptions& options, session::ExternalBackend* external)
      : session_(session), options_(options), external_(external) {}

  CompileReport run() {
    const auto tell = c10::make_scope_exit([&] { say(signs_.release({})); });  // if it ends early
    check_nodes();
    find_schedule();
    take_between();
    std::vector<Draft> drafts = draft();
    times_.end("state");
    take_inventory(drafts);
    compile(drafts);
    times_.end("graphs");
    Bundle bundle = describe_bundle(nodes_, options_);
    add_schedule(schedule_.entries, nodes_, bundle);
    if (auto unnamed = find_unnamed_axes(bundle)) say(std::move(*unnamed));
    std::future<std::string> drawing =
        draw_beside(bundle, options_.visualize, staged_.path(), session_.folder(), graph_name());
    write_models(drafts, bundle);
    if (!dry_run_) {
      write_initial_values(nodes_, staged("_initial_values.safetensors"), bundle, schedule_.ticks);
    }
    checkpoint_();
    for (const std::string& line : statistics(bundle)) log(LogLevel::kInfo, line);
    times_.end("models");
    rehearse::Rollout rollout;
    if (options_.validate) rollout = roll_out(bundle);
    write_golden(bundle);
    write_bytes(staged(".yaml"), to_yaml(bundle));
    read_back(staged(".yaml"));
    const std::future<void> syncing =
        std::async(std::launch::async, [this] { staged_.sync_early(); });
    say(refusals_.all());
    if (options_.validate) finish_validation(rollout);
    if (!options_.validate || dry_run_) refusals_.fail(rollout.outcomes);
    times_.end("validation");
    if (const std::string reason = drawing.get(); !reason.empty()) {
      warn(Code::kNotDrawn, "", "the pipeline could not be drawn: " + reason);
    }
    write_bytes(staged_.path() / "diagnostics.json",
                "{\"diagnostics\": " + to_json(session_.diagnostics().by_harm()) +
                    ", \"inventory\": " + to_json(inventory_of_last_compile()) + "}\n");
    syncing.wait();
    staged_.commit(checkpoint_);
    if (!dry_run_ && !nodes_.empty()) {
      log(LogLevel::kInfo,
          "To check more than a few passes, run an episode of the program inside leapp.shadow(\"" +
              (session_.folder() / (graph_name() + ".yaml")).string() + "\")");
    }
    const char* const what =
        dry_run_ ? "Dry run: the structure, without models, was written to " : "Bundle written to ";
    log(LogLevel::kInfo, what + session_.folder().string());
    times_.end("drawing and writing");
    log(LogLevel::kInfo, "Compiled in " + times_.to_string());
    return {std::move(rollout.outcomes), std::move(report_), std::move(schedule_.remarks)};
  }

 private:
  void check_nodes() {
    for (const Node* node : recorded_) {
      require(node->complete(), Code::kIncomplete,
              "node '" + node->name +
                  "' was created but never completed, because every pass of it was abandoned. "
                  "Complete one pass with annotate.output_tensors('" +
                  node->name + "', ..).");
    }
    // A name in non_traced without a node is probably misspelt.
    for (const std::string& name : session_.options().non_traced) {
      if (std::ranges::count(recorded_, name, &Node::name) > 0) continue;
      warn(Code::kUnknownNode, "",
           "leapp.start(non_traced=..) names '" + name +
               "', but there was no such node; there were: " + join_quoted(recorded_, &Node::name));
    }
    if (!recorded_.empty()) return;
    warn(Code::kNoNodes, "",
         "no node was traced, so the bundle is empty. Run the annotated code before leapp.stop().");
  }

  void find_schedule() {
    playback_ = split_playing_nodes(recorded_, session_, captures_);
    recorded_ = playback_.nodes;
    schedule_ = state::infer_schedule(recorded_, playback_.runs, playback_.schedule);
    for (const std::string& remark : schedule_.remarks) log(LogLevel::kInfo, "Schedule: " + remark);
    if (schedule_.refusal) refusals_.add(*schedule_.refusal);
    replace_nodes(schedule_.changed);
  }

  void take_between() {
    state::Findings findings;
    changed_ = compile::take_between(recorded_, findings);
    say(findings);
    replace_nodes(changed_);
  }

  void replace_nodes(const std::map<session::NodeId, Node>& changed) {
    for (const Node*& node : recorded_) {
      if (const auto it = changed.find(node->id); it != changed.end()) node = &it->second;
    }
  }

  Backend backend_of(const Node& node) {
    const Backend backend = session::parse_backend(node.export_with);
    if (backend != Backend::kBridgedOnnx || external_ == nullptr || !node.traced) return backend;
    const std::string missing = external_->missing_package(*node.export_with);
    if (missing.empty()) return backend;
    warn(Code::kFallback, node.name,
         "node '" + node.name + "': export_with='" + *node.export_with +
             "' needs the Python package " + missing + ", which is not installed ('pip install " +
             missing + "'): it is exported by LEAPP's own converters, as with 'onnx'");
    return Backend::kOnnx;  // the same format, so the pipeline can still be exported
  }

  std::vector<Draft> draft() {
    if (front_end_ != nullptr) names_ = front_end_->tensor_names();
    std::vector<const Node*> nodes = recorded_;
    std::ranges::sort(nodes, {}, &Node::completion);
    std::vector<const Node*> exported = nodes;
    std::erase_if(exported, [](const Node* node) { return !node->has_graph(); });
    state::Inference inference =
        state::infer_states(exported, recorded_, names_by(&session::TensorName::path));
    refusals_.take_from(inference.findings, !schedule_.entries.empty());
    if (options_.validate && options_.strict && !dry_run_) signs_.hold_from(inference.findings);
    say(inference.findings);
    std::vector<Draft> drafts;
    auto next = inference.nodes.begin();
    for (const Node* node : nodes) {
      drafts.push_back({node->has_graph() ? std::move(*next++) : state::NodeStates{.node = node},
                        backend_of(*node)});
    }
    return drafts;
  }

  // Lists the constants of every node before anything is written.
  void take_inventory(const std::vector<Draft>& drafts) {
    checkpoint_();
    constexpr std::size_t kMostLines = 12;
    const Holders holders(front_end_ != nullptr ? front_end_->held_tensors()
                                                : std::vector<session::HeldTensor>());
    const state::Paths paths = names_by(&session::TensorName::path);
    std::vector<NodeInventory>& made = inventory_of_last_compile();
    made.clear();
    for (const Draft& draft : drafts) {
      if (!draft.node().has_graph()) continue;
      made.push_back(collect_constants(draft.states, holders, paths, front_end_));
      for (const std::string& name : unused_acknowledgements(draft.node(), made.back())) {
        warn(Code::kUnknownConstant, draft.node().name,
             "constants=[..] of node '" + draft.node().name + "' names '" + name +
                 "', but the node exports no such constant. leapp.inventory() lists those it has.");
      }
      const std::string block = to_block(made.back(), kMostLines);
      if (block.empty()) continue;
      require(!options_.strict_constants, Code::kUnacknowledged, block);
      log(LogLevel::kInfo, block);
    }
  }

  void compile(std::vector<Draft>& drafts) {
    const auto name = names_by(&session::TensorName::name);
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      Draft& draft = drafts[i];
      begin_step(i, 2 * drafts.size(), draft.node().name);
      if (!draft.node().has_graph()) continue;
      if (const auto reason = purify(draft, name)) say(*reason);
    }
    choose_states(drafts);
    for (Draft& draft : drafts) {
      checkpoint_();
      const Node& node = draft.node();
      state::Findings findings;
      nodes_.push_back(node.has_graph()
                           ? finish(draft, recorded_, findings)
                           : compile_own(node, recorded_, staged_.path(), dry_run_, findings));
      for (const trace::Recording::Port& input : nodes_.back().states.exported().recording.inputs) {
        if (std::ranges::count(nodes_.back().input_names, input.name) > 0) continue;
        const session::NodePort* const port = session::find_port(node.inputs, input.name);
        if (port != nullptr && port->is_drawn) continue;  // the program did not use the numbers
        warn(Code::kUnusedInput, node.name,
             "input '" + input.name + "' of node '" + node.name +
                 "' does not reach any output and is left out");
      }
      say(findings);
      if (!node.has_graph()) continue;
      log(LogLevel::kDebug, "Graph of node '" + node.name + "':\n" + ir::to_text(draft.pure.graph));
      if (!dry_run_) nodes_.back().model.backend = format_of(draft.backend);
    }
  }

  void write_models(std::vector<Draft>& drafts, Bundle& bundle) {
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      Draft& draft = drafts[i];
      ExportedNode& node = nodes_[i];
      begin_step(drafts.size() + i, 2 * drafts.size(), node.model.name);
      if (node.ours && !dry_run_) {
        write_model(draft.backend, draft.pure.graph, staged_.path(),
                    options_.torch_version.value_or(TORCH_VERSION), node, external_);
        bundle.models[i] = node.model;
      }
      draft.pure = {};  // releases the constants of a large model before the last model is written
    }
  }

  void write_golden(Bundle& bundle) {
    require(
        options_.golden >= 0, Code::kWrongValue,
        "compile_graph(golden=..) is a number of ticks, not " + std::to_string(options_.golden));
    if (options_.golden == 0 || dry_run_) return;
    auto fewer =
        rehearse::write_golden(nodes_, static_cast<std::size_t>(options_.golden), tolerance_,
                               staged("_golden.safetensors"), bundle, schedule_.ticks);
    if (fewer) say(std::move(*fewer));
  }

  void try_unseen_inputs(rehearse::Rollout& rollout) {
    rehearse::CounterExampleOptions trials =
        rehearse::trials_for(tolerance_, options_.thorough, times_.began());
    trials.front_end = front_end_;
    trials.rerun = options_.rerun;
    trials.checkpoint = checkpoint_;
    for (Diagnostic& each :
         rehearse::try_unseen_inputs(nodes_, rollout.engines, trials, rollout.outcomes)) {
      // The line at which a value left the graph is more useful than the line of the output.
      for (const Diagnostic& said : session_.diagnostics().by_harm()) {
        const bool left = said.code == Code::kBranch || said.code == Code::kNumber;
        if (left && said.node == each.node && !said.where.empty()) each.where = said.where;
      }
      say(std::move(each));
    }
  }

  // Runs the models on the traced passes, adds translations, and states which nodes are merged.
  rehearse::Rollout roll_out(Bundle& bundle) {
    rehearse::Rollout rollout;
    if (dry_run_) {
      for (const Model& model : bundle.models) rollout.outcomes.push_back({.node = model.name});
      return rollout;
    }
    check(bundle, {.allow_outside_files = true});  // only a valid bundle can be run
    rollout = rehearse::roll_out(nodes_, bundle, staged_.path(), log_path(), tolerance_,
                                 schedule_.ticks, external_, checkpoint_);
    add_translations(nodes_, staged_.path(), tolerance_, checkpoint_, rollout, bundle);
    checkpoint_();
    state_merged(nodes_, staged_.path(), rollout, bundle);
    return rollout;
  }

  void finish_validation(rehearse::Rollout& rollout) {
    if (dry_run_) return;
    try_unseen_inputs(rollout);
    if (!schedule_.entries.empty() && rollout.difference) {
      fail_node(rollout.outcomes, *rollout.difference);
    }
    refusals_.fail(rollout.outcomes);
    log_validation_summary(rollout.outcomes);
    say(rollout.untrusted);
    const std::string failures = describe_failures(rollout.outcomes);
    const std::string sign = signs_.first(rollout.outcomes);
    say(signs_.release(rollout.outcomes));
    const bool written = failures.empty() || !options_.strict;
    report_ = validation_json(rollout.outcomes, tolerance_, sha256_file(staged(".yaml")));
    write_bytes((written ? staged_.path() : session_.folder()) / "validation.json", report_);
    require(written, Code::kValidationFailed,
            failures + ". " + (sign.empty() ? "" : sign + " ") + "Nothing was written; " +
                log_path().string() +
                " has the details, and strict=False keeps the files for inspection.");
    if (!failures.empty()) {
      log(LogLevel::kError, Code::kValidationFailed,
          failures + ". " + log_path().string() + " has the details.");
    } else if (rollout.difference) {
      say(std::move(*rollout.difference));
    }
  }

  // The program's name for a tensor, and its path.
  NameOf names_by(std::string session::TensorName::*part) const {
    return [this, part](const at::Tensor& tensor) -> std::string {
      if (names_.empty() || !tensor.has_storage()) return "";
      const auto it = names_.find(tensor.const_data_ptr());
      return it == names_.end() ? "" : it->second.*part;
    };
  }
  void say(Diagnostic diagnostic) { session_.diagnostics().add(std::move(diagnostic)); }
  void say(const state::Findings& findings) {
    for (const Diagnostic& each : findings) say(each);
  }
  void warn(Code code, const std::string& node, const std::string& text) {
    say(state::warning(code, {}, node, text));
  }
  std::filesystem::path staged(const std::string& suffix) const {
    return staged_.path() / (graph_name() + suffix);
  }

  std::string graph_name() const { return session_.graph_name(); }
  std::filesystem::path log_path() const { return session_.folder() / "log.txt"; }

  void begin_step(std::size_t done, std::size_t in_all, const std::string& node) const {
    checkpoint_();
    if (options_.progress) options_.progress(done, in_all, node);
  }

  PhaseTimes times_;
  Session& session_;
  const CompileOptions& options_;
  session::ExternalBackend* const external_;                   // or null
  session::FrontEnd* const front_end_ = session_.front_end();  // or null
  const bool dry_run_ = options_.dry_run || session_.options().dry_run;
  const Tolerance tolerance_ = options_.tolerance;
  const Checkpoint checkpoint_{options_.cancelled};
  std::vector<const Node*> recorded_ = session_.nodes();
  trace::CaptureTable captures_;  // of the tapes that the compiler makes
  Playback playback_;
  state::InferredSchedule schedule_;
  Refusals refusals_{options_.strict};
  std::map<session::NodeId, Node> changed_;  // nodes that contain computation between nodes
  StagedDirectory staged_{session_.folder()};
  session::TensorNames names_;
  std::string report_;  // validation.json
  FailureSigns signs_;
  std::vector<ExportedNode> nodes_;
};

}  // namespace
}  // namespace compile

std::vector<NodeInventory> inventory() {
  return compile::inventory_of_last_compile();
}

std::vector<NodeOutcome> compile_graph(const CompileOptions& options) {
  return compile::compile_graph(options, nullptr).outcomes;
}

compile::CompileReport compile::compile_graph(const CompileOptions& options,
                                              session::ExternalBackend* external) {
  session::Session& session = session::Session::instance();
  require(!session.active(), Code::kStillTracing,
          "Call leapp.stop() before leapp.compile_graph(): the session is still tracing.");
  require(session.started_once(), Code::kNoSession,
          "there is nothing to compile: call leapp.start(), run the annotated code, then "
          "leapp.stop().");
  // Also if the export fails, because log.txt then has the details.
  const auto flush = c10::make_scope_exit([&] { session.flush_log(); });
  return Compiler(session, options, external).run();
}

}  // namespace leapp
