#include "base/hash.h"

#include "../bundle/support.h"
#include "base/sha256.h"

namespace leapp {
namespace {

using test::error_of;
using testing::HasSubstr;

TEST(Hash, KnownAnswers) {
  EXPECT_EQ(hash_bytes(""), (Checksums{"d41d8cd98f00b204e9800998ecf8427e",
                                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b785"
                                       "2b855"}));
  EXPECT_EQ(hash_bytes("abc"),
            (Checksums{"900150983cd24fb0d6963f7d28e17f72",
                       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f"
                       "20015ad"}));
}

// Lengths around the end of a block, where the padding may need another block.
TEST(Hash, EveryLengthInOnePieceAndInMany) {
  std::string all;
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string text(length, static_cast<char>('a' + length % 26));
    Digest pieces(Digest::Kind::kSha256);
    for (std::size_t at = 0; at < length; at += 7)
      pieces.update(std::string_view(text).substr(at, 7));
    const Checksums whole = hash_bytes(text);
    EXPECT_EQ(pieces.finish(), whole.sha256) << length;
    all += whole.md5 + whole.sha256;
  }
  // The values of Python's hashlib.
  EXPECT_EQ(hash_bytes(all), (Checksums{"1d3122eae20e15fc00fd4946226f73a4",
                                        "952afd0163f8df4f71d991826d7d2b9a4b984063"
                                        "e7e3bb01b04f6508b032c84d"}));
}

TEST(Hash, TheProcessorsInstructionsComputeTheSame) {
  const Sha256Blocks native = sha256_blocks_native();
  if (native == nullptr) GTEST_SKIP() << "this processor has none";
  std::vector<unsigned char> bytes(64 * 5);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * i + 3 * i);
  std::array<std::uint32_t, 8> plain = kSha256Start;
  std::array<std::uint32_t, 8> fast = kSha256Start;
  sha256_blocks_plain(plain.data(), bytes.data(), 5);
  native(fast.data(), bytes.data(), 5);
  EXPECT_EQ(plain, fast);
}

TEST(Hash, AFileLongerThanABufferHashesLikeItsBytes) {
  const test::TemporaryFolder folder;
  const std::string content(1'000'003, 'x');
  const auto file = folder.write("f", content);
  EXPECT_EQ(hash_file(file), hash_bytes(content));
  EXPECT_EQ(sha256_file(file), hash_bytes(content).sha256);
}

TEST(Hash, LargeFilesHashAsTheirBytesDo) {
  const test::TemporaryFolder folder;
  const std::string content((std::size_t{5} << 20) + 3, 'x');
  EXPECT_EQ(hash_file(folder.write("f", content)), hash_bytes(content));
}

TEST(Hash, AMissingFileIsAnError) {
  EXPECT_THAT(error_of(ErrorKind::kNotFound, [] { hash_file("/nowhere/at/all"); }),
              HasSubstr("/nowhere/at/all: the file was not found"));
}

}  // namespace
}  // namespace leapp
