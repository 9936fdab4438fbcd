// The bundle: the files of an export, and the only interface between export and runtime.
//
// A bundle is a directory with one `{name}.yaml`, the model files that it names, and optionally a
// safetensors file with the initial values of its feedback inputs. docs/reference/bundle.md states
// the format; its rules (B1, B2, ..) are cited in error messages as "[B7]".
//
// The structs below are plain values that mirror the YAML; they own their members, and may be
// copied and shared between threads. No function in this header opens a model.
//
//   leapp::Bundle bundle = leapp::read_bundle("walker/walker.yaml");  // parsed and checked
//   leapp::verify_files(bundle);                                      // every checksum recomputed
//   for (std::size_t i : leapp::execution_order(bundle)) prepare(bundle.models[i]);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/dtype.h"
#include "leapp/metadata.h"
#include "leapp/semantics.h"
#include "leapp/visibility.h"

namespace leapp {

/// One named tensor that enters or leaves a model.
struct Port {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  Semantics semantics = {};

  bool operator==(const Port&) const = default;
};

/// A file of the bundle. `path` is relative to the directory of the YAML file. A checksum is
/// lower-case hex, or empty if the bundle does not state it.
struct FileEntry {
  std::string path;
  std::string md5sum;
  std::string sha256sum;

  bool operator==(const FileEntry&) const = default;
};

/// One node of the pipeline. Ports are in the order the model takes and returns them.
struct Model {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::optional<FileEntry> file;              ///< none if the node has no model and cannot run
  std::vector<FileEntry> external_data;       ///< weight files next to the model file
  std::optional<std::string> backend;         ///< "jit", "onnx" or "pt2"
  std::optional<std::int64_t> opset_version;  ///< of an ONNX model
  std::optional<std::string> torch_version;   ///< of a pt2 model

  /// Returns the port of that name, or null. The pointer is valid until this model is changed.
  LEAPP_EXPORT const Port* find_input(std::string_view port) const noexcept;
  LEAPP_EXPORT const Port* find_output(std::string_view port) const noexcept;

  bool operator==(const Model&) const = default;
};

/// Names one port of one model: "policy/obs". The name of a node contains no '/'.
struct PortRef {
  std::string node;
  std::string port;

  auto operator<=>(const PortRef&) const = default;
};

/// Returns "node/port".
LEAPP_EXPORT std::string to_string(const PortRef& ref);

/// Returns the parts of "node/port", or nothing if one of them is missing.
LEAPP_EXPORT std::optional<PortRef> parse_port_ref(std::string_view text);

/// One output and every input that receives it.
struct Wire {
  PortRef source;
  std::vector<PortRef> targets;

  bool operator==(const Wire&) const = default;
};

/// Ports of one node that are inputs or outputs of the whole pipeline.
struct NodePorts {
  std::string node;
  std::vector<std::string> ports;

  bool operator==(const NodePorts&) const = default;
};

/// The time at which one node runs: in the ticks in which `every`, `when` and `on_change` all hold.
/// The default: once in every tick. Ticks count from 0, at loading and at every reset.
struct NodeSchedule {
  std::string node;
  std::int64_t every = 1;  ///< runs in tick t if t >= phase and (t - phase) % every == 0
  std::int64_t phase = 0;
  std::int64_t repeat = 1;                        ///< runs in a row in each of these ticks
  std::map<std::string, std::string> carry = {};  ///< output -> input that reads it in the next run
  std::string index = {};                   ///< input that receives the number of the run; or empty
  std::optional<PortRef> when = {};         ///< a bool: an output, or an input
  std::vector<std::string> on_change = {};  ///< inputs: one differs from the last run
  std::map<std::string, std::string> ages = {};  ///< input -> node whose age in ticks it receives

  bool operator==(const NodeSchedule&) const = default;
};

/// Returns a schedule as text: "every 5 ticks, when trigger/run".
LEAPP_EXPORT std::string to_string(const NodeSchedule& schedule);

struct Pipeline {
  std::vector<Wire> data_flow;      ///< the target reads what the source wrote in this tick
  std::vector<Wire> feedback_flow;  ///< the target reads what the source wrote in the last tick
  std::vector<NodePorts> inputs;    ///< inputs that a caller supplies
  std::vector<NodePorts> outputs;   ///< outputs that a caller receives
  /// Nodes that do not run once in every tick. An output keeps its value until its node runs again.
  std::vector<NodeSchedule> schedule;
  /// Groups of nodes that run as one engine, each in the order in which its nodes run. Absent if
  /// the writer did not decide; empty if no nodes are merged.
  std::optional<std::vector<std::vector<std::string>>> merged;
  std::optional<FileEntry> initial_values;  ///< safetensors; keys are targets of wires "node/input"
  std::optional<FileEntry> golden;          ///< safetensors; traced ticks, to replay
  Metadata::Map configs;                    ///< "frequency" and other keys of the user

