// The values of a pipeline's feedback inputs before its first tick.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "bundle/safetensors.h"
#include "bundle/verified_files.h"
#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Returns the tensors of the file that `bundle.pipeline.initial_values` names. Without a file it
/// returns none, and warns if there is feedback, which then starts as zeros. Names of the tensors
/// are "node/input". Throws Error(kValue), [B20], if a name is not an input of the bundle, dtype or
/// shape differ from the port's, or a feedback input is missing.
LEAPP_EXPORT SafeTensors read_initial_values(const Bundle& bundle, const FileBytes* file,
                                             const BundleOptions& options = {});

/// Writes such a file. Returns its entry for the bundle, with the last part of `path` as the path.
LEAPP_EXPORT FileEntry
write_initial_values(const std::filesystem::path& path,
                     const std::vector<std::pair<PortRef, ConstTensorView>>& values);

}  // namespace leapp
