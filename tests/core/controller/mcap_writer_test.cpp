#include "controller/mcap_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/temporary_folder.h"
#include "controller/mcap_format.h"
#include "leapp/error.h"
#include "replay/mcap_reader.h"

namespace leapp {
namespace {

class McapWriterTest : public ::testing::Test {
 protected:
  struct Message {
    std::string topic;
    std::uint64_t time;
    std::string data;
    bool operator==(const Message&) const = default;
  };

  std::vector<Message> messages() const {
    std::vector<Message> found;
    McapReader(file_).read(
        [&](const McapChannel& channel, std::uint64_t time, std::string_view data) {
          found.push_back({channel.topic, time, std::string(data)});
        });
    return found;
  }

  std::string bytes() const {
    std::ifstream stream(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "run.mcap";
};

TEST_F(McapWriterTest, ChannelsAndMessagesAreRead) {
  McapWriter writer(file_);
  const std::uint16_t sensor = writer.add_channel("sensor/q", "{}", {{"unit", "rad"}});
  const std::uint16_t port = writer.add_channel("port/pi/y", "{}", {});
  writer.write(sensor, 7, "{\"a\": 1}");
  writer.write(port, 5, "{}");
  EXPECT_EQ(writer.written(), 0U);  // they are in the open chunk
  writer.flush();
  EXPECT_EQ(writer.written(), 2U);
  EXPECT_EQ(messages(),
            std::vector<Message>({{"sensor/q", 7, "{\"a\": 1}"}, {"port/pi/y", 5, "{}"}}));
  EXPECT_TRUE(writer.close());
  EXPECT_TRUE(writer.close());  // a second call changes nothing
  EXPECT_EQ(messages().size(), 2U);
}

TEST_F(McapWriterTest, AFileThatWasNotClosedHoldsWhatWasFlushed) {
  McapWriter writer(file_);
  const std::uint16_t channel = writer.add_channel("sensor/q", "{}", {});
  writer.write(channel, 1, "first");
  writer.flush();
  writer.write(channel, 2, "second");
  EXPECT_EQ(messages().size(), 1U);
}

TEST_F(McapWriterTest, ManyMessagesBecomeSeveralChunks) {
  {
    McapWriter writer(file_);
    const std::uint16_t channel = writer.add_channel("sensor/q", "{}", {});
    const std::string large(100'000, 'x');
    for (std::uint64_t i = 0; i < 100; ++i) writer.write(channel, i, large);
    EXPECT_GT(writer.written(), 0U);  // without a flush
    EXPECT_LT(writer.written(), 100U);
  }
  EXPECT_EQ(messages().size(), 100U);
  EXPECT_EQ(messages().back().time, 99U);
}

TEST_F(McapWriterTest, AFileWithoutMessagesIsWhole) {
  McapWriter writer(file_);
  writer.add_channel("sensor/q", "{}", {});
  EXPECT_TRUE(writer.close());
  EXPECT_TRUE(messages().empty());
  const std::string text = bytes();
  EXPECT_TRUE(text.starts_with(mcap::kMagic));
  EXPECT_TRUE(text.ends_with(mcap::kMagic));
}

TEST_F(McapWriterTest, AFileThatCannotBeMadeIsAnError) {
  try {
    McapWriter writer(folder_.path() / "nowhere" / "run.mcap");
    FAIL() << "it was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kRecording);
  }
}

}  // namespace
}  // namespace leapp
