#include "session/carried.h"

#include <ATen/ops/equal.h>

#include <algorithm>

#include "trace/dispatcher.h"
#include "trace/op_traits.h"

namespace leapp::session {
namespace {

using trace::kNobody;
using trace::Tape;
using trace::VarId;
using Origin = trace::Variable::Origin;

const c10::TensorImpl* object_of(const trace::Variable& variable) {
  return variable.impl._unsafe_get_target();
}

at::Tensor tensor_of(const trace::Variable& variable) {
  if (auto impl = variable.impl.lock()) return at::Tensor(std::move(impl));
  return variable.held;
}

// A tensor that was there before the pass: met as such, or as a view of memory that was.
bool is_from_outside(const Tape& tape, VarId var) {
  const trace::Variable& variable = tape.variable(var);
  if (variable.store != kNobody && tape.store(variable.store).fresh) return false;
  if (variable.origin == Origin::kOutside) return true;
  if (variable.origin != Origin::kResult) return false;
  const trace::Call& call = tape.calls()[static_cast<std::size_t>(variable.call)];
  return call.found_in_memory && call.node == kNobody;
}

bool is_constant(const Tape& tape, VarId var) {
  const trace::Variable& variable = tape.variable(var);
  if (variable.origin == Origin::kOutside) return true;
  if (variable.origin != Origin::kResult || variable.call < 0) return false;
  const trace::Call& call = tape.calls()[static_cast<std::size_t>(variable.call)];
  return call.node == kNobody || makes_constant(call.op);
}

// Whether a pass, which began with the call `since`, gave the variable its value.
bool was_made(const Tape& tape, VarId var, std::int32_t since) {
  const bool outside = tape.variable(var).origin == Origin::kOutside || is_from_outside(tape, var);
  return !outside || tape.written_since(var, since);
}

at::Tensor copied(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().clone(at::MemoryFormat::Contiguous) : tensor;
}

bool same_type(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes();
}

// Computes a constant of the tape again.
at::Tensor evaluate(const Tape& tape, VarId var) {
  if (tape.variable(var).origin == Origin::kOutside) return copied(tape.content(var));
  std::map<VarId, at::Tensor> values;
  const auto value_of = [&](VarId id) -> c10::IValue {
    if (id == kNobody) return {};
    const auto it = values.find(id);
    if (it != values.end()) return it->second;
    return values[id] = copied(tape.content(id));
  };
  for (const std::int32_t index : trace::slice(tape, {var})) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
    if (call.relative) return {};
    torch::jit::Stack stack;
    const trace::Arg* args = tape.args_of(call);
    const auto& declared = call.op.schema().arguments();
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (args[i].kind == trace::Arg::Kind::kValue) {
        stack.push_back(args[i].value);
      } else if (args[i].kind == trace::Arg::Kind::kTensor) {
        stack.push_back(value_of(args[i].var));
      } else {
        c10::List<at::Tensor> list;
        for (std::int32_t k = 0; k < args[i].list_size; ++k) {
          const VarId item = tape.list_item(args[i].list_begin + k);
          if (item == kNobody) return {};  // an index with gaps: not worth the effort
          list.push_back(value_of(item).toTensor());
        }
        if (declared[i].type()->str().find('?') != std::string::npos) return {};
        stack.emplace_back(std::move(list));
      }
    }
    call.op.callBoxed(&stack);
    const trace::CallResult* results = tape.results_of(call);
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (!results[i].is_tensor) continue;
      if (!results[i].is_list) {
        if (results[i].var != kNobody) values[results[i].var] = stack[i].toTensor();
        continue;
      }
      const auto items = stack[i].toTensorVector();
      for (std::int32_t k = 0; k < results[i].list_size; ++k) {
        values[tape.list_item(results[i].list_begin + k)] = items.at(static_cast<std::size_t>(k));
      }
    }
  }
  const auto it = values.find(var);
  return it == values.end() ? at::Tensor() : copied(it->second);
}

