#include "leapp/tools/import.h"

#include "base/check.h"
#include "import/assembly.h"
#include "import/formats.h"
#include "import/text_file.h"

namespace leapp {
namespace {

using namespace importing;

Deployment read_deploy_file(const std::filesystem::path& path, const Settings& settings,
                            const PolicyModel& policy) {
  const std::string file = path.string();
  const YamlNode root = parse_yaml(read_text(path), file);
  const Fields fields(file, {}, settings);
  Deployment deployment;
  if (is_unitree(root)) {
    deployment = read_unitree(root, fields, policy);
  } else if (is_rl_sar(root)) {
    deployment = read_rl_sar(root, path, fields, policy);
  } else {
    throw Error(Code::kNoDeployment,
                file +
                    ": this is neither unitree_rl_lab's deploy.yaml (it has no 'joint_ids_map') "
                    "nor rl_sar's config.yaml (it has no list 'observations')");
  }
  fields.check_settings();
  return deployment;
}

[[noreturn]] void fail_without_metadata(const std::string& file, const onnx::Model& model) {
  std::string keys;
  for (const auto& [key, value] : model.metadata) {
    keys += (keys.empty() ? "" : ", ") + key;
    if (keys.size() > 200) break;
  }
  throw Error(
      Code::kNoDeployment,
      file + ": the model carries no metadata of mjlab, BeyondMimic, holosoma or Exploy (" +
          (keys.empty() ? "it has no metadata" : "its keys are: " + keys) +
          "). Give its deployment file (--deploy deploy.yaml), or export the policy with metadata");
}

// The bundle also contains a file policy.onnx.
void check_target(const std::filesystem::path& model, const std::filesystem::path& target) {
  std::error_code ignored;  // a target that does not exist yet
  const auto folder = std::filesystem::absolute(model, ignored).parent_path();
  require(!std::filesystem::equivalent(target, folder, ignored), Code::kWrongValue,
          "cannot import " + model.string() + " into " + target.string() +
              ", the directory that contains it, because it might be overwritten. Choose a "
              "different directory");
}

}  // namespace

ImportedPolicy import_onnx(const std::filesystem::path& model, const std::filesystem::path& target,
                           const ImportOptions& options) {
  const PolicyModel policy = read_policy(model);
  check_target(model, target);
  ImportedPolicy imported;
  if (!options.deploy.empty()) {
    Deployment deployment = read_deploy_file(options.deploy, options.settings, policy);
    imported.bundle = assemble(deployment, policy).write(target);
    imported.format = std::move(deployment.format);
    imported.notes = std::move(deployment.notes);
    return imported;
  }
  const Fields fields(model.string(), policy.model.metadata, options.settings);
  if (is_exploy(fields)) {
    imported.format = "exploy";
    Draft draft = draft_exploy(fields, policy, imported.notes);
    fields.check_settings();
    imported.bundle = draft.write(target);
    return imported;
  }
  Deployment deployment;
  if (is_holosoma(fields)) {
    deployment = read_holosoma(fields, policy);
  } else if (is_mjlab(fields)) {
    deployment = read_mjlab(fields, policy);
  } else {
    fail_without_metadata(model.string(), policy.model);
  }
  fields.check_settings();
  imported.bundle = assemble(deployment, policy).write(target);
  imported.format = std::move(deployment.format);
  imported.notes = std::move(deployment.notes);
  return imported;
}

}  // namespace leapp
