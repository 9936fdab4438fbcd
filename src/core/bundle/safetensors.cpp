#include "bundle/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <istream>
#include <new>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "bundle/safetensors_header.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "bundle/view_buffer.h"

namespace leapp {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLengthBytes = 8;

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t read_length(const std::array<char, kLengthBytes>& bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

std::string write_length(std::uint64_t length) {
  std::string bytes(kLengthBytes, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(length & 0xFF);
    length >>= 8;
  }
  return bytes;
}

[[noreturn]] void fail(const std::string& file, const std::string& what) {  // B23
  throw Error(rule(23), file + ": [B23] " + what);
}

}  // namespace

void SafeTensors::FreeBytes::operator()(std::byte* bytes) const noexcept {
  std::free(bytes);
}

SafeTensors SafeTensors::load(std::istream& stream, std::uint64_t file_bytes,
                              const std::string& file, std::uint64_t max_bytes) {
  std::array<char, kLengthBytes> length_bytes{};
  if (file_bytes < kLengthBytes || !stream.read(length_bytes.data(), kLengthBytes)) {
    fail(file, "the file ends before its header");
  }
  const std::uint64_t length = read_length(length_bytes);
  if (length > kMaxSafeTensorsHeader || length > file_bytes - kLengthBytes) {
    fail(file, "the header claims " + std::to_string(length) + " bytes of a file of " +
                   std::to_string(file_bytes));
  }
  const std::uint64_t data_bytes = file_bytes - kLengthBytes - length;
  if (data_bytes > max_bytes) {
    fail(file, "the tensors take " + std::to_string(data_bytes) +
                   " bytes, more than the limit of " + std::to_string(max_bytes));
  }
  std::string json(static_cast<std::size_t>(length), '\0');
  if (!stream.read(json.data(), static_cast<std::streamsize>(length))) {
    fail(file, "the file ends inside its header");
  }
  SafeTensorsHeader header = parse_safetensors_header(json, data_bytes, file);

  SafeTensors result;
  result.metadata_ = std::move(header.metadata);
  std::size_t total = 0;
  for (const SafeTensorEntry& entry : header.entries) total += round_up(entry.end - entry.begin);
  if (total > 0) {
    result.bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, total)));
    if (!result.bytes_) throw std::bad_alloc();
  }
  std::byte* to = result.bytes_.get();
  result.tensors_.reserve(header.entries.size());
  for (SafeTensorEntry& entry : header.entries) {
    const std::uint64_t size = entry.end - entry.begin;
    if (!stream.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(size))) {
      fail(file, "the file ends inside tensor " + quote_for_message(entry.name));
    }
    result.tensors_.push_back(
        {std::move(entry.name), ConstTensorView(to, entry.dtype, std::move(entry.shape))});
    to += round_up(size);
  }
  return result;
}

SafeTensors SafeTensors::parse(std::string_view bytes, const std::string& file,
                               std::uint64_t max_bytes) {
  ViewBuffer buffer(bytes);
  std::istream stream(&buffer);
  return load(stream, bytes.size(), file, max_bytes);
}

SafeTensors SafeTensors::read(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const FileBytes file(path);
  const auto* text = reinterpret_cast<const char*>(file.bytes().data());
  return parse({text, file.bytes().size()}, path.string(), max_bytes);
}

const ConstTensorView* SafeTensors::find(std::string_view name) const noexcept {
  for (const NamedTensorView& each : tensors_) {
    if (each.name == name) return &each.tensor;
  }
  return nullptr;
}

std::string to_safetensors(const std::vector<NamedTensorView>& tensors,
                           const SafeTensors::Metadata& metadata) {
  std::vector<const NamedTensorView*> order;
  std::unordered_set<std::string_view> names = {"__metadata__"};
  for (const NamedTensorView& each : tensors) {
    const std::string tensor = "[B23] tensor " + quote_for_message(each.name) + ": ";
    require(find_invalid_utf8(each.name) == std::string::npos, rule(23),
            tensor + "its name is not valid UTF-8");
    require(names.insert(each.name).second, rule(23),
            tensor + "its name is used twice or reserved");
    require(!safetensors_name(each.tensor.dtype).empty(), rule(23),
            tensor + "the safetensors format has no " + std::string(name_of(each.tensor.dtype)));
    order.push_back(&each);
  }
  std::sort(order.begin(), order.end(), [](const NamedTensorView* a, const NamedTensorView* b) {
    const std::size_t size_a = size_of(a->tensor.dtype);
    const std::size_t size_b = size_of(b->tensor.dtype);
    return size_a != size_b ? size_a > size_b : a->name < b->name;
  });

  SafeTensorsHeader header{{}, metadata};
  std::uint64_t at = 0;
  for (const NamedTensorView* each : order) {
    const std::uint64_t end = at + each->tensor.byte_size();
    header.entries.push_back({each->name, each->tensor.dtype, each->tensor.shape, at, end});
    at = end;
  }
  const std::string json = write_safetensors_header(header);
  std::string file = write_length(json.size());
  file.reserve(kLengthBytes + json.size() + at);
  file += json;
  for (const NamedTensorView* each : order) {
    file.append(static_cast<const char*>(each->tensor.data), each->tensor.byte_size());
  }
  return file;
}

void write_safetensors(const std::filesystem::path& path,
                       const std::vector<NamedTensorView>& tensors,
                       const SafeTensors::Metadata& metadata) {
  write_bytes(path, to_safetensors(tensors, metadata));
}

}  // namespace leapp
