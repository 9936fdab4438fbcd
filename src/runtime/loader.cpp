#include "runtime/loader.h"

#include <malloc.h>
#include <unistd.h>

#include "base/check.h"
#include "bundle/field_location.h"
#include "bundle/initial_values.h"
#include "runtime/merge.h"

namespace leapp {
namespace {

void check_engine_options(const EngineOptions& options, const std::string& whose) {
  require(options.threads >= 0, Code::kRuntimeOptions,
          whose + ": threads must be at least 1, or 0 to let the engine decide, not " +
              std::to_string(options.threads));
  if (options.affinity.empty()) return;
  const std::size_t beside =
      options.threads > 0 ? static_cast<std::size_t>(options.threads) - 1 : 0;
  require(options.threads == 0 || options.affinity.size() == beside, Code::kRuntimeOptions,
          whose + ": affinity names " + std::to_string(options.affinity.size()) +
              " processors; with threads = " + std::to_string(options.threads) +
              " it must name one for each thread beside the caller's: " + std::to_string(beside));
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
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

// The first node that has nothing to run, in words.
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

// Plans, and loads an engine for every step. Where merged nodes do not agree with the single ones,
// those take their place, in the same order.
void load_steps(LoadedBundle& loaded, const RuntimeOptions& options) {
  const Bundle& bundle = loaded.bundle;
  const std::vector<std::vector<std::size_t>> wanted = choose_steps(bundle, options);
  const Plan plan = make_plan(bundle, wanted);
  std::vector<std::vector<std::size_t>> steps;
  for (const PlannedStep& step : plan.steps) {
    std::vector<std::unique_ptr<Engine>> single;
    for (std::size_t model : step.models) {
      single.push_back(load_node(bundle, bundle.models[model], options));
    }
    std::unique_ptr<Engine> merged;
    if (step.models.size() > 1) merged = load_merged(bundle, step, single, options);
    if (merged) {
      steps.push_back(step.models);
      loaded.engines.push_back(std::move(merged));
      continue;
    }
    for (std::size_t i = 0; i < single.size(); ++i) {
      steps.push_back({step.models[i]});
      loaded.engines.push_back(std::move(single[i]));
    }
  }
  for (const std::unique_ptr<Engine>& engine : loaded.engines) engine->settle();
  loaded.plan = steps == wanted ? plan : make_plan(bundle, steps);
}

// The engines' own loading leaves more freed memory behind than the weights take, and the C library
// keeps it for later. A robot's process has no later: what was loaded is all there will be.
void return_freed_memory(const Bundle& bundle, const RuntimeOptions& options) {
  constexpr std::uintmax_t kWorthIt = std::uintmax_t{1} << 20;
  std::uintmax_t bytes = 0;
  for (const Model& model : bundle.models) {
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(
        resolve_file(bundle.file.parent_path(), model.file->path, options.bundle), ignored);
    if (!ignored) bytes += size;
  }
#ifdef __GLIBC__
  if (bytes >= kWorthIt) malloc_trim(0);
#endif
}

}  // namespace

TensorMap initial_values_of(const Bundle& bundle, const Plan& plan, const BundleOptions& options) {
  TensorMap values;
  for (const std::string& name : plan.feedback_inputs) {
    const Port& port = *bundle.find_input(*parse_port_ref(name));
    values.emplace(name, Tensor(port.dtype, port.shape));
  }
  const SafeTensors stored = read_initial_values(bundle, bundle.file.parent_path(), options);
  for (const NamedTensorView& entry : stored.tensors()) {
    const auto target = values.find(entry.name);
    if (target != values.end()) target->second = Tensor(entry.tensor);
  }
  return values;
}

const EngineOptions& engine_options(const RuntimeOptions& options, const std::string& node) {
  const auto own = options.nodes.find(node);
  return own != options.nodes.end() ? own->second : options.engine;
}

std::unique_ptr<Engine> load_node(const Bundle& bundle, const Model& model,
                                  const RuntimeOptions& options) {
  const std::filesystem::path file =
      resolve_file(bundle.file.parent_path(), model.file->path, options.bundle);
  try {
    return options.engines.load(model, file, engine_options(options, model.name));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kValue) throw;  // not the bundle's fault
    const FieldPath field = {"models", model.name, "parameters", "model_path"};
    throw error.behind(locate_field(bundle.file, field));
  }
}

LoadedBundle load_bundle(const std::filesystem::path& yaml, const RuntimeOptions& options) {
  check_options(options);
  LoadedBundle loaded;
  loaded.bundle = read_bundle(yaml, options.bundle);
  const Bundle& bundle = loaded.bundle;
  check_backends(bundle, options.engines);
  verify_files(bundle, options.bundle);
  check_node_names(bundle, options);

  loaded.cannot_run = find_node_without_model(bundle);
  if (loaded.cannot_run.empty()) {
    load_steps(loaded, options);
    return_freed_memory(bundle, options);
  } else {
    RuntimeOptions one_by_one;
    one_by_one.merge = Merge::kOff;
    loaded.plan = make_plan(bundle, choose_steps(bundle, one_by_one));
  }
  loaded.initial_values = initial_values_of(bundle, loaded.plan, options.bundle);
  return loaded;
}

}  // namespace leapp