template <typename Visit>
void for_each_argument(const Tape& tape, const trace::Call& call, Visit&& visit) {
  const trace::Arg* args = tape.args_of(call);
  const auto count = static_cast<std::int32_t>(call.op.schema().arguments().size());
  for (std::int32_t k = 0; k < count; ++k) {
    if (args[k].kind == trace::Arg::Kind::kTensor) visit(k, -1, args[k].var);
    for (std::int32_t item = 0; item < args[k].list_size; ++item) {
      visit(k, item, tape.list_item(args[k].list_begin + item));
    }
  }
}

std::optional<VarId> argument_at(const Tape& tape, const trace::Call& call, std::int32_t arg,
                                 std::int32_t item) {
  const trace::Arg& given = tape.args_of(call)[arg];
  if (item < 0) {
    if (given.kind != trace::Arg::Kind::kTensor) return std::nullopt;
    return given.var;
  }
  if (given.kind != trace::Arg::Kind::kTensorList || item >= given.list_size) return std::nullopt;
  return tape.list_item(given.list_begin + item);
}

template <typename Visit>
void for_each_result_pair(const Tape& a, const trace::Call& first, const Tape& b,
                          const trace::Call& again, Visit&& visit) {
  const trace::CallResult* old_results = a.results_of(first);
  const trace::CallResult* new_results = b.results_of(again);
  for (std::size_t i = 0; i < first.op.schema().returns().size(); ++i) {
    if (!old_results[i].is_tensor || !new_results[i].is_tensor) continue;
    if (!old_results[i].is_list) visit(old_results[i].var, new_results[i].var);
    const std::int32_t items = std::min(old_results[i].list_size, new_results[i].list_size);
    for (std::int32_t k = 0; k < items; ++k) {
      visit(a.list_item(old_results[i].list_begin + k), b.list_item(new_results[i].list_begin + k));
    }
  }
}

}  // namespace

void Carried::start(const CarriedPass& pass, const CarriedContext& context) {
  first_ = pass;
  const Tape& tape = *pass.tape;
  std::set<std::int32_t> met;  // candidates
  for (const std::int32_t index : pass.calls) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
    if (call.found_in_memory && call.node == kNobody) continue;  // nothing that the program reads
    for_each_argument(tape, call, [&](std::int32_t arg, std::int32_t item, VarId var) {
      if (var == kNobody || !is_constant(tape, var)) return;
      const std::optional<std::int32_t> candidate = context.candidate(var);
      if (!candidate) return;
      if (*candidate >= 0) {
        if (!met.insert(*candidate).second) return;
        Site& site = sites_.emplace_back(Site{index, arg, item, var});
        site.read = object_of(tape.variable(var));
        site.candidate = *candidate;
        site.left = context.left(*candidate);
        return;
      }
      const trace::StoreId store = tape.variable(var).store;
      if (store != kNobody && tape.store(store).last_write >= pass.calls.front()) {
        // A constant that was filled in place counts as long as it is one.
        if (tape.variable(var).origin == Origin::kOutside && !tape.store(store).fresh) return;
        if (tape.store(store).last_write >= index) return;
      }
      sites_.emplace_back(Site{index, arg, item, var}).read = object_of(tape.variable(var));
    });
  }
  std::map<VarId, std::int32_t> first_sites;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const auto number = static_cast<std::int32_t>(i);
    sites_[i].like = first_sites.try_emplace(sites_[i].initial, number).first->second;
  }
}

