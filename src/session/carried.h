// State that the program keeps by itself: `self.h = f(x, self.h)`, a queue of past observations.
//
// Nobody declares it and nothing is written in place: a later pass simply reads another tensor
// where the first one read its initial value, and that tensor is one the pass before computed,
// took in, or read at another place. A `Carried` follows the tensors from outside through the
// passes of one node. Where every pass agrees on where they come from, they become state.
//
// Memory that the first pass writes to is state already, in place. It is followed too, because the
// program may replace it afterwards, or make it anew for every pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/alignment.h"
#include "trace/recording.h"

namespace leapp::session {

/// One pass, as it is handed to a Carried.
struct CarriedPass {
  std::shared_ptr<trace::Tape> tape;
  std::vector<std::int32_t> calls;  ///< all that ran in the pass, of no other node
  std::vector<trace::Recording::Port> inputs;
  bool apart = false;  ///< other operators than in the first pass compute its outputs
};

/// An output of a node, as the value of a tensor.
struct CarriedPort {
  trace::NodeId node = trace::kNobody;
  std::string port;

  auto operator<=>(const CarriedPort&) const = default;
};

/// What the session knows of tensors that a Carried meets.
struct CarriedContext {
  /// A variable of the first pass: the candidate for state whose memory it is, or -1; nullopt when
  /// it was declared with its value, so that there is nothing to follow.
  std::function<std::optional<std::int32_t>(trace::VarId)> candidate;
  /// What the first pass left in the memory of a candidate.
  std::function<at::Tensor(std::int32_t)> left;
  /// Who put a tensor out, if it is an output as it is.
  std::function<std::optional<CarriedPort>(const at::Tensor&)> port_of;
  /// Whether another node wrote what this memory holds.
  std::function<bool(const at::Tensor&)> is_shared;
};

class Carried {
 public:
  /// Where a value came from: a variable of the first pass, what another site read, or an output.
  struct Source {
    trace::VarId var = trace::kNobody;
    std::int32_t site = -1;
    CarriedPort port = {};
    std::int32_t delay = 1;  ///< how many passes ago

    auto operator<=>(const Source&) const = default;
  };
  /// A state that was found. One whose source lies several passes back is a chain of them.
  struct State {
    trace::VarId initial = trace::kNobody;     ///< what the first pass read, a constant there
    at::Tensor value;                          ///< its value then
    Source source;                             ///< where a later pass gets it from
    std::vector<std::int32_t> sites;           ///< where the first pass reads it
    std::vector<at::Tensor> found;             ///< what each pass read
    std::optional<std::size_t> same_as_state;  ///< source.site: the state that is read there
    std::int32_t candidate = -1;               ///< it is this one already: only its source is new
  };
  struct Findings {
    std::vector<State> states;
    std::vector<std::int32_t> renewed;  ///< candidates that every pass finds as the first one did
    std::vector<std::string> doubts;    ///< sentences; then there are no states
    std::vector<std::string> notes;     ///< sentences about candidates, which stay what they are
  };

  bool empty() const noexcept { return formers_.empty(); }

  /// Takes a pass in.
  void add(const CarriedPass& pass, const CarriedContext& context);

  /// Whether the pass that was added last read, as `var`, something whose source is known.
  bool explains(trace::VarId var) const { return !apart_ && explained_.count(var) > 0; }

  /// A call of the pass that was added last which the first pass did not run, and whose result that
  /// pass used or left behind.
  std::optional<std::int32_t> added_call() const { return added_call_; }

  /// Whether a tensor from outside, on the tape of a pass not added yet, was computed from inputs
  /// by the pass before.
  bool was_computed(const trace::Tape& tape, trace::VarId var) const;

  /// Whether a later pass read this tensor where the first one had read another.
  bool has_read(const at::Tensor& tensor) const;

  /// Whether later passes read another value where the first one read this.
  bool changes(trace::VarId initial) const;

  /// The states that `recording`, of the first pass, needs.
  Findings find(const trace::Recording& recording) const;

  /// Makes the first pass read `var` at a site.
  void redirect(std::int32_t site, trace::VarId var) const;

 private:
  // A place where the first pass reads something that depends on none of its inputs.
  struct Site {
    std::int32_t call;
    std::int32_t arg;
    std::int32_t item;  // -1: no list
    trace::VarId initial;
    const c10::TensorImpl* read = nullptr;         // by the pass before; null: nothing from outside
    std::optional<std::set<Source>> sources = {};  // what every pass so far allows
    std::vector<at::Tensor> found = {};            // once it has changed: per pass
    bool changed = false;
    bool settled = false;     // it can only be what it was in the pass before
    std::int32_t waited = 0;  // passes so far that found something of unknown origin there
    std::int32_t like = -1;   // the first site that has read the same tensor in every pass so far

    // Where the first pass first touches memory that it writes to.
    std::int32_t candidate = -1;
    at::Tensor left = {};    // what the pass before left there
    bool continued = false;  // a pass found that
    bool renewed = false;    // a pass found what the first one did, and not that
    bool strange = false;    // a pass found something else
  };

  void start(const CarriedPass& pass, const CarriedContext& context);
  using Reads = std::map<const c10::TensorImpl*, std::vector<std::int32_t>>;  // sites, by object
  std::set<Source> sources_of(std::int32_t site, const c10::TensorImpl* object,
                              const at::Tensor& tensor, const Reads& reads,
                              const CarriedContext& context) const;
  bool follow_memory(Site& site, const trace::Tape& tape, trace::VarId var,
                     const std::set<Source>& sources, const CarriedContext& context);
  std::optional<Source> source_of(const Site& site) const;  // the only one that is left
  std::string describe(const Site& site) const;
  static std::optional<std::int32_t> find_added_call(const trace::Tape& tape,
                                                     const Alignment& aligned);

  CarriedPass first_;
  std::set<Source> older_sources_of(const c10::TensorImpl* object, const at::Tensor& tensor) const;
  static void add_chain(std::vector<State>& states, std::int32_t delay);

  // What is left of a pass that was added.
  struct Former {
    std::shared_ptr<trace::Tape> tape;
    std::int32_t begin;                  // its first call
    std::vector<trace::VarId> in_first;  // its variables: those of the first pass they are, if any
  };
  std::vector<Former> formers_;  // all of them; the first pass has no in_first
  std::vector<Site> sites_;
  std::set<trace::VarId> explained_;
  std::vector<at::Tensor> moved_in_;  // what later passes read in the place of other tensors
  bool apart_ = false;                // the passes ran different operators
  std::optional<std::int32_t> added_call_;
};

}  // namespace leapp::session
