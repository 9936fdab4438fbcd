// A new export that replaces the previous one completely or not at all: it is written to a
// temporary directory, then swapped in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/checkpoint.h"
#include "leapp/visibility.h"

namespace leapp {

/// A directory to write an export to, which becomes the target directory on commit().
///
///   StagedDirectory staged("exports/walker");
///   write_everything_into(staged.path());
///   staged.commit();
///
/// Until commit() returns, a reader of the target sees the complete previous export; afterwards it
/// sees the complete new one. Files in the target that do not belong to an export (log.txt, notes
/// of the user, directories) are carried over; files of the previous export that are not in the new
/// one are removed. Without commit(), the target is unchanged. The next export to the same target
/// removes the temporary directory of a killed process. Concurrent exports do not interfere with
/// each other; the last commit wins. commit() waits for the disk, so a power cut also leaves one of
/// the two exports: it syncs the files, their directory, the new name, and the parent directory.
///
/// If the target is the working directory, it stays the same directory, so that a shell in it sees
/// the new export.
///
/// If the target is a mount point, it cannot be swapped. Files are then moved one by one: the YAML
/// is removed first and written last, so a partial bundle never loads.
///
/// Not thread-safe; use one object from one thread.
class LEAPP_EXPORT StagedDirectory {
 public:
  /// Creates the temporary directory. `target` is the export's directory, which need not exist; its
  /// last part is the bundle's name. Throws Error(kIo) if it is not writable, kValue if a file has
  /// the target's name.
  explicit StagedDirectory(const std::filesystem::path& target);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  /// Returns the directory to write to. Absolute; empty after commit().
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Returns the final directory. Absolute, without links.
  const std::filesystem::path& target() const noexcept { return target_; }

  /// Writes the existing files to the disk before commit(), which then waits less. May run in
  /// another thread while more files are written, but not during commit().
  void sync_early() const noexcept;

  /// Puts the export in place. Throws Error(kIo) if that fails; the previous export is then
  /// unchanged. `last_chance` is called when all files are on the disk, just before they replace
  /// the previous export; if it throws, the previous export is unchanged too.
  void commit(const Checkpoint& last_chance = {});

 private:
  void carry_over() const;
  bool swap_in();
  void swap_back() const;
  void move_in();

  std::filesystem::path target_;
  std::string name_;
  std::filesystem::path path_;
  int lock_ = -1;  // shows other processes that path_ is in use
};

/// Writes one file of an export. Throws Error(kIo).
LEAPP_EXPORT void write_bytes(const std::filesystem::path& file, std::string_view bytes);

}  // namespace leapp
