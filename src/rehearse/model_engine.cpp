#include "rehearse/model_engine.h"

#include "build/compiled_model.h"
#include "build/source_compiler.h"
#include "runtime/engines/in_place.h"
#include "state/names.h"

namespace leapp::rehearse {
namespace {

// For larger exports, weights are used from the files.
constexpr std::uintmax_t kManyWeights = std::uintmax_t{64} << 20;

}  // namespace

std::string why_not_run(const Model& model, bool has_external) {
  if (model.backend == "pt2" && !has_external) {
    return "it is a torch.export program, which only Python can run";
  }
  if (model.backend == "cpp" && find_compiler().empty()) {
    return "it is C++, but there is no compiler. Install one ('apt-get install g++'), or name it "
           "with CXX";
  }
  return {};
}

bool have_many_weights(const std::vector<ExportedNode>& nodes,
                       const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  const auto add = [&](const FileEntry& file) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(folder / file.path, missing);
    if (!missing) bytes += size;
  };
  for (const ExportedNode& node : nodes) {
    if (node.model.file) add(*node.model.file);
    for (const FileEntry& file : node.model.external_data) add(file);
  }
  return bytes >= kManyWeights;
}

std::unique_ptr<Engine> engine_of(const ExportedNode& node, const std::filesystem::path& file,
                                  bool in_place, Trust trust) {
  if (node.model.backend == "cpp") return compile_cpp_model(node.model, file);
  if (in_place && node.ours) return load_engine_in_place(node.model, file, trust);
  return load_engine(node.model, file, {}, trust);  // the user's own, or small
}

Diagnostic needs_trust(const std::string& node, const std::filesystem::path& folder,
                       const Error& refusal) {
  std::string text = refusal.text();
  const std::string prefix = folder.string() + "/";  // a temporary directory
  if (const std::size_t at = text.find(prefix); at != text.npos) text.erase(at, prefix.size());
  return state::warning(Code::kNotTrusted, {}, node, std::move(text));
}

}  // namespace leapp::rehearse
