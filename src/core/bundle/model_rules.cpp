#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/log.h"
#include "base/utf8.h"
#include "bundle/contract_rules.h"
#include "bundle/noise_port.h"
#include "bundle/port_rules.h"
#include "bundle/rules.h"

namespace leapp {
namespace {

class ModelChecker {
 public:
  ModelChecker(const BundleOptions& options, MeaningPolicy policy, const RuleReporter& reporter)
      : options_(options), policy_(policy), reporter_(reporter) {}

  void check_name(const std::string& name, std::unordered_set<std::string_view>& seen) const {
    const FieldPath path = {"models", name};
    if (const std::string fault = find_node_name_fault(name); !fault.empty()) {  // B5
      reporter_.fail(rule(5), path, fault);
    }
    if (!seen.insert(name).second) reporter_.fail(rule(5), path, "two models have this name");
  }

  void check(const Model& model) const {
    check_ports(model, "inputs", model.inputs);
    check_ports(model, "outputs", model.outputs);
    if (model.backend && *model.backend != "jit" && *model.backend != "onnx" &&
        *model.backend != "pt2" && *model.backend != "cpp") {  // B12
      reporter_.fail(rule(12), parameter(model, "backend"),
                     "Unsupported backend " + quote_for_message(*model.backend) +
                         "; expected jit, onnx, pt2, cpp or null");
    }
    if (model.file) {
      check_file(*model.file, parameter(model, "model_path"), parameter(model, "md5sum"),
                 parameter(model, "sha256sum"));
    }
    for (std::size_t i = 0; i < model.external_data.size(); ++i) {
      const auto field = [&](const char* key) {
        FieldPath path = parameter(model, "external_data");
        path.emplace_back(i);
        path.emplace_back(key);
        return path;
      };
      check_file(model.external_data[i], field("path"), field("md5sum"), field("sha256sum"));
    }
  }

  void check_pipeline_file(const FileEntry& file, const std::string& key) const {
    if (const std::string fault = find_path_fault(file.path, options_); !fault.empty()) {
      reporter_.fail(rule(14), {"pipeline", key}, fault);
    }
    check_digest(file.md5sum, 32, {"pipeline", key + "_md5sum"});
    check_digest(file.sha256sum, 64, {"pipeline", key + "_sha256sum"});
  }

  void check_golden(const FileEntry& file) const {
    check_pipeline_file(file, "golden");
    if (!file.sha256sum.empty()) return;
    reporter_.fail(rule(30), {"pipeline", "golden"},
                   "golden traces must state their checksum, golden_sha256sum");
  }

  void check_configs(const Bundle& bundle) const {
    if (const auto fault = find_metadata_fault(bundle.pipeline.configs); !fault.empty()) {
      reporter_.fail(rule(11), {"pipeline", "configs"}, fault);
    }
    if (const auto fault = find_contract_fault(bundle)) {
      report_meaning(fault->code, {"pipeline", "configs", fault->key}, fault->what);
    }
  }

 private:
  static FieldPath parameter(const Model& model, const char* key) {
    return {"models", model.name, "parameters", key};
  }

  void check_ports(const Model& model, const char* side, const std::vector<Port>& ports) const {
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const Port& port = ports[i];
      const auto fail = [&](Code code, const char* key, const std::string& fault) {
        reporter_.fail(code, {"models", model.name, side, i, key}, fault);
      };
      if (const auto fault = find_port_name_fault(port.name); !fault.empty()) {
        fail(rule(5), "name", fault);
      }
      if (!seen.insert(port.name).second) {  // B7
        fail(rule(7), "name",
             "Duplicate i/o name " + quote_for_message(port.name) + " among the " + side + " of " +
                 quote_for_message(model.name));
      }
      if (const auto fault = find_shape_fault(port.shape, port.dtype); !fault.empty()) {
        fail(rule(8), "shape", fault);
      }
      if (const auto fault = find_extra_fault(port.semantics.extra); !fault.empty()) {
        fail(rule(11), "name", fault);
      }
      check_element_names(port, {"models", model.name, side, i, "element_names"});
      const bool is_input = &ports == &model.inputs;
      if (const auto fault = is_input ? find_noise_fault(port) : ""; !fault.empty()) {
        fail(rule(44), "noise", fault);
      }
      if (const auto fault =
              find_contract_fault(port, is_input ? PortSide::kInput : PortSide::kOutput)) {
        report_meaning(fault->code, {"models", model.name, side, i, fault->key}, fault->what);
      }
    }
  }

