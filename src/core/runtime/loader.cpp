#include "runtime/loader.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "bundle/field_location.h"
#include "bundle/initial_values.h"
#include "runtime/engines/cpp/native_record.h"
#include "runtime/golden_replay.h"
#include "runtime/merge.h"

namespace leapp {
namespace {

void check_engine_options(const EngineOptions& options, const std::string& whose) {
  require(options.threads >= 0, Code::kRuntimeOptions,
          whose + ": threads must be at least 1, or 0 to let the engine decide, not " +
              std::to_string(options.threads));
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  // Checked here, because engines end the process if the system cannot create so many threads.
  const long most = std::max(256L, processors);
  require(options.threads <= most, Code::kRuntimeOptions,
          whose + ": threads must be at most " + std::to_string(most) + ", not " +
              std::to_string(options.threads));
  if (options.affinity.empty()) return;
  const std::size_t beside =
      options.threads > 0 ? static_cast<std::size_t>(options.threads) - 1 : 0;
  require(options.threads == 0 || options.affinity.size() == beside, Code::kRuntimeOptions,
          whose + ": affinity names " + std::to_string(options.affinity.size()) +
              " processors; with threads = " + std::to_string(options.threads) +
              " it must name one for each additional thread: " + std::to_string(beside));
  for (int processor : options.affinity) {
    require(processor >= 0 && processor < processors, Code::kRuntimeOptions,
            whose + ": affinity names processor " + std::to_string(processor) +
                "; this machine has 0 to " + std::to_string(processors - 1));
  }
}

void check_options(const RuntimeOptions& options) {
  check_engine_options(options.engine, "options");
  for (const auto& [node, own] : options.nodes) {
    check_engine_options(own, "options of node '" + node + "'");
  }
  require(!options.deadline || options.deadline->count() >= 0, Code::kRuntimeOptions,
          "options: the deadline is negative");
  for (const auto& [name, limit] : options.staleness) {
    require(limit.count() >= 0, Code::kRuntimeOptions,
            "options: the staleness limit of " + name + " is negative");
  }
}

void check_node_names(const Bundle& bundle, const RuntimeOptions& options) {
  for (const auto& [node, ignored] : options.nodes) {
    if (bundle.find_model(node) == nullptr) {
      throw Error(Code::kRuntimeOptions, "options name a node '" + node + "', which " +
                                             bundle.file.string() + " does not have");
    }
  }
}

// Returns a description of the first node without a model.
std::string find_node_without_model(const Bundle& bundle) {
  for (const Model& model : bundle.models) {
    if (!model.file || !model.backend) {
      return "node '" + model.name +
             "' was exported without a model (export_with=None, or a node of non_traced), so the "
             "pipeline can be inspected but not run; export it with a backend, or give it a "
             "model_path";
    }
  }
  return {};
}

void check_backends(const Bundle& bundle, const EngineRegistry& engines) {
  for (const Model& model : bundle.models) {
    if (model.backend && !engines.contains(*model.backend)) engines.load(model, {});  // throws
  }
}

// Returns the engine of a merged step; null, with a line in the log, if there is none on this
// machine.
std::unique_ptr<Engine> try_merged(const Bundle& bundle, const PlannedStep& step,
                                   const std::vector<std::unique_ptr<Engine>>& single,
                                   const VerifiedFiles& files, const RuntimeOptions& options) {
  if (step.models.size() < 2) return nullptr;
  try {
    return load_merged(bundle, step, single, files, options);
  } catch (const Error& error) {
    log(LogLevel::kInfo, "nodes " + step.model.name + " run one by one: " + error.what());
    return nullptr;
  }
}

// Plans, and loads an engine for every step. If nodes of a step cannot be merged, the single nodes
// replace them, in the same order.
void load_steps(LoadedBundle& loaded, const NodeGroups& wanted, const VerifiedFiles& files,
                const RuntimeOptions& options) {
  const Bundle& bundle = loaded.bundle;
  const Plan plan = make_plan(bundle, wanted);
  NodeGroups steps;
  for (const PlannedStep& step : plan.steps) {
    std::vector<std::unique_ptr<Engine>> single;
    for (std::size_t model : step.models) {
      single.push_back(load_node(bundle, bundle.models[model], files, options));
    }
    if (std::unique_ptr<Engine> merged = try_merged(bundle, step, single, files, options)) {
      steps.push_back(step.models);
      loaded.engines.push_back(std::move(merged));
      continue;
    }
    for (std::size_t i = 0; i < single.size(); ++i) {
      steps.push_back({step.models[i]});
      loaded.engines.push_back(std::move(single[i]));
    }
  }
  loaded.plan = steps == wanted ? plan : make_plan(bundle, steps);
}

// Loads the steps, engines and initial values of one complete choice of merged nodes.
void load_with(LoadedBundle& loaded, const NodeGroups& steps, const VerifiedFiles& files,
               const RuntimeOptions& options) {
  loaded.engines.clear();
  if (loaded.cannot_run.empty()) {
    load_steps(loaded, steps, files, options);
  } else {
    loaded.plan = make_plan(loaded.bundle, steps);
  }
  loaded.initial_values = initial_values_of(loaded.bundle, loaded.plan, files, options.bundle);
  loaded.held_values = held_values_of(loaded.bundle, loaded.plan, files, options.bundle);
}

// Returns why the merged nodes of a bundle without a statement are not proven; empty if they are.
std::string why_not_proven(const LoadedBundle& loaded, const RuntimeOptions& options) {
  try {
    return find_unrepeated_step(loaded, options);
  } catch (const Error& error) {
    return error.what();
  }
}

bool has_merged(const Plan& plan) {
  return std::ranges::any_of(plan.steps,
                             [](const PlannedStep& step) { return step.models.size() > 1; });
}

// Merges the nodes that the bundle states, B43. If it states nothing, its golden ticks decide.
void load_steps_of(LoadedBundle& loaded, const VerifiedFiles& files,
                   const RuntimeOptions& options) {
  const Bundle& bundle = loaded.bundle;
  const bool merges = options.merge == Merge::kAuto && loaded.cannot_run.empty();
  if (merges && !bundle.pipeline.merged && bundle.pipeline.golden) {
    load_with(loaded, propose_steps(bundle, options), files, options);
    if (!has_merged(loaded.plan)) return;
    const std::string why = why_not_proven(loaded, options);
    if (why.empty()) return;
    log(LogLevel::kInfo,
        "nodes run one by one: the bundle does not state which nodes are merged, "
        "and its golden ticks do not prove it: " +
            why);
  }
  const Wiring wiring(bundle);
  load_with(loaded, merges ? stated_steps(bundle, options) : order_groups(wiring, {}), files,
            options);
}

// Loading leaves more freed memory than the weights need, and the C library keeps it for later use.
// A robot's process does not need it later, so it is returned to the system.
void return_freed_memory(const VerifiedFiles& files) {
  constexpr std::size_t kWorthIt = std::size_t{1} << 20;
#ifdef __GLIBC__
  if (files.byte_size() >= kWorthIt) malloc_trim(0);
#endif
}

// One complete version of a bundle: its files are those that its YAML named when it was read.
LoadedBundle load_version(Bundle bundle, const RuntimeOptions& options) {
  LoadedBundle loaded;
  loaded.bundle = std::move(bundle);
  {
    const VerifiedFiles files(loaded.bundle, loaded.bundle.file.parent_path(), options.bundle);
    check_node_names(loaded.bundle, options);
    loaded.cannot_run = find_node_without_model(loaded.bundle);
    load_steps_of(loaded, files, options);
    files.require_unchanged();
    return_freed_memory(files);
  }
  return loaded;
}

}  // namespace

void set_initial_values(NodeExecutor& nodes, const LoadedBundle& loaded) {
  const Bundle& bundle = loaded.bundle;
  for (const Wiring::Connection& wire : nodes.wiring().connections()) {
    if (!wire.last_tick) continue;
    const std::string name = to_string(input_ref(bundle, wire.target));
    nodes.set_initial(wire.target, loaded.initial_values.at(name).view());
  }
  for (std::size_t i = 0; i < loaded.held_values.size(); ++i) {
    const std::string& name = loaded.plan.values[loaded.plan.held_outputs[i].value].name;
    for (std::size_t node = 0; node < bundle.models.size(); ++node) {
      for (std::size_t port = 0; port < bundle.models[node].outputs.size(); ++port) {
        if (to_string(output_ref(bundle, {node, port})) != name) continue;
        nodes.set_held({node, port}, loaded.held_values[i].view());
      }
    }
  }
}

std::vector<std::string> describe(const LoadedBundle& loaded) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < loaded.plan.steps.size(); ++i) {
    const Model& model = loaded.plan.steps[i].model;
    const bool has_engine = i < loaded.engines.size();  // no engine if one node has no model
    lines.push_back(model.name + ": " +
                    (has_engine   ? loaded.engines[i]->description()
                     : model.file ? model.backend.value_or("a") + " model, not loaded"
                                  : "no model"));
  }
  return lines;
}

