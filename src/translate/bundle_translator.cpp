// The translation of an existing bundle: leapp/tools/translate.h.
#include "merge/bundle_translator.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "base/check.h"
#include "base/find.h"
#include "bundle/former_export.h"
#include "bundle/golden_traces.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "interop/convert.h"
#include "runtime/merge_proof.h"
#include "translate/archive.h"
#include "translate/sample_run.h"
#include "translate/translation.h"

namespace leapp::translate {
namespace {

namespace fs = std::filesystem;

fs::path parent_of(const fs::path& file) {
  std::error_code ignored;  // the file was read, so the working directory exists
  return fs::absolute(file, ignored).parent_path();
}

// A translation depends on the types and shapes of these values only.
std::vector<at::Tensor> examples_of(const Model& node) {
  std::vector<at::Tensor> examples;
  for (const Port& port : node.inputs) {
    examples.push_back(at::zeros(port.shape, interop::to_scalar_type(port.dtype)));
  }
  return examples;
}

class BundleUpdate {
 public:
  BundleUpdate(const fs::path& yaml, const BundleOptions& options)
      : options_(options),
        bundle_(read_bundle(yaml, options)),
        folder_(parent_of(bundle_.file)),
        run_(run_samples(yaml, options, kMockSamples)) {
    if (bundle_.pipeline.golden)
      golden_.emplace(bundle_, read_golden_file(bundle_, options), options);
  }

  BundleTranslation run() && {
    require(!run_.ticks.empty(), Code::kNotTranslated,
            bundle_.file.string() +
                " fails on made-up inputs, and golden ticks with real ones are "
                "missing, so nothing can be compared: " +
                run_.ended);
    StagedDirectory staged(folder_);
    copy_files(staged.path());
    for (std::size_t i = 0; i < bundle_.models.size(); ++i) translate_node(i, staged.path());
    if (done_.changed || !bundle_.pipeline.merged) state_merged(staged.path());
    if (done_.changed) {
      write_bytes(staged.path() / bundle_.file.filename(), to_yaml(bundle_));
      staged.commit();
    }
    done_.merged = bundle_.pipeline.merged;
    return std::move(done_);
  }

 private:
  void copy_files(const fs::path& to) const {
    const std::string name = bundle_.file.stem().string();
    std::set<fs::path> files = list_named_files(folder_, name);
    files.insert({name + ".png", name + ".svg"});
    for (const fs::path& file : files) {
      std::error_code error;
      if (!fs::exists(folder_ / file, error)) continue;
      fs::create_directories((to / file).parent_path(), error);
      fs::copy_file(folder_ / file, to / file, error);
      require(!error, Code::kIo,
              (folder_ / file).string() + " cannot be copied: " + error.message());
    }
  }

  void translate_node(std::size_t index, const fs::path& staged) {
    Model& node = bundle_.models[index];
    if (node.backend != "jit" || has_translation(staged / node.file->path)) return;
    NodeTranslation& outcome = done_.nodes.emplace_back(NodeTranslation{node.name, {}});
    try {
      require(has_run(index), Code::kNotTranslated, "it did not run in any tick");
      Translation made = translate(node, staged / node.file->path, examples_of(node));
      const std::string difference =
          find_difference(bundle_, run_, index, std::move(made.engine), tolerances_of(node));
      require(difference.empty(), Code::kNotTranslated, "in ONNX Runtime, " + difference);
      add_translation(staged / node.file->path, made.onnx);
      const FileEntry written = entry_of(staged / node.file->path);
      node.file->md5sum = written.md5sum;
      node.file->sha256sum = written.sha256sum;
      done_.changed = true;
    } catch (const std::exception& error) {  // also libtorch's own
      const Error* const ours = dynamic_cast<const Error*>(&error);
      if (ours != nullptr && ours->code() == Code::kIo) throw;
      outcome.left_out = error.what();
    }
  }

  bool has_run(std::size_t node) const {
    return std::ranges::any_of(run_.ticks,
                               [&](const auto& tick) { return tick[node].has_value(); });
  }

  std::vector<Tolerance> tolerances_of(const Model& node) const {
    std::vector<Tolerance> tolerances(node.outputs.size());
    if (!golden_) return tolerances;
    for (std::size_t i = 0; i < tolerances.size(); ++i) {
      tolerances[i] = golden_->tolerance({node.name, node.outputs[i].name});
    }
    return tolerances;
  }

  void state_merged(const fs::path& staged) {
    RuntimeOptions options;
    options.bundle = options_;
    const auto former = std::exchange(bundle_.pipeline.merged, std::nullopt);
    std::vector<std::size_t> single;
    for (std::size_t i = 0; i < bundle_.models.size(); ++i) {
      const NodeTranslation* const own =
          find_in(done_.nodes, bundle_.models[i].name, &NodeTranslation::node);
      if (own != nullptr && !own->left_out.empty()) single.push_back(i);
    }
    const auto samples_of = [&](const std::vector<std::size_t>& nodes) { return joined(nodes); };
    bundle_.pipeline.merged = decide_merged(bundle_, staged, options, single, samples_of);
    done_.changed = done_.changed || bundle_.pipeline.merged != former;
  }

  // Returns the ticks in which all of these nodes ran.
  MergeSamples joined(const std::vector<std::size_t>& nodes) const {
    std::vector<std::size_t> ticks;
    for (std::size_t tick = 0; tick < run_.ticks.size(); ++tick) {
      const auto ran = [&](std::size_t node) { return run_.ticks[tick][node].has_value(); };
      if (std::ranges::all_of(nodes, ran)) ticks.push_back(tick);
    }
    const std::size_t count = ticks.size();
    return {count, [this, ticks = std::move(ticks)](std::size_t sample, const PortRef& input) {
              const std::size_t node = *index_in(bundle_.models, input.node, &Model::name);
              const std::size_t port =
                  *index_in(bundle_.models[node].inputs, input.port, &Port::name);
              return run_.ticks[ticks[sample]][node]->inputs[port];
            }};
  }

  const BundleOptions& options_;
  Bundle bundle_;
  fs::path folder_;
  SampleRun run_;
  std::optional<GoldenTraces> golden_;
  BundleTranslation done_;
};

BundleTranslation update(const fs::path& yaml, const BundleOptions& options) {
  return BundleUpdate(yaml, options).run();
}

}  // namespace
}  // namespace leapp::translate

const leapp::BundleTranslator* leapp_bundle_translator() {
  static constexpr leapp::BundleTranslator kTranslator{LEAPP_VERSION, leapp::translate::update};
  return &kTranslator;
}
