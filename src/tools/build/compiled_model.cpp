#include "build/compiled_model.h"

#include "base/temporary_folder.h"
#include "build/source_compiler.h"
#include "bundle/verified_files.h"
#include "runtime/engines/cpp/cpp_engine.h"

namespace leapp {

std::unique_ptr<Engine> compile_cpp_model(const Model& model, const std::filesystem::path& file) {
  const TemporaryFolder folder;
  const std::filesystem::path library = folder.path() / "model.so";
  compile_sources({file}, library, {.flags = {"-O1"}});
  if (model.external_data.empty()) return load_cpp_library(model, library, {});
  const FileBytes weights(file.parent_path() / model.external_data.front().path);
  return load_cpp_library(model, library, weights.bytes());
}

}  // namespace leapp