  void check_element_names(const Port& port, const FieldPath& path) const {
    if (!port.semantics.element_names) return;
    const std::string fault = find_element_names_fault(*port.semantics.element_names, port.shape);
    if (!fault.empty()) report_meaning(rule(10), path, fault);
  }

  void report_meaning(Code code, const FieldPath& path, const std::string& fault) const {
    if (policy_ == MeaningPolicy::kFail) reporter_.fail(code, path, fault);
    warn(code, reporter_.message(code, path, fault));
  }

  void check_file(const FileEntry& file, const FieldPath& path, const FieldPath& md5,
                  const FieldPath& sha256) const {
    if (const std::string fault = find_path_fault(file.path, options_); !fault.empty()) {
      reporter_.fail(rule(14), path, fault);
    }
    check_digest(file.md5sum, 32, md5);
    check_digest(file.sha256sum, 64, sha256);
    if (file.sha256sum.empty()) {  // B13
      reporter_.fail(
          rule(13), sha256,
          "a model file needs a checksum; add the one that `sha256sum " + file.path + "` prints");
    }
  }

  void check_digest(const std::string& digest, std::size_t length, const FieldPath& path) const {
    const bool is_hex = std::all_of(digest.begin(), digest.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
    if (!digest.empty() && (digest.size() != length || !is_hex)) {  // B13
      reporter_.fail(rule(13), path,
                     quote_for_message(digest) + " is not a checksum; expected " +
                         std::to_string(length) + " lower-case hexadecimal digits");
    }
  }

  const BundleOptions& options_;
  MeaningPolicy policy_;
  const RuleReporter& reporter_;
};

/// Returns a number of one to four digits, without sign, space or leading zero.
std::optional<int> find_small_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 4;
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text.empty() || text.size() > kMostDigits || (text.size() > 1 && text[0] == '0')) {
    return std::nullopt;
  }
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void check_config_version(const std::string& version, const RuleReporter& reporter) {
  const FieldPath path = {"system information", "leapp config version"};
  const std::size_t dot = std::min(version.find('.'), version.size());
  const std::optional<int> major = find_small_number(version.substr(0, dot));
  const std::optional<int> minor =
      dot < version.size() ? find_small_number(version.substr(dot + 1)) : std::nullopt;
  if (!major || !minor || *major < 1 || (*major == 1 && *minor < 1)) {  // B4
    reporter.fail(rule(4), path,
                  quote_for_message(version) +
                      " is not a config version; this library reads 1.1 to " +
                      std::string(kNewestConfigVersion));
  }
  if (*major > 1 || *minor > 4) {  // B4
    reporter.fail(rule(4), path,
                  "config version " + version + " is newer than this library, which reads up to " +
                      std::string(kNewestConfigVersion) + "; install a newer leapp");
  }
}

}  // namespace

std::string find_path_fault(const std::string& path, const BundleOptions& options) {  // B14
  if (path.empty()) return "a path must not be empty";
  if (path.find('\0') != std::string::npos || find_invalid_utf8(path) != std::string::npos) {
    return quote_for_message(path) + " is not a path";
  }
  const std::filesystem::path parts(path);
  if (parts.filename().empty() || parts.filename() == ".") {
    return quote_for_message(path) + " names a directory, not a file";
  }
  if (options.allow_outside_files) return {};
  const bool climbs = std::any_of(parts.begin(), parts.end(),
                                  [](const std::filesystem::path& part) { return part == ".."; });
  if (parts.is_absolute() || climbs) {
    return quote_for_message(path) +
           " is outside the bundle's directory. Move the file into it, or allow outside files if "
           "you trust this bundle";
  }
  return {};
}

void check_models(const Bundle& bundle, const BundleOptions& options, MeaningPolicy policy,
                  const RuleReporter& reporter) {
  check_config_version(bundle.system_information.config_version, reporter);
  const ModelChecker checker(options, policy, reporter);
  std::unordered_set<std::string_view> seen;
  for (const Model& model : bundle.models) checker.check_name(model.name, seen);
  for (const Model& model : bundle.models) checker.check(model);
  if (const auto& file = bundle.pipeline.initial_values) {
    checker.check_pipeline_file(*file, "initial_values");
  }
  if (bundle.pipeline.golden) checker.check_golden(*bundle.pipeline.golden);
  checker.check_configs(bundle);
}

}  // namespace leapp