TensorMap initial_values_of(const Bundle& bundle, const Plan& plan, const VerifiedFiles& files,
                            const BundleOptions& options) {
  TensorMap values;
  for (const std::string& name : plan.feedback_inputs) {
    const Port& port = *bundle.find_input(*parse_port_ref(name));
    values.emplace(name, Tensor(port.dtype, port.shape));
  }
  const std::optional<FileEntry>& file = bundle.pipeline.initial_values;
  const SafeTensors stored =
      read_initial_values(bundle, file ? &files.at(file->path) : nullptr, options);
  for (const NamedTensorView& entry : stored.tensors()) {
    const auto target = values.find(entry.name);
    if (target != values.end()) target->second = Tensor(entry.tensor);
  }
  return values;
}

std::vector<Tensor> held_values_of(const Bundle& bundle, const Plan& plan,
                                   const VerifiedFiles& files, const BundleOptions& options) {
  std::vector<Tensor> values;
  const std::optional<FileEntry>& file = bundle.pipeline.initial_values;
  const bool needed = file && !plan.held_outputs.empty();
  const SafeTensors stored =
      needed ? read_initial_values(bundle, &files.at(file->path), options) : SafeTensors();
  for (const HeldOutput& held : plan.held_outputs) {
    const PlannedValue& value = plan.values[held.value];
    Tensor& initial = values.emplace_back(value.dtype, value.shape);
    for (const std::string& reader : held.readers) {
      if (const ConstTensorView* const own = stored.find(reader)) initial = Tensor(*own);
    }
  }
  return values;
}

