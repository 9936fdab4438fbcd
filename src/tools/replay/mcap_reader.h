// Reads the MCAP files that McapWriter writes: channels and messages, in the order of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/input_file.h"

namespace leapp {

struct McapChannel {
  std::string topic;
  std::string encoding;  ///< format of its messages: "json"
  std::map<std::string, std::string> metadata;
};

class McapReader {
 public:
  /// `time` is the log time of the message, in nanoseconds since 1970.
  using OnMessage =
      std::function<void(const McapChannel&, std::uint64_t time, std::string_view data)>;

  /// Throws Error: LP655 if this is not an MCAP file, and the errors of InputFile.
  explicit McapReader(const std::filesystem::path& file);

  /// Calls back for each message. A file that is truncated in a record, for example after a crash,
  /// is read up to that point. Throws Error (LP655) for compressed chunks and for impossible
  /// lengths.
  void read(const OnMessage& on_message);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void read_record(int opcode, std::string_view content, const OnMessage& on_message);
  void read_chunk(std::string_view content, const OnMessage& on_message);
  void read_channel(std::string_view content);

  std::string name_;
  InputFile file_;
  std::map<std::uint16_t, McapChannel> channels_;
};

}  // namespace leapp
