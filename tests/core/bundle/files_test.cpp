#include "bundle/verified_files.h"
#include "support.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using testing::HasSubstr;
using testing::StartsWith;

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    fs::create_directory(folder_.path() / "w");
    bundle_ = test::make_bundle();
    for (Model& model : bundle_.models) model.file = entry(model.name + ".onnx");
    bundle_.models[0].external_data = {entry("pre.onnx.data")};
    bundle_.pipeline.initial_values = entry("w_initial_values.safetensors");
    bundle_.file = folder_.write("w/w.yaml", to_yaml(bundle_));
  }

  fs::path root() const { return folder_.path() / "w"; }

  FileEntry entry(const std::string& name) const {
    return entry_of(folder_.write("w/" + name, "content of " + name));
  }

  std::string refusal(ErrorKind kind = ErrorKind::kValue) const {
    return error_of(kind, [&] { verify_files(bundle_); });
  }

  test::TemporaryFolder folder_;
  Bundle bundle_;
};

TEST_F(FilesTest, AnEntryStatesTheFilesNameAndChecksums) {
  const FileEntry entry = entry_of(folder_.write("w/abc", "abc"));
  EXPECT_EQ(entry.path, "abc");
  EXPECT_EQ(entry.md5sum, "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(entry.sha256sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(FilesTest, b21_UntouchedFilesPass) {
  EXPECT_NO_THROW(verify_files(bundle_));
  EXPECT_NO_THROW(verify_files(bundle_, root()));
}

TEST_F(FilesTest, b21_AChangedModelIsFound) {
  folder_.write("w/policy.onnx", "content of policy.onnY");
  EXPECT_THAT(refusal(), HasSubstr("[B21] SHA256 checksum mismatch for the model of 'policy', "));
  EXPECT_THAT(refusal(), HasSubstr("expected " + bundle_.models[1].file->sha256sum + ", found "));
}

TEST_F(FilesTest, b21_APointerOfGitLfsIsRecognised) {
  folder_.write("w/policy.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  EXPECT_THAT(refusal(), HasSubstr("SHA256 checksum mismatch"));
  EXPECT_THAT(refusal(), HasSubstr("run 'git lfs pull'"));
}

TEST_F(FilesTest, b21_AMismatchNamesTheLine) {
  folder_.write("w/policy.onnx", "");
  EXPECT_THAT(refusal(), StartsWith(bundle_.file.string() + ":50:18: [B21] "));
  fs::remove(root() / "policy.onnx");
  EXPECT_THAT(refusal(ErrorKind::kNotFound), StartsWith(bundle_.file.string() + ":48:19: "));
  folder_.write("w/w.yaml", "{");
  EXPECT_THAT(refusal(ErrorKind::kNotFound), StartsWith(bundle_.file.string() + ": "));
  bundle_.file.clear();
  EXPECT_THAT(error_of(ErrorKind::kNotFound, [&] { verify_files(bundle_, root()); }),
              StartsWith((root() / "policy.onnx").string()));
}

TEST_F(FilesTest, b21_ExternalDataAndInitialValuesAreCoveredToo) {
  folder_.write("w/pre.onnx.data", "");
  EXPECT_THAT(refusal(), HasSubstr("[B21] SHA256 checksum mismatch for external data of 'pre', "));
  folder_.write("w/pre.onnx.data", "content of pre.onnx.data");
  folder_.write("w/w_initial_values.safetensors", "other");
  EXPECT_THAT(refusal(), HasSubstr("[B21] SHA256 checksum mismatch for the initial values, "));
}

TEST_F(FilesTest, b21_InitialValuesOfOthersHaveNoChecksum) {
  bundle_.pipeline.initial_values->sha256sum.clear();
  EXPECT_NO_THROW(verify_files(bundle_));
}

TEST_F(FilesTest, AMissingFileIsNamed) {
  fs::remove(root() / "policy.onnx");
  EXPECT_THAT(refusal(ErrorKind::kNotFound), HasSubstr("policy.onnx: the file was not found"));
}

TEST_F(FilesTest, b14_LinksMayNotLeaveTheFolder) {
  const auto outside = folder_.write("outside.onnx", "content of policy.onnx");
  fs::remove(root() / "policy.onnx");
  fs::create_symlink(outside, root() / "policy.onnx");
  EXPECT_THAT(refusal(),
              HasSubstr("[B14] 'policy.onnx' leads out of the bundle's directory through a link"));
  BundleOptions trusting;
  trusting.allow_outside_files = true;
  EXPECT_NO_THROW(verify_files(bundle_, trusting));
}

TEST_F(FilesTest, b14_ALinkedFolderMayNotLeaveEither) {
  folder_.write("elsewhere/x.onnx", "x");
  fs::create_directory_symlink(folder_.path() / "elsewhere", root() / "sub");
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { resolve_file(root(), "sub/x.onnx"); }),
              HasSubstr("[B14]"));
}

TEST_F(FilesTest, b14_AFolderWithASimilarNameIsOutside) {
  folder_.write("w2/x.onnx", "x");
  fs::create_symlink("../w2/x.onnx", root() / "x.onnx");
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { resolve_file(root(), "x.onnx"); }),
              HasSubstr("[B14]"));
}

TEST_F(FilesTest, LinksInsideTheFolderAndToItAreFine) {
  fs::create_symlink("policy.onnx", root() / "link.onnx");
  EXPECT_EQ(resolve_file(root(), "link.onnx"), fs::canonical(root() / "policy.onnx"));
  fs::create_directory_symlink(root(), folder_.path() / "alias");
  EXPECT_NO_THROW(verify_files(bundle_, folder_.path() / "alias"));
}

TEST_F(FilesTest, b14_OnlyRegularFilesAreModels) {
  fs::create_directory(root() / "folder.onnx");
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { resolve_file(root(), "folder.onnx"); }),
              HasSubstr("is not a regular file"));
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { resolve_file(root(), "."); }),
              HasSubstr("[B14] '.' names a directory, not a file"));
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { resolve_file(root(), "/etc/passwd"); }),
              HasSubstr("[B14] '/etc/passwd' is outside the bundle's directory"));
}

}  // namespace
}  // namespace leapp
