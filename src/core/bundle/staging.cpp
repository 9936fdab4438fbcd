#include "bundle/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <system_error>
#include <vector>

#include "base/check.h"
#include "base/folder_tree.h"
#include "base/log.h"
#include "bundle/former_export.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what, int code) {
  throw Error(Code::kIo, path.string() + ": " + what + ": " + std::strerror(code));
}

/// Opens and locks a directory. Returns -1 if another process holds the lock or the directory no
/// longer exists.
int try_lock(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat opened {};
  struct stat there {};
  // Another process may have removed it as abandoned before it was locked.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &opened) == 0 &&
      ::stat(folder.c_str(), &there) == 0 && opened.st_ino == there.st_ino) {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

/// Removes staging directories whose process has ended; a directory in use is locked.
void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> candidates;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().filename().string().starts_with(prefix)) candidates.push_back(entry.path());
  }
  for (const fs::path& folder : candidates) {
    const int lock = try_lock(folder);
    if (lock < 0) continue;
    remove_tree(folder);
    ::close(lock);
  }
}

/// Returns a new directory with a unique name, or an empty path if `parent` is not writable. Its
/// mode is the user's default, unlike that of mkdtemp().
fs::path make_unique(const fs::path& parent, const std::string& prefix) {
  std::random_device random;
  do {
    fs::path folder = parent / (prefix + std::to_string(random()));
    if (::mkdir(folder.c_str(), 0777) == 0) return folder;
  } while (errno == EEXIST);
  return {};
}

/// Waits until a file or directory is on the disk. Stops asking after the file system reports that
/// it cannot sync.
void sync_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    if (errno == ELOOP || errno == ENXIO) return;  // a link or pipe has no content of its own
    fail(path, "could not be written to the disk", errno);
  }
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (code != 0 && code != EINVAL && code != EROFS) {
    fail(path, "could not be written to the disk", code);
  }
}

/// Makes `to` a hard link to `from`, or a copy if the file system has no hard links.
void link_file(const fs::path& from, const fs::path& to) {
  const auto status = fs::symlink_status(from);
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to);
  } else if (fs::is_regular_file(status)) {
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (error) {
      fs::copy_file(from, to);
      sync_to_disk(to);
    }
  }
  // Sockets and pipes belong to running programs and are not carried over.
}

/// Links all files below `from` to the same places below `to`, except those that exist there.
/// `leave_out` is called with relative paths.
template <typename LeaveOut>
void link_tree(const fs::path& from, const fs::path& to, const LeaveOut& leave_out) {
  std::vector<fs::path> folders = {fs::path()};
  while (!folders.empty()) {
    const fs::path folder = std::move(folders.back());
    folders.pop_back();
    for (const auto& entry : fs::directory_iterator(from / folder)) {
      const fs::path relative = folder / entry.path().filename();
      if (leave_out(relative)) continue;
      const bool taken = fs::exists(fs::symlink_status(to / relative));
      if (fs::is_directory(entry.symlink_status())) {
        if (!taken) {
          fs::create_directory(to / relative);
          fs::permissions(to / relative, entry.status().permissions());
        }
        if (!taken || fs::is_directory(to / relative)) folders.push_back(relative);
      } else if (!taken) {
        link_file(entry.path(), to / relative);
      }
    }
  }
}

bool is_working_directory(const fs::path& folder) {
  std::error_code ignored;
  return fs::equivalent(fs::current_path(ignored), folder, ignored);
}

void move_tree(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return;
  fs::copy(from, to,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing |
               fs::copy_options::copy_symlinks);
  if (const std::error_code failed = remove_tree(from)) {
    fail(from, "cannot be removed", failed.value());
  }
}

enum class Synced { kFiles, kFolders };

void sync_tree(const fs::path& folder, Synced which) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::is_directory(entry.symlink_status())) {
      sync_tree(entry.path(), which);
    } else if (which == Synced::kFiles) {
      sync_to_disk(entry.path());
    }
  }
  if (which == Synced::kFolders) sync_to_disk(folder);
}

int exchange(const fs::path& a, const fs::path& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
}

