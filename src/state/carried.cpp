#include "state/carried.h"

#include <functional>

#include "base/find.h"
#include "trace/constant.h"

namespace leapp::state {
namespace {

class CarriedFinder {
 public:
  CarriedFinder(const Subject& subject, Followed followed)
      : subject_(subject), followed_(std::move(followed)) {
    done_.kept = {.node = &node_, .base = base_, .states = std::move(followed_.written)};
  }

  Carried run() && {
    drop_renewed();
    const auto differs = [](const ExternalRead& external) {
      return external.changed || external.moved > 0;
    };
    if (!followed_.apart() && std::ranges::any_of(followed_.external_reads, differs)) {
      done_.in_doubt = !find_needed() || !check_needed();
      if (!done_.in_doubt) {
        for (Needed& each : needed_) add_state(each);
        for (const Needed& each : needed_) connect(each);
      }
    }
    done_.followed = std::move(followed_);
    return std::move(done_);
  }

 private:
  // An external read that an output or a state depends on, and the state that it becomes.
  struct Needed {
    std::int32_t external = -1;
    Source source = {};
    std::size_t read = 0;   // the state that it reads
    std::size_t taken = 0;  // the state that receives the value; a different one if it is delayed
  };

  const ExternalRead& external_at(std::int32_t number) const {
    return followed_.external_reads[static_cast<std::size_t>(number)];
  }
  const Pass& pass() const { return *subject_.first().pass; }
  std::vector<State>& states() { return done_.kept.states; }

  const Needed* needed_at(std::int32_t external) const {
    return find_in(needed_, external, &Needed::external);
  }

  void say(Code code, const ExternalRead& external, const std::string& text) {
    const trace::Tape& tape = pass().tape();
    const trace::Site& site = external.sites.front();
    const at::Tensor read =
        external.changed ? external.found.front() : tape.content(external.initial());
    done_.findings.push_back(warning(
        code, tape.call(site.call).frame, node_.name,
        "node '" + node_.name + "': " + describe_read(tape, site, read, subject_.paths) + text));
  }

  // Removes states whose memory is allocated again in every pass; reports memory that others
  // change.
  void drop_renewed() {
    std::vector<VarId>& renewed = done_.kept.renewed;
    for (const ExternalRead& external : followed_.external_reads) {
      if (external.changed || followed_.apart()) continue;
      if (external.memory.is_set_anew()) {
        renewed.push_back(external.written);
      } else if (external.memory.strange) {
        say(Code::kForeignWrite, external, std::string(" and writes to it") + kForeignWriteText);
      }
    }
    for (const State& state : states()) {
      if (!is_scratch(node_, state.slot.before)) continue;
      renewed.push_back(state.slot.before);
      done_.findings.push_back(
          warning(Code::kAmbiguousConstant, pass().opened_at, node_.name,
                  "node '" + node_.name +
                      "' writes to a tensor that the program created outside the node after "
                      "leapp.start() and then released. After a single pass LEAPP treats it as "
                      "scratch memory, which has the same content at the start of every tick. "
                      "Trace a second pass to check this, or keep the tensor as state."));
      done_.findings.back().settled_by_another_pass = true;
    }
    std::erase_if(states(), [&](const State& state) {
      return std::ranges::count(renewed, state.slot.before) > 0;
    });
  }

  // Returns the only possible source.
  std::optional<Source> source_of(const ExternalRead& external) const {
    if (!external.sources) return std::nullopt;
    std::optional<Source> found;
    for (const Source& source : *external.sources) {
      // A value computed at this site in the first pass gives no more information than its value.
      if (source.external >= 0 && !external_at(source.external).changed &&
          external.sources->count({.var = external_at(source.external).initial()}) > 0) {
        continue;
      }
      if (found) return std::nullopt;
      found = source;
    }
    return found;
  }

  // Returns whether passes read different tensors with the same value.
  bool has_moved(const ExternalRead& external) const {
    if (external.changed || external.moved == 0) return false;
    // A number that Python wraps for an operator is a new tensor each time.
    const at::Tensor tensor = pass().tape().content(external.initial());
    return tensor.dim() > 0 || (subject_.paths && !subject_.paths(tensor).empty());
  }

  // Returns whether a read that has not changed yet may do so: the last pass read a different
  // tensor, or the same tensor was also the source of a read that changed.
  bool is_doubtful(const ExternalRead& external) const {
    if (has_moved(external)) return external.moved + 1 == node_.passes.size();
    return external.sources && external.sources->size() > 1 &&
           std::ranges::any_of(*external.sources, [&](const Source& source) {
             return source.external >= 0 && external_at(source.external).changed;
           });
  }

  // Returns whether the last pass read a tensor that no pass has computed yet, instead of the one
  // that the pass before read: the program may pass several such tensors on.
  bool is_passed_on(const ExternalRead& external, const Source& source) const {
    return source.external >= 0 && !external_at(source.external).changed &&
           external.replaced + 1 == node_.passes.size();
  }