const EngineOptions& engine_options(const RuntimeOptions& options, const std::string& node) {
  const auto own = options.nodes.find(node);
  return own != options.nodes.end() ? own->second : options.engine;
}

std::string name_in_model(const Model& model, const FileEntry& entry) {
  const std::filesystem::path path(entry.path);
  const std::filesystem::path folder =
      model.file ? std::filesystem::path(model.file->path).parent_path() : "";
  return (folder.empty() ? path.lexically_normal() : path.lexically_relative(folder)).string();
}

ModelFile file_of(const Bundle& bundle, const Model& model, const VerifiedFiles& files,
                  const RuntimeOptions& options) {
  const FileBytes& own = files.at(model.file->path);
  ModelFile file{.path = own.path(),
                 .bytes = own.bytes(),
                 .trust = options.bundle.trust,
                 .allow_native = options.bundle.allow_native,
                 .native_record = native_record_file(bundle.file)};
  for (const FileEntry& entry : model.external_data) {
    file.external_data.emplace_back(name_in_model(model, entry), files.at(entry.path).bytes());
  }
  return file;
}

std::unique_ptr<Engine> load_node(const Bundle& bundle, const Model& model,
                                  const VerifiedFiles& files, const RuntimeOptions& options) {
  try {
    return options.engines.load(model, file_of(bundle, model, files, options),
                                engine_options(options, model.name));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kValue) throw;  // not a fault of the bundle
    const FieldPath field = {"models", model.name, "parameters", "model_path"};
    throw error.behind(locate_field(bundle.file, field));
  }
}

LoadedBundle load_bundle(const std::filesystem::path& yaml, const RuntimeOptions& options) {
  check_options(options);
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    const Bundle bundle = read_bundle(yaml, options.bundle);
    check_backends(bundle, options.engines);
    try {
      return load_version(bundle, options);
    } catch (const Error& error) {
      // Another export may have replaced the one whose YAML was read.
      if (read_bundle(yaml, options.bundle) == bundle) throw;
      require(attempt < kAttempts, error.code(),
              error.text() + " (the bundle was replaced " + std::to_string(kAttempts) +
                  " times while it was being loaded: load it again)");
    }
  }
}

}  // namespace leapp
