#include <string>

#include "base/check.h"
#include "base/cpp_symbol.h"
#include "build/native_text.h"
#include "build/noise_text.h"
#include "build/policy_text.h"
#include "bundle/initial_values.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "leapp/tools/build.h"

namespace leapp {
namespace {

std::string_view text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

std::filesystem::path write_policy_source(const std::filesystem::path& yaml,
                                          const std::filesystem::path& folder,
                                          const BundleOptions& options) {
  const Bundle bundle = read_bundle(yaml, options);
  for (const Model& model : bundle.models) {
    require(
        model.backend == "cpp" && model.file, Code::kNothingToBuild,
        yaml.string() + ": node '" + model.name + "' is not C++, but '" +
            model.backend.value_or("no model") +
            "', so the policy cannot be written as C++. Export this node with export_with=\"cpp\"");
  }
  const VerifiedFiles files(bundle, yaml.parent_path(), options);
  const auto& values = bundle.pipeline.initial_values;
  const SafeTensors initial_values =
      read_initial_values(bundle, values ? &files.at(values->path) : nullptr, options);
  const PolicyText text(bundle, initial_values);
  std::error_code ignored;  // the first file with an error is reported
  std::filesystem::create_directories(folder, ignored);
  for (const Model& model : bundle.models) {
    const std::string symbol = cpp_symbol(model.name);
    write_bytes(folder / (symbol + ".cpp"), text_of(files.at(model.file->path)));
    if (model.external_data.empty()) continue;
    write_bytes(folder / (symbol + ".weights"),
                text_of(files.at(model.external_data.front().path)));
  }
  if (const std::string bytes = text.initial_bytes(); !bytes.empty()) {
    write_bytes(folder / (text.name() + "_initial.bin"), bytes);
  }
  const std::filesystem::path header = folder / (text.name() + "_policy.h");
  write_bytes(header, text.header());
  write_bytes(folder / (text.name() + "_policy.cpp"), text.policy());
  write_bytes(folder / (text.name() + "_nodes.h"), text.nodes_header());
  write_bytes(folder / (text.name() + "_nodes.cpp"), text.nodes());
  if (text.has_noise()) write_bytes(folder / (text.name() + "_noise.h"), kNoiseGenerator);
  return header;
}

}  // namespace leapp