std::set<Carried::Source> Carried::sources_of(std::int32_t site, const c10::TensorImpl* object,
                                              const at::Tensor& tensor, const Reads& reads,
                                              const CarriedContext& context) const {
  std::set<Source> sources;
  const Former& previous = formers_.back();
  const auto known = previous.tape->known(object, tensor);
  // What the pass before wrote to is not what it read there.
  const bool rewritten = known && previous.tape->written_since(*known, previous.begin);
  if (const auto it = reads.find(object); it != reads.end() && !rewritten) {
    for (const std::int32_t other : it->second) {
      const at::Tensor theirs =
          other == site ? tensor
                        : first_.tape->content(sites_[static_cast<std::size_t>(other)].initial);
      if (!theirs.defined() || same_type(theirs, tensor)) sources.insert({kNobody, other, {}});
    }
    // What the first pass computed without its inputs is a value of its own as well.
    if (formers_.size() > 1) return sources;
  }
  if (known) {
    const std::vector<VarId>& in_first = previous.in_first;
    if (formers_.size() == 1) {
      if (was_made(*previous.tape, *known, previous.begin)) sources.insert({*known, -1, {}});
    } else if (static_cast<std::size_t>(*known) < in_first.size() &&
               in_first[static_cast<std::size_t>(*known)] != kNobody) {
      sources.insert({in_first[static_cast<std::size_t>(*known)], -1, {}});
    }
  }
  if (!sources.empty()) return sources;
  if (const auto port = context.port_of(tensor)) sources.insert({kNobody, -1, *port});
  return sources;
}

// The same in passes further back: the end of a delay.
std::set<Carried::Source> Carried::older_sources_of(const c10::TensorImpl* object,
                                                    const at::Tensor& tensor) const {
  for (std::size_t back = 2; back <= formers_.size(); ++back) {
    const Former& former = formers_[formers_.size() - back];
    const auto known = former.tape->known(object, tensor);
    if (!known || !was_made(*former.tape, *known, former.begin)) continue;
    const auto index = static_cast<std::size_t>(*known);
    VarId var = *known;
    if (back < formers_.size())
      var = index < former.in_first.size() ? former.in_first[index] : kNobody;
    if (var == kNobody) continue;
    return {{var, -1, {}, static_cast<std::int32_t>(back)}};
  }
  return {};
}

// Looks at what a pass found in the memory of a candidate. True when the program has put another
// tensor in its place, from one of the sources.
bool Carried::follow_memory(Site& site, const Tape& tape, VarId var,
                            const std::set<Source>& sources, const CarriedContext& context) {
  const trace::StoreId own = first_.tape->variable(site.initial).store;
  const at::Tensor now = tape.content(var);
  const auto in_place = [&](const Source& source) {
    return source.var != kNobody && first_.tape->variable(source.var).store == own;
  };
  const bool replaced = !sources.empty() && std::none_of(sources.begin(), sources.end(), in_place);
  if (!replaced && !context.is_shared(tensor_of(tape.variable(var)))) {
    const auto is_now = [&](const at::Tensor& other) {
      return same_type(now, other) && at::equal(now, other);
    };
    const bool as_left = is_now(site.left);
    const bool as_first = is_now(first_.tape->content(site.initial));
    site.continued |= as_left && !as_first;
    site.renewed |= as_first && !as_left;
    site.strange |= !as_first && !as_left;
  }
  site.left = copied(tensor_of(tape.variable(var)));
  return replaced;
}