  // Returns the other node that computed the value of the last pass, or nullptr.
  const Node* maker_of(const ExternalRead& external) const {
    const VarId read = external.reads.back();
    const auto computes = [&](const Pass& there) {
      return trace::is_computed_in(there.recording, node_.passes.back().tape(), read);
    };
    for (const Node* other : subject_.nodes) {
      if (read == kNoId || other->id == node_.id) continue;
      if (std::ranges::any_of(other->passes, computes)) return other;
    }
    return nullptr;
  }

  // Returns whether the outputs, or the states known so far, depend on a site.
  std::function<bool(const trace::Site&)> is_read() const {
    const std::vector<std::int32_t> calls = trace::slice(pass().tape(), roots_);
    return [needed = std::set(calls.begin(), calls.end())](const trace::Site& site) {
      return needed.count(site.call) > 0;
    };
  }

  // Collects the external reads that the outputs and the states depend on, until no more are added.
  // Returns false, with a finding, if the source of one is unknown.
  bool find_needed() {
    for (const auto& output : pass().recording.outputs) roots_.push_back(output.var);
    for (const State& state : states()) roots_.push_back(state.slot.after);
    for (bool again = true; again;) {
      again = false;
      const auto is_needed = is_read();
      for (std::size_t i = 0; i < followed_.external_reads.size(); ++i) {
        const auto number = static_cast<std::int32_t>(i);
        const ExternalRead& external = followed_.external_reads[i];
        if (needed_at(number) != nullptr) continue;
        // Written memory is included because something depends on it, although not at this point.
        const bool reached =
            external.written != kNoId || std::ranges::any_of(external.sites, is_needed);
        if (!reached && (asked_for_.count(number) == 0 || !external.changed)) continue;
        if (!external.changed && !is_doubtful(external)) continue;
        if (!need(number)) return false;
        again = true;
      }
    }
    return true;
  }

  bool need(std::int32_t number) {
    const ExternalRead& external = external_at(number);
    if (!external.changed) {
      const bool moved = has_moved(external);
      const std::size_t passes = node_.passes.size();
      // A queue moves by one position in each pass.
      done_.passes = passes + (moved ? 1 : external.sites.size());
      say(Code::kAmbiguousConstant, external,
          (moved ? std::string(", and the last pass a different tensor with the same value")
                 : " that the first pass also read in a second place, in which later passes read a "
                   "different tensor") +
              ". LEAPP cannot decide whether it is a constant after " +
              std::to_string(passes - base_) + " passes. Trace " + std::to_string(done_.passes) +
              " passes or more, or make " +
              (moved ? "every pass read the same tensor."
                     : "each place start with its own tensor (.clone())."));
      return false;
    }
    const std::optional<Source> source = source_of(external);
    const auto fits = std::bind_front(trace::same_type, external.found.front());
    if (!source || !std::ranges::all_of(external.found, fits)) {
      const auto& baked = pass().baked;  // named by find_baked()
      if (std::ranges::count(baked, external.initial(), &session::BakedValue::var) > 0)
        return false;
      if (const Node* maker = maker_of(external)) {
        say(Code::kForgottenInput, external,
            " that node '" + maker->name + "' computed. Add it to the outputs of '" + maker->name +
                "', and pass it through annotate.input_tensors().");
      } else {
        say(Code::kUnknownSource, external,
            " that changes from pass to pass. Different lines of the previous pass compute it, so "
            "it cannot be exported as state. Declare it with annotate.state_tensors() and "
            "annotate.update_state(), or pass it through annotate.input_tensors().");
      }
      return false;
    }
    if (is_passed_on(external, *source)) {
      say(Code::kAmbiguousConstant, external,
          ", and the last pass another tensor that the program held from the start: whether it "
          "stays that one cannot be told after " +
              std::to_string(node_.passes.size() - base_) + " passes. Trace " +
              std::to_string(node_.passes.size() + 1) + " passes or more.");
    }
    needed_.push_back({number, *source});
    if (source->var != kNoId) roots_.push_back(source->var);
    if (source->external >= 0) asked_for_.insert(source->external);
    return check_feed(*source, external.found);
  }

