#include "controller/mcap_writer.h"

#include <algorithm>

#include "controller/mcap_format.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using mcap::append;
using mcap::append_record;
using mcap::append_text;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

template <typename Key, typename Value>
void append_map(std::string& to, const std::map<Key, Value>& map) {
  append(to, static_cast<std::uint32_t>(map.size() * (sizeof(Key) + sizeof(Value))));
  for (const auto& [key, value] : map) {
    append(to, key);
    append(to, value);
  }
}

}  // namespace

McapWriter::McapWriter(const std::filesystem::path& file) : file_(file) {
  std::string header;
  append_text(header, "");
  append_text(header, "leapp " LEAPP_VERSION);
  file_.append(mcap::kMagic);
  record(mcap::kHeader, header);
  if (const std::error_code error = file_.error()) {
    throw Error(Code::kRecording, file.string() +
                                      ": the recording could not be written: " + error.message() +
                                      "; its directory must exist, be writable and have space "
                                      "left");
  }
}

McapWriter::~McapWriter() {
  try {
    close();
  } catch (const std::bad_alloc&) {  // the chunks are complete; only the index is missing
  }
}

void McapWriter::record(int opcode, const std::string& content) {
  std::string bytes;
  append_record(bytes, opcode, content);
  file_.append(bytes);
}

std::uint16_t McapWriter::add_channel(const std::string& topic, const std::string& schema,
                                      const Names& metadata) {
  const std::uint16_t id = ++channels_;  // the id of a schema is that of its channel; 0 means none
  std::string content;
  append(content, id);
  append_text(content, "leapp." + topic);
  append_text(content, "jsonschema");
  append_text(content, schema);
  append_record(definitions_, mcap::kSchema, content);
  content.clear();
  append(content, id);
  append(content, id);
  append_text(content, topic);
  append_text(content, "json");
  std::string pairs;
  for (const auto& [key, value] : metadata) {
    append_text(pairs, key);
    append_text(pairs, value);
  }
  append_text(content, pairs);
  append_record(definitions_, mcap::kChannel, content);
  return id;
}

void McapWriter::write(std::uint16_t channel, std::uint64_t time, std::string_view json) {
  if (messages_.empty()) {
    if (chunks_.empty()) messages_ = definitions_;
    begin_time_ = end_time_ = time;
  }
  begin_time_ = std::min(begin_time_, time);
  end_time_ = std::max(end_time_, time);
  append(index_[channel], time);
  append(index_[channel], static_cast<std::uint64_t>(messages_.size()));
  std::string content;
  append(content, channel);
  append(content, static_cast<std::uint32_t>(counts_[channel]++));
  append(content, time);
  append(content, time);
  content += json;
  append_record(messages_, mcap::kMessage, content);
  ++pending_;
  if (messages_.size() >= kChunkBytes) end_chunk();
}

void McapWriter::end_chunk() {
  if (messages_.empty()) return;
  Chunk chunk;
  chunk.begin_time = begin_time_;
  chunk.end_time = end_time_;
  chunk.offset = file_.size();
  chunk.size = messages_.size();
  std::string content;
  append(content, begin_time_);
  append(content, end_time_);
  append(content, static_cast<std::uint64_t>(messages_.size()));
  append(content, std::uint32_t{0});  // no checksum
  append_text(content, "");           // no compression
  append(content, static_cast<std::uint64_t>(messages_.size()));
  content += messages_;
  record(mcap::kChunk, content);
  if (!file_.error()) written_ += pending_;
  pending_ = 0;
  chunk.length = file_.size() - chunk.offset;
  for (const auto& [channel, entries] : index_) {
    chunk.index_offsets[channel] = file_.size();
    std::string index;
    append(index, channel);
    append_text(index, entries);
    record(mcap::kMessageIndex, index);
  }
  chunk.index_length = file_.size() - chunk.offset - chunk.length;
  chunks_.push_back(std::move(chunk));
  messages_.clear();
  index_.clear();
}

void McapWriter::flush() {
  end_chunk();
}

std::uint64_t McapWriter::write_summary() {
  const std::uint64_t start = file_.size();
  file_.append(definitions_);
  std::uint64_t begin = chunks_.empty() ? 0 : chunks_.front().begin_time;
  std::uint64_t end = 0;
  for (const Chunk& chunk : chunks_) {
    std::string content;
    append(content, chunk.begin_time);
    append(content, chunk.end_time);
    append(content, chunk.offset);
    append(content, chunk.length);
    append_map(content, chunk.index_offsets);
    append(content, chunk.index_length);
    append_text(content, "");
    append(content, chunk.size);
    append(content, chunk.size);
    record(mcap::kChunkIndex, content);
    begin = std::min(begin, chunk.begin_time);
    end = std::max(end, chunk.end_time);
  }
  std::uint64_t messages = 0;
  for (const auto& [channel, count] : counts_) messages += count;
  std::string statistics;
  append(statistics, messages);
  append(statistics, channels_);
  append(statistics, std::uint32_t{channels_});
  append(statistics, std::uint32_t{0});  // attachments
  append(statistics, std::uint32_t{0});  // metadata
  append(statistics, static_cast<std::uint32_t>(chunks_.size()));
  append(statistics, begin);
  append(statistics, end);
  append_map(statistics, counts_);
  record(mcap::kStatistics, statistics);
  return start;
}

bool McapWriter::close() {
  if (closed_) return !file_.error();
  closed_ = true;
  end_chunk();
  std::string end;
  append(end, std::uint32_t{0});  // no checksum
  record(mcap::kDataEnd, end);
  std::string footer;
  append(footer, write_summary());
  append(footer, std::uint64_t{0});  // no offsets for groups of the summary
  append(footer, std::uint32_t{0});  // no checksum
  record(mcap::kFooter, footer);
  file_.append(mcap::kMagic);
  return !file_.close();
}

}  // namespace leapp