void Carried::add(const CarriedPass& pass, const CarriedContext& context) {
  explained_.clear();
  const std::int32_t begin = pass.calls.empty() ? 0 : pass.calls.front();
  if (formers_.empty()) {
    start(pass, context);
    formers_.push_back({pass.tape, begin, {}});
    return;
  }
  const Tape& old_tape = *first_.tape;
  const Tape& new_tape = *pass.tape;
  const Alignment aligned =
      align_past_differences({old_tape, first_.calls}, {new_tape, pass.calls});
  added_call_ = find_added_call(new_tape, aligned);
  apart_ |= pass.apart || added_call_.has_value();
  Reads reads;
  const auto find_reads = [&] {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (sites_[i].read != nullptr) reads[sites_[i].read].push_back(static_cast<std::int32_t>(i));
    }
  };
  std::vector<VarId> in_first(new_tape.variable_count(), kNobody);
  for (const trace::Recording::Port& input : pass.inputs) {
    const auto it = std::find_if(first_.inputs.begin(), first_.inputs.end(),
                                 [&](const auto& port) { return port.name == input.name; });
    if (it != first_.inputs.end()) in_first[static_cast<std::size_t>(input.var)] = it->var;
  }
  std::vector<const c10::TensorImpl*> read_now(sites_.size(), nullptr);
  std::size_t site = 0;
  for (const auto& [old_index, new_index] : aligned.pairs) {
    const trace::Call& a = old_tape.calls()[static_cast<std::size_t>(old_index)];
    const trace::Call& b = new_tape.calls()[static_cast<std::size_t>(new_index)];
    for_each_result_pair(old_tape, a, new_tape, b, [&](VarId was, VarId is) {
      if (was != kNobody && is != kNobody) in_first[static_cast<std::size_t>(is)] = was;
    });
    while (site < sites_.size() && sites_[site].call < old_index) ++site;
    for (; site < sites_.size() && sites_[site].call == old_index; ++site) {
      Site& here = sites_[site];
      const auto var = argument_at(new_tape, b, here.arg, here.item);
      if (!var || *var == kNobody || !is_from_outside(new_tape, *var)) continue;
      read_now[site] = object_of(new_tape.variable(*var));
      const auto number = static_cast<std::int32_t>(site);
      in_first[static_cast<std::size_t>(*var)] = here.initial;
      // A weight: what it always was.
      if (here.read == read_now[site] && here.settled) continue;
      if (reads.empty()) find_reads();
      const at::Tensor tensor = tensor_of(new_tape.variable(*var));
      std::set<Source> sources = sources_of(number, read_now[site], tensor, reads, context);
      if (here.candidate >= 0 && !follow_memory(here, new_tape, *var, sources, context)) continue;
      const bool moved = here.read != read_now[site];
      if (moved && sources.empty()) sources = older_sources_of(read_now[site], tensor);
      const bool unknown = moved && sources.empty() && !here.sources;
      if (!here.sources) {
        // A delay shows first when all that was there at first has been used up.
        std::erase_if(sources, [&](const Source& s) { return s.delay != here.waited + 1; });
      }
      if (moved && sources.empty()) {
        const at::Tensor before =
            here.found.empty() ? old_tape.content(here.initial) : here.found.back();
        const at::Tensor now = new_tape.content(*var);
        // Another object with the same content: the program makes it anew.
        if (same_type(before, now) && at::equal(before, now)) sources.insert({kNobody, number, {}});
      }
      if (moved) moved_in_.push_back(tensor);
      if (moved && sources.count({kNobody, number, {}}) == 0) {
        if (!here.changed) {
          here.found.assign(formers_.size(), evaluate(old_tape, here.initial));
          here.changed = true;
        }
        if (!sources.empty()) explained_.insert(*var);
      }
      if (here.changed) here.found.push_back(copied(new_tape.content(*var)));
      if (unknown) {
        ++here.waited;
        continue;
      }
      if (here.sources) {
        std::erase_if(*here.sources, [&](const Source& s) { return sources.count(s) == 0; });
      } else {
        here.sources = std::move(sources);
      }
      here.settled =
          !here.changed && here.sources->size() == 1 && here.sources->begin()->site == number;
    }
  }
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    sites_[i].read = read_now[i];
    if (read_now[i] != read_now[static_cast<std::size_t>(sites_[i].like)]) {
      sites_[i].like = static_cast<std::int32_t>(i);
    }
    if (sites_[i].changed && sites_[i].found.size() == formers_.size())
      sites_[i].found.emplace_back();
  }
  formers_.push_back({pass.tape, begin, std::move(in_first)});
}