// Exports to one directory are committed one after the other: files that a commit keeps must not be
// replaced at the same time. The lock is on the parent directory, so it leaves no file.
class CommitLock {
 public:
  explicit CommitLock(const fs::path& target)
      : descriptor_(::open(fs::absolute(target).parent_path().c_str(),
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~CommitLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  CommitLock(const CommitLock&) = delete;
  CommitLock& operator=(const CommitLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

StagedDirectory::StagedDirectory(const std::filesystem::path& target) {
  try {
    // For a link to a directory, the directory itself is replaced.
    target_ = fs::weakly_canonical(fs::absolute(target / "").parent_path());
    name_ = target_.filename().string();
    require(
        !fs::exists(target_) || fs::is_directory(target_), Code::kWrongValue,
        target_.string() + ": cannot export here, because a file has the name of the directory");
    fs::create_directories(target_.parent_path());
  } catch (const fs::filesystem_error& error) {
    fail(target, "cannot export here", error.code().value());
  }
  const std::string prefix = "." + name_ + ".staging-";
  for (const fs::path& parent : {target_.parent_path(), target_}) {
    remove_abandoned(parent, prefix);
    for (int attempt = 0; attempt < 3 && lock_ < 0; ++attempt) {
      path_ = make_unique(parent, prefix);
      if (path_.empty()) break;
      lock_ = try_lock(path_);
    }
    if (lock_ >= 0) return;
  }
  fail(target_, "cannot create a temporary directory for the export", errno);
}

StagedDirectory::~StagedDirectory() {
  if (!path_.empty()) remove_tree(path_);
  if (lock_ >= 0) ::close(lock_);
}

void StagedDirectory::commit(const Checkpoint& last_chance) {
  demand(!path_.empty(), "a staged directory is committed once");
  const CommitLock one_at_a_time(target_);
  try {
    for (const auto& entry : fs::directory_iterator(path_)) {
      const fs::path place = target_ / entry.path().filename();
      if (entry.is_directory() || !fs::is_directory(fs::symlink_status(place))) continue;
      throw Error(Code::kIo, place.string() +
                                 " is a directory, but the export needs a file of that name. Move "
                                 "the directory away. Nothing was changed.");
    }
    const bool exists = fs::exists(target_);
    if (exists) fs::permissions(path_, fs::status(target_).permissions());
    // After a power cut the target is the previous export or this one, because the new files are on
    // the disk before they get the name. Files that are carried over were already on the disk.
    sync_tree(path_, Synced::kFiles);
    if (path_.parent_path() == target_) {
      last_chance();
      move_in();
    } else {
      if (exists) carry_over();
      sync_tree(path_, Synced::kFolders);
      last_chance();
      if (!swap_in()) move_in();
      sync_to_disk(target_.parent_path());
    }
  } catch (const fs::filesystem_error& error) {
    fail(target_, "the export could not be put in place", error.code().value());
  }
  // The lock moves with the directory, which is now the target.
  ::close(lock_);
  lock_ = -1;
  path_.clear();
}

void StagedDirectory::sync_early() const noexcept {
  try {
    sync_tree(path_, Synced::kFiles);
  } catch (const std::exception&) {  // commit() meets the error again and reports it
  }
}

/// Links all files of the old directory that are not part of an export into the new one: B24.
void StagedDirectory::carry_over() const {
  const std::set<fs::path> former = list_export_files(target_, name_);
  const std::set<fs::path> named = list_named_files(path_, name_);  // models used in place
  link_tree(target_, path_,
            [&](const fs::path& file) { return former.contains(file) && !named.contains(file); });
}

/// Swaps the directories. Returns false if the target cannot be renamed because it is a mount
/// point.
bool StagedDirectory::swap_in() {
  const int in_use = is_working_directory(target_) ? try_lock(target_) : -1;
  int code = exchange(path_, target_);
  if (code == 0) {
    sync_to_disk(target_.parent_path());
    if (in_use >= 0) {
      try {
        swap_back();
      } catch (const std::exception&) {  // the export is in place, in a different directory
      }
      ::close(in_use);
    }
    if (const std::error_code error = remove_tree(path_)) {
      warn(Code::kFormerExport, path_.string() + ": the previous export could not be removed (" +
                                    error.message() + "); it is safe to delete");
    }
    return true;
  }
  if (code == ENOENT) {
    if (::rename(path_.c_str(), target_.c_str()) == 0) return true;
    code = errno;
  }
  if (code == EBUSY || code == EXDEV) return false;
  if (code != ENOSYS && code != EINVAL) {
    fail(target_, "the export could not be put in place", code);
  }
  // A file system without exchange: for an instant there is no export, but never a partial one.
  const fs::path away = make_unique(target_.parent_path(), "." + name_ + ".former-");
  if (::rename(target_.c_str(), away.c_str()) != 0) {
    fail(target_, "the export could not be put in place", errno);
  }
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    code = errno;
    fs::rename(away, target_);
    fail(target_, "the export could not be put in place", code);
  }
  remove_tree(away);
  return true;
}

/// Fills the swapped-out directory with the new files and makes it the target again, because it is
/// the working directory of this process, and probably of a shell.
void StagedDirectory::swap_back() const {
  for (const auto& entry : fs::directory_iterator(path_)) remove_tree(entry.path());
  link_tree(target_, path_, [](const fs::path&) { return false; });
  sync_tree(path_, Synced::kFolders);
  exchange(path_, target_);
}

/// Keeps the target directory and replaces its files one by one, the YAML last.
void StagedDirectory::move_in() {
  const fs::path yaml = name_ + ".yaml";
  const std::set<fs::path> former = list_export_files(target_, name_);
  const std::set<fs::path> named = list_named_files(path_, name_);
  fs::remove(target_ / yaml);
  for (const fs::path& file : former) {
    if (!named.contains(file)) fs::remove(target_ / file);
  }
  for (const auto& entry : fs::directory_iterator(path_)) {
    const fs::path name = entry.path().filename();
    if (name != yaml) move_tree(entry.path(), target_ / name);
  }
  sync_to_disk(target_);
  if (fs::exists(path_ / yaml)) move_tree(path_ / yaml, target_ / yaml);
  sync_to_disk(target_);
  if (const std::error_code failed = remove_tree(path_)) {
    fail(path_, "cannot be removed", failed.value());
  }
}

void write_bytes(const fs::path& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  require(stream.good(), Code::kIo,
          file.string() +
              ": the file could not be written: check that the directory exists, is writable and "
              "has space left, and that no directory has its name");
}

}  // namespace leapp
