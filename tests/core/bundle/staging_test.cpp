#include "bundle/staging.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "bundle/former_export.h"
#include "support.h"

namespace {

// The calls of this program to the file system, in order: "fsync <path>", "rename <path>".
std::vector<std::string>* asked = nullptr;

void note(const char* call, const std::filesystem::path& path) {
  if (asked != nullptr) asked->push_back(std::string(call) + " " + path.filename().string());
}

}  // namespace

// Replace the functions of the C library, and record the calls.
extern "C" int fsync(int descriptor) {
  std::error_code ignored;
  note("fsync",
       std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), ignored));
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  note("rename", to);
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned int flags) noexcept {
  note("rename", to);
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

namespace leapp {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::read_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class StagingTest : public testing::Test {
 protected:
  fs::path target() const { return folder_.path() / "out" / "w"; }

  /// Returns the names of everything below the directory of the exports.
  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "out")) {
      names.insert(entry.path().lexically_relative(folder_.path() / "out").string());
    }
    return names;
  }

  /// Writes an export with one model file per node.
  static void write_export(const fs::path& folder, const std::vector<std::string>& nodes,
                           const std::string& content = "model") {
    Bundle bundle;
    for (const std::string& node : nodes) {
      bundle.models.push_back(test::make_model(node, {}, {}));
      write(folder / (node + ".onnx"), content);
    }
    write(folder / "w.yaml", to_yaml(bundle));
    write(folder / "w.png", "picture");
  }

  static void write(const fs::path& path, const std::string& content) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }

  test::TemporaryFolder folder_;
};

TEST_F(StagingTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THAT(error_of(ErrorKind::kIo, [&] { write_bytes(folder_.path() / "none" / "f", ""); }),
              HasSubstr("could not be written"));
}

TEST_F(StagingTest, b24_TheFirstExportAppearsAsAWhole) {
  StagedDirectory staged(target());
  write_export(staged.path(), {"a"});
  EXPECT_FALSE(fs::exists(target()));
  staged.commit();
  EXPECT_THAT(listing(), ElementsAre("w", "w/a.onnx", "w/w.png", "w/w.yaml"));
}

TEST_F(StagingTest, b24_AnExportReplacesTheFormerOne) {
  write_export(target(), {"a", "b"}, "old");
  write(target() / "b.onnx.data", "old weights");
  write(target() / "w_initial_values.safetensors", "old values");
  StagedDirectory staged(target());
  write_export(staged.path(), {"a", "c"}, "new");
  EXPECT_EQ(read_file(target() / "a.onnx"), "old");
  staged.commit();
  EXPECT_THAT(listing(), ElementsAre("w", "w/a.onnx", "w/c.onnx", "w/w.png", "w/w.yaml"));
  EXPECT_EQ(read_file(target() / "a.onnx"), "new");
}

TEST_F(StagingTest, b24_WhatIsNoPartOfAnExportStays) {
  write_export(target(), {"a"});
  write(target() / "log.txt", "lines");
  write(target() / "notes/deep/idea.md", "mine");
  write(target() / "other.onnx", "mine too");
  fs::create_symlink("log.txt", target() / "link");
  std::ofstream log(target() / "log.txt", std::ios::app);
  StagedDirectory staged(target());
  write_export(staged.path(), {"c"});
  staged.commit();
  EXPECT_THAT(listing(), UnorderedElementsAre("w", "w/c.onnx", "w/link", "w/log.txt", "w/notes",
                                              "w/notes/deep", "w/notes/deep/idea.md",
                                              "w/other.onnx", "w/w.png", "w/w.yaml"));
  EXPECT_EQ(read_file(target() / "notes/deep/idea.md"), "mine");
  log << " go on" << std::flush;  // an open log continues in the new directory
  EXPECT_EQ(read_file(target() / "log.txt"), "lines go on");
}

TEST_F(StagingTest, b34_AReportOfTheFormerExportGoes) {
  write_export(target(), {"a"});
  write(target() / "validation.json", "{}");
  StagedDirectory staged(target());
  write_export(staged.path(), {"a"});
  staged.commit();
  EXPECT_FALSE(fs::exists(target() / "validation.json"));
}

