#include "replay/mcap_reader.h"

#include "controller/mcap_format.h"
#include "leapp/error.h"

namespace leapp {
namespace {

/// Reads numbers and strings from the front of a record; `good` is false after reading beyond its
/// end.
struct McapCursor {
  std::string_view rest;
  bool good = true;

  template <typename T>
  T number() {
    T value{};
    good = good && rest.size() >= sizeof value;
    if (!good) return value;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }
  std::string_view bytes(std::uint64_t count) {
    good = good && rest.size() >= count;
    if (!good) return {};
    const std::string_view taken = rest.substr(0, static_cast<std::size_t>(count));
    rest.remove_prefix(taken.size());
    return taken;
  }
  std::string_view text() { return bytes(number<std::uint32_t>()); }
};

constexpr std::uint64_t kMostRecordBytes = std::uint64_t{256} << 20;
constexpr std::size_t kRecordHead = 9;

}  // namespace

McapReader::McapReader(const std::filesystem::path& file) : name_(file.string()), file_(file) {
  std::string magic(mcap::kMagic.size(), '\0');
  magic.resize(file_.read(magic));
  if (magic != mcap::kMagic) fail("this is not an MCAP file");
}

void McapReader::fail(const std::string& what) const {
  throw Error(Code::kRecording, name_ + ": " + what);
}

void McapReader::read(const OnMessage& on_message) {
  std::string content;
  while (true) {
    std::string head(kRecordHead, '\0');
    if (file_.read(head) < head.size()) return;
    const int opcode = static_cast<unsigned char>(head[0]);
    const auto length = McapCursor{std::string_view(head).substr(1)}.number<std::uint64_t>();
    if (length > kMostRecordBytes) {
      fail("a record has " + std::to_string(length) + " bytes, more than the limit of " +
           std::to_string(kMostRecordBytes));
    }
    if (length > file_.size()) return;  // the file is truncated; avoids a large allocation
    content.resize(static_cast<std::size_t>(length));
    if (file_.read(content) < content.size()) return;
    if (opcode == mcap::kDataEnd || opcode == mcap::kFooter) return;  // an index follows
    read_record(opcode, content, on_message);
  }
}

void McapReader::read_record(int opcode, std::string_view content, const OnMessage& on_message) {
  if (opcode == mcap::kChannel) return read_channel(content);
  if (opcode == mcap::kChunk) return read_chunk(content, on_message);
  if (opcode != mcap::kMessage) return;
  McapCursor cursor{content};
  const auto channel = channels_.find(cursor.number<std::uint16_t>());
  cursor.bytes(sizeof(std::uint32_t));  // sequence
  const auto time = cursor.number<std::uint64_t>();
  cursor.bytes(sizeof(std::uint64_t));  // time of publication
  if (!cursor.good || channel == channels_.end()) fail("a message belongs to no channel");
  on_message(channel->second, time, cursor.rest);
}

void McapReader::read_chunk(std::string_view content, const OnMessage& on_message) {
  McapCursor cursor{content};
  cursor.bytes(3 * sizeof(std::uint64_t) + sizeof(std::uint32_t));  // times, size, checksum
  const std::string_view compression = cursor.text();
  if (!compression.empty()) {
    fail("its chunks are compressed with " + std::string(compression) +
         "; remove it with `mcap compress --compression none`");
  }
  McapCursor records{cursor.bytes(cursor.number<std::uint64_t>())};
  while (records.good && !records.rest.empty()) {
    const int opcode = records.number<std::uint8_t>();
    const std::string_view record = records.bytes(records.number<std::uint64_t>());
    if (records.good && opcode != mcap::kChunk) read_record(opcode, record, on_message);
  }
  if (!cursor.good || !records.good) fail("a chunk is shorter than its header declares");
}

void McapReader::read_channel(std::string_view content) {
  McapCursor cursor{content};
  const auto id = cursor.number<std::uint16_t>();
  cursor.number<std::uint16_t>();  // its schema
  McapChannel channel;
  channel.topic = cursor.text();
  channel.encoding = cursor.text();
  McapCursor pairs{cursor.text()};
  while (pairs.good && !pairs.rest.empty()) {
    const std::string_view key = pairs.text();
    channel.metadata[std::string(key)] = pairs.text();
  }
  if (!cursor.good || !pairs.good) fail("a channel is shorter than its header declares");
  channels_[id] = std::move(channel);
}

}  // namespace leapp
