#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/cpp_symbol.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "build/native_text.h"
#include "build/source_compiler.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "leapp/tools/build.h"
#include "runtime/engines/cpp/native_record.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

std::vector<const Model*> native_models(const Bundle& bundle) {
  std::vector<const Model*> models;
  for (const Model& model : bundle.models) {
    if (model.backend == "cpp" && model.file) models.push_back(&model);
  }
  require(!models.empty(), Code::kNothingToBuild,
          bundle.file.string() +
              ": no node of it is C++, so there is nothing to compile; export "
              "nodes with export_with=\"cpp\"");
  return models;
}

// All sources in one file, under names of the variant.
void write_variant(const std::vector<const Model*>& models, const VerifiedFiles& files,
                   const NativeVariant& variant, const fs::path& file) {
  std::string text;
  for (const Model* model : models) {
    const std::string symbol = cpp_symbol(model->name);
    const std::string name = symbol + ".cpp";
    const auto bytes = files.at(model->file->path).bytes();
    write_bytes(file.parent_path() / name,
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    text += "#define " + symbol + " " + symbol + "_" + variant.name + "\n#include \"" + name +
            "\"\n#undef " + symbol + "\n";
  }
  write_bytes(file, text);
}

// Generates one function per node, which returns the table of the best variant.
std::string chooser_text(const std::vector<const Model*>& models,
                         const std::vector<NativeVariant>& variants) {
  std::string text = "struct leapp_cpp_model;\n";
  for (const Model* model : models) {
    const std::string symbol = cpp_symbol(model->name);
    const std::string type = "const leapp_cpp_model* ";
    for (const NativeVariant& variant : variants) {
      text += "extern \"C\" " + type + symbol + "_" + variant.name + "();\n";
    }
    text += "extern \"C\" __attribute__((visibility(\"default\"))) " + type + symbol + "() {\n";
    for (auto variant = variants.rbegin(); variant != variants.rend(); ++variant) {
      text += variant->condition.empty() ? "  " : "  if (" + variant->condition + ") ";
      text += "return " + symbol + "_" + variant->name + "();\n";
    }
    text += "}\n";
  }
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Compiles each variant separately and links them, the simplest first: if several variants contain
// the same inline function of the standard library, the linker uses the first.
fs::path compile_variants(const std::vector<const Model*>& models, const VerifiedFiles& files,
                          const std::string& compiler, const std::vector<std::string>& flags,
                          const std::vector<NativeVariant>& variants, const fs::path& folder) {
  std::vector<fs::path> objects;
  for (const NativeVariant& variant : variants) {
    const fs::path source = folder / (variant.name + "_variant.cpp");
    write_variant(models, files, variant, source);
    objects.push_back(folder / (variant.name + ".o"));
    std::vector<std::string> words = native_flags();
    words.insert(words.end(), variant.flags.begin(), variant.flags.end());
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back("-c");
    compile_sources({source}, objects.back(), {.compiler = compiler, .flags = words});
  }
  const fs::path chooser = folder / "chooser.cpp";
  write_bytes(chooser, chooser_text(models, variants));
  objects.insert(objects.begin(), chooser);
  std::vector<std::string> words = {"-O2", "-Wl,--as-needed"};
  words.insert(words.end(), flags.begin(), flags.end());
  compile_sources(objects, folder / "library.so", {.compiler = compiler, .flags = words});
  return folder / "library.so";
}

}  // namespace

NativeBuild build_native(const fs::path& yaml, const NativeOptions& options) {
  const Bundle bundle = read_bundle(yaml, options.bundle);
  const std::vector<const Model*> models = native_models(bundle);
  const VerifiedFiles files(bundle, yaml.parent_path(), options.bundle);
  const std::string compiler = options.compiler.empty() ? find_compiler() : options.compiler;

  NativeRecord record;
  record.target = first_line(ask_compiler(compiler, "-dumpmachine"));
  record.compiler = first_line(ask_compiler(compiler, "--version"));
  record.flags = options.flags;
  for (const Model* model : models) record.nodes[model->name] = native_checksums(*model);

  const fs::path target = options.folder.empty() ? yaml.parent_path() : options.folder;
  const fs::path record_file = target / native_record_file(yaml.filename());
  const TemporaryFolder folder(target);  // so that a rename suffices later
  const fs::path library =
      compile_variants(models, files, compiler, options.flags,
                       native_variants(record.target, options.flags), folder.path());
  record.library = fs::path(record_file.filename()).replace_extension(".so").string();
  record.sha256 = sha256_file(library);
  write_bytes(folder.path() / "record.json", to_json(record));
  std::error_code failed;
  fs::rename(library, target / record.library, failed);
  if (!failed) fs::rename(folder.path() / "record.json", record_file, failed);
  require(!failed, Code::kIo,
          target.string() +
              ": the compiled library could not be moved to its place: " + failed.message());

  NativeBuild built = {target / record.library, record_file, record.compiler, record.target, {}};
  for (const Model* model : models) built.nodes.push_back(model->name);
  return built;
}

}  // namespace leapp
