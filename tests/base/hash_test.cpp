#include "base/hash.h"

#include "../bundle/support.h"

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
  EXPECT_THAT(error_of(ErrorKind::kIo, [] { hash_file("/nowhere/at/all"); }),
              HasSubstr("/nowhere/at/all: the file could not be read"));
}

}  // namespace
}  // namespace leapp
