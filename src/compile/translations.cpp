#include "compile/translations.h"

#include <exception>
#include <string>

#include "base/check.h"
#include "base/log.h"
#include "bundle/verified_files.h"
#include "rehearse/model_run.h"
#include "translate/archive.h"
#include "translate/translation.h"

namespace leapp::compile {
namespace {

using rehearse::ExportedNode;
using rehearse::RolloutSample;

void require_agreement(const ExportedNode& node, const std::vector<RolloutSample>& samples,
                       Engine& engine, const Tolerance& tolerance) {
  for (const RolloutSample& sample : samples) {
    const rehearse::Tensors outputs = rehearse::run_model(engine, node.model, sample.inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Tolerance own = tolerance_for(node.output_precisions, i, tolerance);
      require(rehearse::agree(sample.outputs[i], outputs[i], own), Code::kNotTranslated,
              "in ONNX Runtime, its output '" + node.model.outputs[i].name + "' differs in pass " +
                  std::to_string(sample.pass + 1));
    }
  }
}

// If the translation is left out, throws an Error with the reason.
void add_translation(ExportedNode& node, const std::filesystem::path& file,
                     const std::vector<RolloutSample>& samples, const Tolerance& tolerance,
                     std::unique_ptr<Engine>& engine) {
  require(node.ours, Code::kNotTranslated, "its model is your own file, which stays unchanged");
  require(!samples.empty(), Code::kNotTranslated, "no values of it were compared");
  translate::Translation translation = translate::translate(node.model, file, samples[0].inputs);
  require_agreement(node, samples, *translation.engine, tolerance);
  translate::add_translation(file, translation.onnx);
  node.model.file = entry_of(file);
  engine = std::move(translation.engine);
}

}  // namespace

void add_translations(std::vector<ExportedNode>& nodes, const std::filesystem::path& folder,
                      const Tolerance& tolerance, const Checkpoint& checkpoint,
                      rehearse::Rollout& rollout, Bundle& bundle) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ExportedNode& node = nodes[i];
    if (node.model.backend != "jit" || !node.model.file || !rollout.outcomes[i].passed) continue;
    checkpoint();
    TranslationOutcome outcome;
    try {
      add_translation(node, folder / node.model.file->path, rollout.samples[i], tolerance,
                      rollout.engines[i]);
      bundle.models[i].file = node.model.file;
    } catch (const std::exception& error) {
      outcome.left_out = error.what();
      log(LogLevel::kInfo, "node '" + node.model.name +
                               "' will run in libtorch, as TorchScript: " + outcome.left_out);
    }
    rollout.outcomes[i].translation = std::move(outcome);
  }
}

}  // namespace leapp::compile