  bool operator==(const Pipeline&) const = default;
};

/// Environment of the export, for bug reports. Absent values are written as "None".
struct SystemInformation {
  std::optional<std::string> cuda_version;
  std::string config_version = "1.3";
  std::optional<std::string> leapp_version;
  std::optional<std::string> os;
  std::optional<std::string> python_version;
  std::optional<std::string> torch_version;

  bool operator==(const SystemInformation&) const = default;
};

struct Bundle {
  std::vector<Model> models;  ///< in order of completion while tracing
  Pipeline pipeline;
  SystemInformation system_information;
  /// The YAML file that the bundle was read from; empty if the bundle was created in memory. Not
  /// written to the YAML.
  std::filesystem::path file = {};

  /// Returns the model of that name, or null. Takes linear time; the pointer is valid until
  /// `models` is changed.
  LEAPP_EXPORT const Model* find_model(std::string_view node) const noexcept;
  LEAPP_EXPORT const Port* find_input(const PortRef& ref) const noexcept;
  LEAPP_EXPORT const Port* find_output(const PortRef& ref) const noexcept;

  bool operator==(const Bundle&) const = default;
};

/// The newest config version this library reads, and the one it writes.
inline constexpr std::string_view kNewestConfigVersion = "1.4";
inline constexpr std::string_view kWrittenConfigVersion = "1.3";

/// Permissions of a bundle's models; docs/explanation/security.md defines them.
enum class Trust : std::uint8_t {
  kData,  ///< operators that only compute; others are refused
  kCode,  ///< any code: the bundle is trusted like a program
};

/// Limits of trust in a bundle. With the defaults, reading any bundle takes less than 1 GB of
/// memory and touches no file outside its directory.
struct BundleOptions {
  std::size_t max_file_bytes = std::size_t{16} << 20;  ///< of the YAML
  /// Limit for the bytes of all tensors that live at the same time in a tick, by their declared
  /// shapes.
  std::uint64_t max_tensor_bytes = std::uint64_t{1} << 30;
  /// Allows model files outside the bundle's directory, for an export that refers to a model in
  /// place.
  bool allow_outside_files = false;
  Trust trust = Trust::kData;  ///< permissions of the models when they are loaded
  /// True if compiled C++ nodes (leapp/tools/build.h) may run in this process. Neither this nor
  /// `trust` implies the other.
  bool allow_native = false;
};

/// Reads `path`, which must end in .yaml, and checks everything that can be checked without opening
/// another file. Throws Error: kNotFound if there is no file, otherwise kValue or kIo, with a
/// message that begins "file:line:column:".
LEAPP_EXPORT Bundle read_bundle(const std::filesystem::path& path,
                                const BundleOptions& options = {});

/// Reads a bundle from text in memory. `name` stands for the file in messages.
LEAPP_EXPORT Bundle parse_bundle(std::string_view yaml, const std::string& name,
                                 const BundleOptions& options = {});

/// Returns the YAML of a bundle: the order is stable, so the texts of two exports differ only if
/// the exports differ. Does not check the bundle.
LEAPP_EXPORT std::string to_yaml(const Bundle& bundle);

/// Checks the bundle by the rules of docs/reference/bundle.md: names, ports, semantics, wires,
/// paths. Throws Error(kValue) for the first rule that is broken.
LEAPP_EXPORT void check(const Bundle& bundle, const BundleOptions& options = {});

/// Recomputes the checksum of every file of the bundle: external data, initial values and golden
/// traces included. Throws Error: kNotFound for a missing file, kValue for "SHA256 checksum
/// mismatch" and for a path outside the directory. The first form uses the directory of
/// `bundle.file`.
LEAPP_EXPORT void verify_files(const Bundle& bundle, const BundleOptions& options = {});
LEAPP_EXPORT void verify_files(const Bundle& bundle, const std::filesystem::path& folder,
                               const BundleOptions& options = {});

/// Returns the file for a path in the YAML. Throws Error(kValue) if the path is absolute or leads
/// out of `folder`, also through a symbolic link, and Error(kNotFound) if there is no such file.
LEAPP_EXPORT std::filesystem::path resolve_file(const std::filesystem::path& folder,
                                                const std::string& path,
                                                const BundleOptions& options = {});

/// Returns indices into `bundle.models` such that each producer runs before its consumers, and each
/// node that a schedule depends on before the node of that schedule. If several orders are
/// possible, the order of `models` decides. Throws Error(kValue), with every edge, on a cycle.
LEAPP_EXPORT std::vector<std::size_t> execution_order(const Bundle& bundle);

}  // namespace leapp