std::optional<std::int32_t> Carried::find_added_call(const Tape& tape, const Alignment& aligned) {
  if (aligned.added.empty()) return std::nullopt;
  std::set<VarId> used;
  for (const auto& [_, index] : aligned.pairs) {
    trace::for_each_variable(tape, tape.calls()[static_cast<std::size_t>(index)],
                             [&](VarId var) { used.insert(var); });
  }
  const auto counts = [&](VarId var) {
    return var != kNobody && (used.count(var) > 0 || !tape.variable(var).impl.expired());
  };
  for (const std::int32_t index : aligned.added) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
    const trace::CallResult* results = tape.results_of(call);
    for (std::size_t i = 0; i < call.op.schema().returns().size(); ++i) {
      if (results[i].is_tensor && !results[i].is_list && counts(results[i].var)) return index;
      for (std::int32_t k = 0; k < results[i].list_size; ++k) {
        if (counts(tape.list_item(results[i].list_begin + k))) return index;
      }
    }
  }
  return std::nullopt;
}

bool Carried::was_computed(const Tape& tape, VarId var) const {
  if (formers_.empty()) return false;
  Tape& previous = *formers_.back().tape;
  const trace::Variable& variable = tape.variable(var);
  const auto known = previous.known(object_of(variable), tensor_of(variable));
  return known && trace::depends_on_inputs(previous, *known);
}

bool Carried::has_read(const at::Tensor& tensor) const {
  return std::any_of(moved_in_.begin(), moved_in_.end(), [&](const at::Tensor& read) {
    return read.defined() && read.is_alias_of(tensor);
  });
}

bool Carried::changes(VarId initial) const {
  return std::any_of(sites_.begin(), sites_.end(),
                     [&](const Site& site) { return site.changed && site.initial == initial; });
}

std::optional<Carried::Source> Carried::source_of(const Site& site) const {
  if (!site.sources) return std::nullopt;
  std::optional<Source> found;
  for (const Source& source : *site.sources) {
    // A place where the first pass read a value of its own says no more than the value.
    if (source.site >= 0 && !sites_[static_cast<std::size_t>(source.site)].changed &&
        site.sources->count({sites_[static_cast<std::size_t>(source.site)].initial, -1, {}}) > 0) {
      continue;
    }
    // Nor do places that always read one tensor say more than the first of them.
    const bool known = found && found->site >= 0 && source.site >= 0 &&
                       sites_[static_cast<std::size_t>(found->site)].like ==
                           sites_[static_cast<std::size_t>(source.site)].like;
    if (known) continue;
    if (found) return std::nullopt;
    found = source;
  }
  return found;
}

std::string Carried::describe(const Site& site) const {
  const trace::Call& call = first_.tape->calls()[static_cast<std::size_t>(site.call)];
  const at::Tensor tensor =
      site.found.empty() ? first_.tape->content(site.initial) : site.found.front();
  return trace::line_prefix(call.frame) + call.op.schema().name() + " reads a tensor" +
         (tensor.defined() ? " of shape " + c10::str(tensor.sizes()) : std::string());
}

// Makes the last state one that takes its value from several passes back: each link of the chain
// holds what the next pass will read, and the last takes the value in.
void Carried::add_chain(std::vector<State>& states, std::int32_t delay) {
  const Source source = {states.back().source.var, -1, states.back().source.port};
  const std::vector<at::Tensor> found = states.back().found;
  for (std::int32_t link = 1; link < delay; ++link) {
    states.back().source = {};
    states.back().same_as_state = states.size();
    State next;
    next.found.assign(found.begin() + link, found.end());
    next.value = next.found.front();
    states.push_back(std::move(next));
  }
  if (delay > 1) states.back().source = source;
}

