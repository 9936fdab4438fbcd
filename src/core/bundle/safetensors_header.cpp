#include "bundle/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "leapp/error.h"

namespace leapp {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 16> kNames = {{
    {DType::kBool, "BOOL"},
    {DType::kUInt8, "U8"},
    {DType::kInt8, "I8"},
    {DType::kUInt16, "U16"},
    {DType::kInt16, "I16"},
    {DType::kUInt32, "U32"},
    {DType::kInt32, "I32"},
    {DType::kUInt64, "U64"},
    {DType::kInt64, "I64"},
    {DType::kFloat8E4M3FN, "F8_E4M3"},
    {DType::kFloat8E5M2, "F8_E5M2"},
    {DType::kFloat16, "F16"},
    {DType::kBFloat16, "BF16"},
    {DType::kFloat32, "F32"},
    {DType::kFloat64, "F64"},
    {DType::kComplex64, "C64"},
}};

std::optional<DType> dtype_from_safetensors(std::string_view name) noexcept {
  for (const auto& [dtype, text] : kNames) {
    if (text == name) return dtype;
  }
  return std::nullopt;
}

[[noreturn]] void fail_header(const std::string& file, const std::string& what) {
  throw Error(rule(23), file + ": [B23] " + what);
}

/// Parses the header's JSON event by event, because a tree of a JSON text of 100 MB would need
/// gigabytes.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderHandler(const std::string& file) : file_(file) {}

  SafeTensorsHeader take() { return std::move(header_); }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a bool"); }
  bool number_integer(std::int64_t) override { unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { unexpected("a fraction"); }
  bool binary(nlohmann::json::binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ == Place::kShape) {
      if (value > static_cast<std::uint64_t>(INT64_MAX)) unexpected("a size out of range");
      entry_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::kOffsets) {
      offsets_.push_back(value);
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = value;
    } else if (place_ == Place::kTensor && key_ == "dtype") {
      const auto dtype = dtype_from_safetensors(value);
      if (!dtype) fail_header(file_, here() + "there is no dtype " + quote_for_message(value));
      entry_.dtype = *dtype;
    } else {
      unexpected(quote_for_message(value));
    }
    return true;
  }

  bool key(std::string& value) override {
    key_ = value;
    auto& seen = place_ == Place::kTop ? names_ : fields_;
    if (!seen.insert(value).second) {
      fail_header(file_, here() + "the name " + quote_for_message(value) + " appears twice");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop) {
      place_ = key_ == "__metadata__" ? Place::kMetadata : Place::kTensor;
      entry_ = SafeTensorEntry{};
      entry_.name = key_;
      offsets_.clear();
      fields_.clear();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor) finish_entry();
    place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::kTensor) unexpected("a list");
    if (key_ == "shape") {
      place_ = Place::kShape;
    } else if (key_ == "data_offsets") {
      place_ = Place::kOffsets;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(std::size_t offset, const std::string&,
                   const nlohmann::json::exception&) override {
    fail_header(file_, "the header is not valid JSON at byte " + std::to_string(offset + 8));
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  std::string here() const {
    const bool inside =
        place_ == Place::kTensor || place_ == Place::kShape || place_ == Place::kOffsets;
    return inside ? "tensor " + quote_for_message(entry_.name) + ": " : "";
  }

  [[noreturn]] void unexpected(const std::string& found) const {
    fail_header(file_, here() + "did not expect " + found + " for " + quote_for_message(key_));
  }

  void finish_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) fail_header(file_, here() + "it has no " + field);
    }
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1]) {
      fail_header(file_, here() + "data_offsets must have two numbers, the begin and the end");
    }
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    header_.entries.push_back(std::move(entry_));
  }

  const std::string& file_;
  SafeTensorsHeader header_;
  Place place_ = Place::kStart;
  std::string key_;
  SafeTensorEntry entry_;
  std::vector<std::uint64_t> offsets_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
};

void check_layout(const SafeTensorsHeader& header, std::uint64_t data_bytes,
                  const std::string& file) {
  std::uint64_t at = 0;
  for (const SafeTensorEntry& entry : header.entries) {
    const std::string tensor = "tensor " + quote_for_message(entry.name) + ": ";
    const auto count = checked_element_count(entry.shape);
    std::uint64_t bytes = 0;
    if (!count ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(*count), size_of(entry.dtype), &bytes)) {
      fail_header(file,
                  tensor + "the shape " + to_string(entry.shape) + " is too large to be counted");
    }
    if (entry.end - entry.begin != bytes) {
      fail_header(file, tensor + "the shape " + to_string(entry.shape) + " of " +
                            std::string(name_of(entry.dtype)) + " needs " + std::to_string(bytes) +
                            " bytes, data_offsets gives " +
                            std::to_string(entry.end - entry.begin));
    }
    if (entry.begin != at) {
      fail_header(file, tensor + "its bytes begin at " + std::to_string(entry.begin) +
                            ", expected " + std::to_string(at) +
                            ": tensors may neither overlap nor leave holes");
    }
    at = entry.end;
  }
  if (at != data_bytes) {
    fail_header(file, "the tensors take " + std::to_string(at) + " bytes, the file holds " +
                          std::to_string(data_bytes));
  }
}

}  // namespace

std::string_view safetensors_name(DType dtype) noexcept {
  for (const auto& [each, name] : kNames) {
    if (each == dtype) return name;
  }
  return {};
}

SafeTensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file) {  // B23
  if (json.empty() || json.front() != '{') fail_header(file, "the header does not begin with '{'");
  HeaderHandler handler(file);
  nlohmann::json::sax_parse(json.begin(), json.end(), &handler);
  SafeTensorsHeader header = handler.take();
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafeTensorEntry& a, const SafeTensorEntry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  check_layout(header, data_bytes, file);
  return header;
}

std::string write_safetensors_header(const SafeTensorsHeader& header) {
  std::string text = "{";
  if (!header.metadata.empty()) {
    text += "\"__metadata__\":" + nlohmann::json(header.metadata).dump();
  }
  for (const SafeTensorEntry& entry : header.entries) {
    if (text.size() > 1) text += ',';
    text += nlohmann::json(entry.name).dump() + ":{\"dtype\":\"" +
            std::string(safetensors_name(entry.dtype)) +
            "\",\"shape\":" + nlohmann::json(entry.shape).dump() + ",\"data_offsets\":[" +
            std::to_string(entry.begin) + "," + std::to_string(entry.end) + "]}";
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace leapp