TEST_F(StagingTest, b24_ANewFileWinsOverAnOldOneOfItsName) {
  write_export(target(), {"a"});
  write(target() / "log.txt", "old");
  StagedDirectory staged(target());
  write_export(staged.path(), {"a"});
  write(staged.path() / "log.txt", "new");
  staged.commit();
  EXPECT_EQ(read_file(target() / "log.txt"), "new");
}

TEST_F(StagingTest, b24_AModelUsedWhereItLiesStays) {
  write_export(target(), {"own"}, "trained by hand");
  StagedDirectory staged(target());
  write_export(staged.path(), {"own"});
  fs::remove(staged.path() / "own.onnx");  // named by the YAML, but not written by this export
  staged.commit();
  EXPECT_EQ(read_file(target() / "own.onnx"), "trained by hand");
}

TEST_F(StagingTest, b24_WithoutCommitNothingHappened) {
  write_export(target(), {"a"}, "old");
  const auto before = listing();
  {
    const StagedDirectory staged(target());
    write_export(staged.path(), {"b"});
  }
  EXPECT_EQ(listing(), before);
  EXPECT_EQ(read_file(target() / "a.onnx"), "old");
}

TEST_F(StagingTest, b24_AnExportThatIsCancelledWhenItsFilesAreOnTheDiskChangesNothing) {
  const auto write = [&](const std::string& text) {
    auto staged = std::make_unique<StagedDirectory>(target());
    write_bytes(staged->path() / "w.yaml", text);
    return staged;
  };
  write("old")->commit();
  std::vector<std::string> calls;
  asked = &calls;
  auto staged = write("new");
  const Checkpoint last_chance([&] {
    calls.push_back("cancelled");
    return true;
  });
  try {
    staged->commit(last_chance);
    ADD_FAILURE() << "committed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled);
  }
  asked = nullptr;
  staged.reset();
  EXPECT_EQ(read_file(target() / "w.yaml"), "old");
  EXPECT_EQ(listing(), std::set<std::string>({"w", "w/w.yaml"}));
  ASSERT_GE(calls.size(), 2U);
  EXPECT_EQ(calls.back(), "cancelled");  // nothing is renamed afterwards
  EXPECT_TRUE(calls[calls.size() - 2].starts_with("fsync"));
}

TEST_F(StagingTest, WhatAKilledProcessLeftIsRemoved) {
  const pid_t child = ::fork();
  if (child == 0) {
    StagedDirectory staged(target());
    write_export(staged.path(), {"half"});
    ::_exit(0);  // no destructor, no commit
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(listing().size(), 4U);
  StagedDirectory staged(target());
  write_export(staged.path(), {"a"});
  staged.commit();
  EXPECT_THAT(listing(), ElementsAre("w", "w/a.onnx", "w/w.png", "w/w.yaml"));
}

TEST_F(StagingTest, ExportsAtTheSameTimeDoNotDisturbEachOther) {
  write(target() / "log.txt", "kept");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      for (int round = 0; round < 5; ++round) {
        StagedDirectory staged(target());
        write_export(staged.path(), {"node" + std::to_string(i)});
        staged.commit();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_file(target() / "log.txt"), "kept");
  for (const fs::path& file : list_named_files(target(), "w")) {
    EXPECT_TRUE(file.extension() != ".onnx" || fs::exists(target() / file)) << file;
  }
  for (const std::string& name : listing()) EXPECT_THAT(name, testing::Not(HasSubstr("staging")));
}

TEST_F(StagingTest, AReaderAlwaysFindsAWholeExport) {
  write_export(target(), {"a"});
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) {
      StagedDirectory staged(target());
      write_export(staged.path(), {"a"}, std::to_string(i));
      staged.commit();
    }
    stop = true;
  });
  while (!stop) EXPECT_TRUE(fs::exists(target() / "w.yaml"));
  writer.join();
}

TEST_F(StagingTest, ThroughALinkTheFolderIsReplaced) {
  const fs::path real = folder_.path() / "disk" / "w";
  write_export(real, {"a"});
  fs::create_directory(folder_.path() / "out");
  fs::create_directory_symlink(real, target());
  StagedDirectory staged(target());
  EXPECT_EQ(staged.target(), fs::canonical(real));
  write_export(staged.path(), {"b"});
  staged.commit();
  EXPECT_TRUE(fs::is_symlink(target()));
  EXPECT_TRUE(fs::exists(real / "b.onnx"));
  EXPECT_FALSE(fs::exists(real / "a.onnx"));
}

