// What a later pass of a node does otherwise than an earlier one.
//
// A pass that runs other operators, or the same ones with other numbers, shows that something the
// export takes for constant is not.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "session/alignment.h"
#include "session/carried.h"
#include "trace/recording.h"

namespace leapp::session {

struct Note {
  std::string text;
  trace::FrameRef where;
  bool constant = false;  ///< it ran the same on another constant, which nothing explains
};
using Notes = std::vector<Note>;

/// What the session knows of tensors of the later pass.
struct ComparisonContext {
  /// Whether this node computed the value of a variable from outside in an earlier pass.
  std::function<bool(trace::VarId)> is_own;
  /// Whether a node wrote what this memory holds: it is wired as shared state then.
  std::function<bool(const at::Tensor&)> is_written;
};

/// Compares two passes; everything given must outlive it.
class PassComparison {
 public:
  PassComparison(const trace::Recording& first, const trace::Recording& again,
                 const Alignment& aligned, const Carried& carried, ComparisonContext context);

  /// Each difference with the user's line in the later pass.
  Notes run();

 private:
  void compare_calls(const trace::Call& a, const trace::Call& b);
  bool compare_forms(const trace::Call& a, const trace::Call& b);
  void compare_values(const trace::Call& a, const trace::Call& b, std::size_t parameter);
  void compare_tensors(trace::VarId was, trace::VarId is, const trace::Call& b);
  bool has_the_same_content(trace::VarId was, trace::VarId is) const;
  void note_unpaired_state();
  void note_control_flow();
  void note_own(const trace::Call& reader);
  void note(std::string text, trace::FrameRef where, bool constant = false);

  const trace::Recording& first_;
  const trace::Recording& again_;
  const trace::Tape& old_tape_;
  const trace::Tape& new_tape_;
  const Alignment& aligned_;
  const Carried& carried_;
  ComparisonContext context_;
  std::vector<bool> compared_;    // variables of the first pass
  std::set<trace::VarId> noted_;  // of the later one
  Notes notes_;
};

}  // namespace leapp::session