Carried::Findings Carried::find(const trace::Recording& recording) const {
  Findings findings;
  const auto has_changed = [](const Site& site) { return site.changed; };
  for (const Site& site : sites_) {
    if (site.candidate < 0 || site.changed || apart_) continue;
    if (site.renewed && !site.continued && !site.strange) {
      findings.renewed.push_back(site.candidate);
    } else if (site.strange) {
      findings.notes.push_back(
          describe(site) +
          " and writes to it, so that it is exported as state; but a later pass found something "
          "there that the pass before had not left. If it changes from outside, pass it through "
          "annotate.input_tensors().");
    }
  }
  if (apart_ || std::none_of(sites_.begin(), sites_.end(), has_changed)) return findings;
  const Tape& tape = *first_.tape;
  std::vector<VarId> roots = trace::roots_of(recording);
  std::set<std::int32_t> needed;  // sites
  std::set<std::int32_t> asked;   // sites whose value another one takes
  std::vector<std::int32_t> order;
  for (bool again = true; again;) {
    again = false;
    const std::vector<std::int32_t> calls = trace::slice(tape, roots);
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      const Site& site = sites_[i];
      const auto number = static_cast<std::int32_t>(i);
      if (needed.count(number) > 0) continue;
      const bool reached = std::binary_search(calls.begin(), calls.end(), site.call);
      if (!reached && (asked.count(number) == 0 || !site.changed)) continue;
      if (!site.changed) {
        // It may yet take the value of another place that the same tensor was in.
        const bool doubtful =
            site.sources && site.sources->size() > 1 &&
            std::any_of(site.sources->begin(), site.sources->end(), [&](const Source& source) {
              return source.site >= 0 && sites_[static_cast<std::size_t>(source.site)].changed;
            });
        if (!doubtful) continue;
        findings.doubts.push_back(
            describe(site) +
            " that the first pass also read elsewhere, where later passes replaced it: whether it "
            "is a constant cannot be told after " +
            std::to_string(formers_.size()) +
            " passes. Trace more passes, or let each place begin with a tensor of its own "
            "(.clone()).");
        return findings;
      }
      const std::optional<Source> source = source_of(site);
      const bool complete = source.has_value() &&
                            std::all_of(site.found.begin(), site.found.end(), [&](const auto& t) {
                              return same_type(site.found.front(), t);
                            });
      if (!complete) {
        findings.doubts.push_back(describe(site) +
                                  " that changes from pass to pass, and its value does not always "
                                  "come from the same place in the pass before, so it cannot be "
                                  "exported as state. Declare it with annotate.state_tensors() and "
                                  "annotate.update_state(), or pass it through "
                                  "annotate.input_tensors().");
        return findings;
      }
      needed.insert(number);
      order.push_back(number);
      if (source->var != kNobody) roots.push_back(source->var);
      if (source->site >= 0) asked.insert(source->site);
      again = true;
    }
  }
  std::map<std::pair<VarId, Source>, std::size_t> known;
  std::map<std::int32_t, std::size_t> state_at;
  for (const std::int32_t number : order) {
    const Site& site = sites_[static_cast<std::size_t>(number)];
    const auto key = std::pair(site.initial, *source_of(site));
    const auto it = known.find(key);
    if (it != known.end()) {
      findings.states[it->second].sites.push_back(number);
      state_at[number] = it->second;
      continue;
    }
    known[key] = state_at[number] = findings.states.size();
    findings.states.push_back({site.initial,
                               site.found.front(),
                               key.second,
                               {number},
                               site.found,
                               std::nullopt,
                               site.candidate});
    add_chain(findings.states, key.second.delay);
  }
  for (State& state : findings.states) {
    if (state.source.site < 0) continue;
    const auto it = state_at.find(state.source.site);
    if (it != state_at.end()) {
      state.same_as_state = it->second;
    } else {
      state.source.var = sites_[static_cast<std::size_t>(state.source.site)].initial;
    }
  }
  return findings;
}

void Carried::redirect(std::int32_t site, trace::VarId var) const {
  const Site& at = sites_[static_cast<std::size_t>(site)];
  first_.tape->set_argument(at.call, at.arg, at.item, var);
}

}  // namespace leapp::session