TEST_F(StagingTest, TheWorkingDirectoryStaysTheSame) {
  write_export(target(), {"a"}, "old");
  write(target() / "notes/mine.txt", "kept");
  const fs::path before = fs::current_path();
  fs::current_path(target());
  StagedDirectory staged(".");
  write_export(staged.path(), {"b"}, "new");
  staged.commit();
  EXPECT_TRUE(fs::equivalent(fs::current_path(), target()));
  EXPECT_EQ(read_file("b.onnx"), "new");
  fs::current_path(before);
  EXPECT_THAT(listing(),
              ElementsAre("w", "w/b.onnx", "w/notes", "w/notes/mine.txt", "w/w.png", "w/w.yaml"));
}

TEST_F(StagingTest, PermissionsOfTheFolderAreKept) {
  write_export(target(), {"a"});
  fs::permissions(target(), fs::perms::owner_all | fs::perms::group_read);
  StagedDirectory staged(target());
  staged.commit();
  EXPECT_EQ(fs::status(target()).permissions(), fs::perms::owner_all | fs::perms::group_read);
}

TEST_F(StagingTest, ATrailingSlashIsFine) {
  StagedDirectory staged(target() / "");
  EXPECT_EQ(staged.target().filename(), "w");
  write_export(staged.path(), {"a"});
  staged.commit();
  EXPECT_TRUE(fs::exists(target() / "a.onnx"));
}

TEST_F(StagingTest, AFileInTheWayIsAnError) {
  write(target(), "a file");
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { StagedDirectory staged(target()); }),
              HasSubstr("cannot export here, because a file"));
  EXPECT_THAT(error_of(ErrorKind::kIo, [&] { StagedDirectory staged(target() / "sub"); }),
              HasSubstr("cannot export here"));
}

TEST_F(StagingTest, AFormerYamlThatCannotBeReadCostsNoForeignFile) {
  write(target() / "w.yaml", "{{{");
  write(target() / "a.onnx", "whose?");
  StagedDirectory staged(target());
  write_export(staged.path(), {"b"});
  staged.commit();
  EXPECT_TRUE(fs::exists(target() / "a.onnx"));
  EXPECT_TRUE(fs::exists(target() / "b.onnx"));
}

TEST_F(StagingTest, PathsOfAFormerYamlThatLeaveTheFolderAreLeftAlone) {
  write(folder_.path() / "out" / "precious.onnx", "precious");
  write(target() / "w.yaml",
        "models:\n  a:\n    parameters:\n      model_path: ../precious.onnx\n");
  StagedDirectory staged(target());
  staged.commit();
  EXPECT_EQ(read_file(folder_.path() / "out" / "precious.onnx"), "precious");
}

// After a power cut, everything that was synced is on the disk, and any part of the rest. Therefore
// a file must be synced before it gets its name, and the name before the previous export is
// removed.
TEST_F(StagingTest, b24_WhatANameStandsForIsOnTheDiskFirst) {
  write_export(target(), {"a"}, "old");
  write(target() / "notes" / "mine.txt", "kept");
  for (const bool exists : {true, false}) {
    if (!exists) fs::remove_all(target());
    std::vector<std::string> calls;
    StagedDirectory staged(target());
    write_export(staged.path(), {"a", "b"}, "new");
    write(staged.path() / "sub" / "c.onnx", "nested");
    const std::string folder = staged.path().filename().string();
    asked = &calls;
    staged.commit();
    asked = nullptr;
    const auto at = [&](const std::string& call) {
      const auto found = std::find(calls.begin(), calls.end(), call);
      EXPECT_NE(found, calls.end()) << call;
      return found - calls.begin();
    };
    for (const char* file : {"a.onnx", "b.onnx", "c.onnx", "w.yaml", "w.png"}) {
      EXPECT_LT(at(std::string("fsync ") + file), at("fsync " + folder));
    }
    EXPECT_LT(at("fsync c.onnx"), at("fsync sub"));
    EXPECT_LT(at("fsync " + folder), at("rename w"));
    EXPECT_LT(at("rename w"), at("fsync out"));
    if (exists) {
      EXPECT_LT(at("fsync notes"), at("rename w"));
    }
  }
}

}  // namespace
}  // namespace leapp
