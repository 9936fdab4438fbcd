// A new export that replaces the previous one completely or not at all: it is written to a
// temporary directory, then swapped in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// A folder to write an export into, which becomes the target folder on commit().
///
///   StagedDirectory staged("exports/walker");
///   write_everything_into(staged.path());
///   staged.commit();
///
/// Until commit() returns, a reader of the target sees the former export, whole; afterwards the new
/// one, whole. Files in the target that belong to no export (log.txt, notes of the user, folders)
/// are carried over; files of the former export that the new one does not have are gone. Destroyed
/// without commit(), nothing has happened to the target. What a killed process left behind is
/// removed by the next export to the same target; exports at the same time do not disturb each
/// other, and the last one to commit stands. commit() waits for the disk, so that a power cut
/// leaves one of the two as well: files, then their folder, then the new name, then the folder
/// above.
///
/// Where the target is a mount point the swap is impossible: files are then moved one by one, the
/// YAML taken away first and put in place last, so that a half-written bundle never loads.
///
/// Not thread-safe; use one object from one thread.
class LEAPP_EXPORT StagedDirectory {
 public:
  /// Creates the temporary directory. `target` is the export's directory, which need not exist; its
  /// last part is the bundle's name. Throws Error(kIo) if it is not writable, kValue if a file is
  /// in the way.
  explicit StagedDirectory(const std::filesystem::path& target);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  /// Returns the directory to write to. Absolute; empty after commit().
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Returns the final directory. Absolute, without links.
  const std::filesystem::path& target() const noexcept { return target_; }

  /// Writes the files that are there to the disk ahead of commit(), which then waits for less. May
  /// run in another thread while more are written, but not during commit().
  void sync_early() const noexcept;

  /// Puts the export in place. Throws Error(kIo) when it cannot; the former export stands then.
  void commit();

 private:
  void carry_over() const;
  bool swap_in();
  void move_in();

  std::filesystem::path target_;
  std::string name_;
  std::filesystem::path path_;
  int lock_ = -1;  // held on path_, so that others can tell it is in use
};

/// Writes one file of an export. Throws Error(kIo).
LEAPP_EXPORT void write_bytes(const std::filesystem::path& file, std::string_view bytes);

}  // namespace leapp
