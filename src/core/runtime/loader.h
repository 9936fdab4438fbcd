// From a YAML file to everything that a session needs: the loading part of an InferenceManager.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bundle/verified_files.h"
#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/inference_manager.h"
#include "leapp/visibility.h"
#include "runtime/engines/node_executor.h"
#include "runtime/plan.h"

namespace leapp {

struct LoadedBundle {
  Bundle bundle;
  Plan plan;
  std::vector<std::unique_ptr<Engine>> engines;  ///< one per step of the plan
  TensorMap initial_values;                      ///< of every feedback input; zeros by default
  std::vector<Tensor> held_values;               ///< of every held output of the plan, likewise
  std::string cannot_run;  ///< why there are no engines: a node has no model. Empty: it can run
};

/// Reads, verifies, plans and loads. Throws Error.
LEAPP_EXPORT LoadedBundle load_bundle(const std::filesystem::path& yaml,
                                      const RuntimeOptions& options);

/// Sets the values that feedback inputs and held outputs have before the first tick, in an executor
/// of the same bundle.
LEAPP_EXPORT void set_initial_values(NodeExecutor& nodes, const LoadedBundle& loaded);

/// Returns one line of text per step: which model runs where.
std::vector<std::string> describe(const LoadedBundle& loaded);

/// Returns the initial values of the plan's held outputs, in its order: what the bundle has for an
/// input that reads them, else zeros.
std::vector<Tensor> held_values_of(const Bundle& bundle, const Plan& plan,
                                   const VerifiedFiles& files, const BundleOptions& options);

/// Returns the initial value of every feedback input: what the bundle has, else zeros.
LEAPP_EXPORT TensorMap initial_values_of(const Bundle& bundle, const Plan& plan,
                                         const VerifiedFiles& files, const BundleOptions& options);

/// Returns the name of a file inside a model. The YAML names files relative to its own directory, a
/// model relative to the model's.
std::string name_in_model(const Model& model, const FileEntry& entry);

/// Returns a model's file for its engine. `files` must outlive it.
LEAPP_EXPORT ModelFile file_of(const Bundle& bundle, const Model& model, const VerifiedFiles& files,
                               const RuntimeOptions& options);

/// Returns the engine options of a node.
const EngineOptions& engine_options(const RuntimeOptions& options, const std::string& node);

/// Loads the engine of one node of the bundle. Throws Error.
LEAPP_EXPORT std::unique_ptr<Engine> load_node(const Bundle& bundle, const Model& model,
                                               const VerifiedFiles& files,
                                               const RuntimeOptions& options);

}  // namespace leapp
