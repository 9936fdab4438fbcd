// Writes MCAP files (https://mcap.dev/spec): channels with messages, in chunks, with an index.
//
// docs/decisions/mcap-by-hand.md explains why LEAPP has its own writer. Files are not compressed,
// so writing is cheap, and after a crash all chunks but the last are readable. If a write fails,
// for example on a full disk, the file keeps its chunks and accepts no more. For one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/append_file.h"

namespace leapp {

class McapWriter {
 public:
  using Names = std::vector<std::pair<std::string, std::string>>;

  /// Throws Error (LP655) if the file cannot be created.
  explicit McapWriter(const std::filesystem::path& file);
  ~McapWriter();
  McapWriter(const McapWriter&) = delete;
  McapWriter& operator=(const McapWriter&) = delete;

  /// Returns a channel of JSON messages that follow `schema`, with metadata. Create all channels
  /// before the first message.
  std::uint16_t add_channel(const std::string& topic, const std::string& schema,
                            const Names& metadata);

  /// Writes a message. `time` is in nanoseconds since 1970.
  void write(std::uint16_t channel, std::uint64_t time, std::string_view json);

  /// Passes the buffered data to the operating system.
  void flush();
  /// Writes the index. Must be the last call. Returns false if anything could not be written.
  bool close();

  /// Returns the number of messages in the file.
  std::uint64_t written() const noexcept { return written_; }
  /// Returns the first error, or no error.
  std::error_code error() const noexcept { return file_.error(); }

 private:
  struct Chunk {
    std::uint64_t begin_time = 0, end_time = 0, offset = 0, length = 0, index_length = 0, size = 0;
    std::map<std::uint16_t, std::uint64_t> index_offsets;
  };

  void record(int opcode, const std::string& content);
  void end_chunk();
  std::uint64_t write_summary();

  AppendFile file_;
  std::string definitions_;  // schemas and channels, as records
  std::uint16_t channels_ = 0;
  std::string messages_;       // records of the open chunk
  std::uint64_t pending_ = 0;  // number of these records
  std::uint64_t written_ = 0;
  std::uint64_t begin_time_ = 0, end_time_ = 0;
  std::map<std::uint16_t, std::string> index_;  // of the open chunk
  std::vector<Chunk> chunks_;
  std::map<std::uint16_t, std::uint64_t> counts_;
  bool closed_ = false;
};

}  // namespace leapp
