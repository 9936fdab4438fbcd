// The readers of the formats, one source file each. All throw LP822, LP823 and LP824 as described
// in import.h. They add their assumptions and conversions to Deployment::notes.
#pragma once

#include <filesystem>
#include <string>

#include "bundle/yaml_tree.h"
#include "import/deployment.h"
#include "import/draft.h"
#include "import/fields.h"
#include "import/policy_model.h"

namespace leapp::importing {

/// Returns whether the metadata is that of mjlab or BeyondMimic: comma-separated lists, mostly with
/// the same keys.
bool is_mjlab(const Fields& fields);
Deployment read_mjlab(const Fields& fields, const PolicyModel& policy);

/// Returns whether the metadata is that of holosoma: JSON without the observation, which settings
/// must describe.
bool is_holosoma(const Fields& fields);
Deployment read_holosoma(const Fields& fields, const PolicyModel& policy);

/// Returns whether the file is unitree_rl_lab's deploy.yaml.
bool is_unitree(const YamlNode& root);
Deployment read_unitree(const YamlNode& root, const Fields& settings, const PolicyModel& policy);

/// Returns whether the file is rl_sar's config.yaml, with the base.yaml of the parent directory if
/// there is one.
bool is_rl_sar(const YamlNode& root);
Deployment read_rl_sar(const YamlNode& root, const std::filesystem::path& file,
                       const Fields& settings, const PolicyModel& policy);

/// Returns whether the metadata is that of Exploy. Its models read sensor values and output
/// targets, so no computation is added: the draft is the whole bundle, and remarks are added to
/// `notes`.
bool is_exploy(const Fields& fields);
Draft draft_exploy(const Fields& fields, const PolicyModel& policy,
                   std::vector<std::string>& notes);

}  // namespace leapp::importing