  // Returns whether the values that the outputs and the states depend on have the same names in
  // every pass. Reports constants that were different tensors at first and are the same tensor by
  // now.
  bool check_needed() {
    const auto is_needed = is_read();
    for (const ExternalRead& external : followed_.external_reads) {
      if (external.written != kNoId || !has_moved(external)) continue;
      if (std::ranges::none_of(external.sites, is_needed)) continue;
      say(Code::kAmbiguousConstant, external,
          ", and later passes read a different tensor with the same value. It is exported as a "
          "constant. If it changes, pass it through annotate.input_tensors().");
    }
    const trace::Site* mismatched = find_where(followed_.mismatched, is_needed);
    if (mismatched == nullptr) return true;
    say(Code::kUnknownSource,
        {.sites = {*mismatched}, .reads = {variable_at(pass().tape(), *mismatched)}},
        " that has a second name in the program, but only in some passes. The program writes to it "
        "in place, so it cannot be exported as state. Give each name its own tensor (.clone()), or "
        "declare it with annotate.state_tensors().");
    return false;
  }

  // Returns whether a carried output of another node always has the same age in ticks.
  bool check_feed(const Source& source, const std::vector<at::Tensor>& found) {
    const PortId& port = source.port;
    if (port.node == kNoId || port.node == node_.id) return true;
    const Node* from = find_node(subject_.nodes, port.node);
    const NodePort* output = from == nullptr ? nullptr : find_port(from->outputs, port.port);
    bool holds = output != nullptr && from->completion > node_.completion &&
                 from->passes.size() + 1 >= found.size();
    for (auto k = static_cast<std::size_t>(source.delay); holds && k < found.size(); ++k) {
      const Pass& then = from->passes[k - static_cast<std::size_t>(source.delay)];
      const auto index = static_cast<std::size_t>(output - from->outputs.data());
      holds = trace::same_value(then.outputs.at(index), found[k]);
    }
    if (holds) return true;
    done_.findings.push_back(
        warning(Code::kForeignOutput, pass().opened_at, node_.name,
                "node '" + node_.name +
                    "' reads an output of another node without declaring it as an input, and not "
                    "always that of the previous tick. Its first value is exported as a constant. "
                    "Pass it through annotate.input_tensors()."));
    return false;
  }

  // Adds the state of an external read. A source several passes back becomes a chain of states:
  // each keeps the value for the next pass, and the last one receives the source.
  void add_state(Needed& needed) {
    const ExternalRead& external = external_at(needed.external);
    if (external.written == kNoId) {
      needed.read = states().size();
      states().push_back({.slot = {.sites = external.sites, .value = external.found.front()}});
    } else {
      needed.read =
          static_cast<std::size_t>(find_state(states(), external.written) - states().data());
    }
    State& state = states()[needed.read];
    state.origin = State::Origin::kCarried;
    state.slot.after = kNoId;
    state.per_pass.resize(node_.passes.size());
    for (std::size_t k = 0; k < external.found.size(); ++k) {
      const std::size_t next = base_ + k + 1;
      const bool known = next < node_.passes.size() && external.rewritten.count(next) == 0;
      state.per_pass[base_ + k] = {external.found[k], known ? external.found[k + 1] : at::Tensor()};
    }
    needed.taken = needed.read;
    for (std::int32_t link = 1; link < needed.source.delay; ++link) {
      State next = {.origin = State::Origin::kCarried};
      const auto& read = states()[needed.taken].per_pass;
      next.per_pass.assign(read.begin() + 1, read.end());
      next.per_pass.emplace_back();
      next.slot.value = next.per_pass[base_].before;
      states()[needed.taken].slot.same_as = states().size();
      needed.taken = states().size();
      states().push_back(std::move(next));
    }
  }

  // Returns how a state is updated, after all states are known.
  void connect(const Needed& needed) {
    State& state = states()[needed.taken];
    const Source& source = needed.source;
    if (const Needed* other = needed_at(source.external)) {
      state.slot.same_as = other->read;
    } else if (source.external >= 0) {
      state.slot.after = external_at(source.external).initial();
    } else if (source.port.node == kNoId) {
      state.slot.after = source.var;
    } else if (const NodePort* own = find_port(node_.outputs, source.port.port);
               source.port.node != node_.id || (own != nullptr && own->is_between)) {
      state.fed_by = State::Feed{source.port.node, source.port.port, {}};
    } else if (const auto* output = find_in(pass().recording.outputs, source.port.port,
                                            &trace::Recording::Port::name)) {
      state.slot.after = output->var;
    }
  }

  const Subject& subject_;
  const Node& node_ = subject_.node;
  const std::size_t base_ = subject_.base;
  Followed followed_;
  std::set<std::int32_t> asked_for_;  // external reads that are the source of another one
  std::vector<Needed> needed_;
  std::vector<VarId> roots_;
  Carried done_;
};

}  // namespace

Carried find_carried(const Subject& subject) {
  std::vector<State> written = find_written(subject.node, subject.first());
  for (;;) {
    Carried carried = CarriedFinder(subject, follow(subject, written)).run();
    // Carried states may depend on more memory that the pass writes to.
    std::vector<State> more = more_written(carried.kept);
    if (more.empty()) return carried;
    std::ranges::move(more, std::back_inserter(written));
  }
}

}  // namespace leapp::state
