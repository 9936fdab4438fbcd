#include "session/picks.h"

#include <ATen/ops/index_put.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace leapp::session {
namespace {

using Memory = const c10::StorageImpl*;
using trace::memory_of;

// One index, counted from the front.
at::Tensor from_front(const at::Tensor& number, std::int64_t size) {
  const at::Tensor index = number.to(at::kLong).reshape({1});
  return at::where(index.lt(0), index.add(size), index);
}

// Whether the tensor's memory was written to since both sides of a pick were the same.
bool was_written(trace::Tape& tape, const at::Tensor& tensor, std::int32_t agreed) {
  const auto var = tape.find(tensor);
  return var && tape.written_since(*var, agreed);
}

bool holds(const std::vector<Memory>& list, Memory memory) {
  return std::find(list.begin(), list.end(), memory) != list.end();
}

}  // namespace

at::Tensor take(const at::Tensor& of, const std::vector<std::int64_t>& places,
                const std::vector<at::Tensor>& numbers) {
  at::Tensor result = of;
  for (std::size_t i = places.size(); i-- > 0;) {  // so that earlier places stay what they are
    result = at::index_select(result, places[i], from_front(numbers[i], result.size(places[i])))
                 .squeeze(places[i]);
  }
  return result;
}

void put(const at::Tensor& of, const std::vector<std::int64_t>& places,
         const std::vector<at::Tensor>& numbers, const at::Tensor& value) {
  c10::List<std::optional<at::Tensor>> indices;
  for (std::int64_t place = 0; place < of.dim(); ++place) {
    const auto it = std::find(places.begin(), places.end(), place);
    if (it == places.end()) {
      indices.push_back(std::nullopt);
      continue;
    }
    const auto which = static_cast<std::size_t>(it - places.begin());
    indices.push_back(from_front(numbers[which], of.size(place)));
  }
  // The numbers broadcast to one dimension: in place when they are neighbours, in front otherwise.
  const bool together =
      places.back() - places.front() == static_cast<std::int64_t>(places.size()) - 1;
  at::Tensor target = of;
  at::index_put_(target, indices, value.unsqueeze(together ? places.front() : 0));
}

void Picks::Step::take() const {
  if (back) {
    put(pick->of, pick->places, pick->numbers, pick->copy);
  } else {
    pick->copy.copy_(session::take(pick->of, pick->places, pick->numbers));
  }
}

void Picks::add(const trace::Tape& tape, Pick pick) {
  agree(tape, pick);
  picks_.push_back(std::make_shared<Pick>(std::move(pick)));
}

void Picks::agree(const trace::Tape& tape, Pick& pick) {
  pick.agreed = static_cast<std::int32_t>(tape.calls().size());
}

std::optional<Picks::Step> Picks::next(trace::Tape& tape, const std::vector<Memory>& touched) {
  forget_unused(tape);
  const auto any = [&](auto&& asked) { return std::any_of(picks_.begin(), picks_.end(), asked); };
  // The memory that is looked at: with a pick of a pick, the copy around it as well.
  std::vector<Memory> shown = touched;
  // The picks whose elements are looked at through the tensor, through another pick that may have
  // chosen the same, or through a pick around them.
  std::vector<const Pick*> concerned;
  for (bool more = true; more;) {
    more = false;
    for (const auto& pick : picks_) {
      const Memory outer = memory_of(pick->of);
      const bool nested = any([&](const auto& other) { return memory_of(other->copy) == outer; });
      if (nested && holds(shown, memory_of(pick->copy)) && !holds(shown, outer)) {
        shown.push_back(outer);
        more = true;
      }
      if (std::find(concerned.begin(), concerned.end(), pick.get()) != concerned.end()) continue;
      const bool beside = any([&](const auto& other) {
        return other != pick && memory_of(other->of) == outer &&
               holds(shown, memory_of(other->copy));
      });
      const bool inside = std::any_of(concerned.begin(), concerned.end(), [&](const Pick* other) {
        return memory_of(other->copy) == outer;
      });
      if (!beside && !inside && !holds(touched, outer)) continue;
      concerned.push_back(pick.get());
      more = true;
    }
  }
  for (auto it = picks_.rbegin(); it != picks_.rend(); ++it) {  // inner ones first
    if (std::find(concerned.begin(), concerned.end(), it->get()) == concerned.end()) continue;
    if (was_written(tape, (*it)->copy, (*it)->agreed)) return Step{*it, true};
  }
  for (const auto& pick : picks_) {
    if (!holds(shown, memory_of(pick->copy))) continue;
    if (was_written(tape, pick->of, pick->agreed)) return Step{pick, false};
  }
  return std::nullopt;
}

std::optional<Picks::Step> Picks::next(trace::Tape& tape) {
  std::vector<Memory> all;
  for (const auto& pick : picks_) {
    all.push_back(memory_of(pick->copy));
    all.push_back(memory_of(pick->of));
  }
  return next(tape, all);
}

Picks::Pick* Picks::find(const at::Tensor& copy, const at::Tensor& of,
                         const std::vector<at::Tensor>& numbers) {
  const auto it = std::find_if(picks_.begin(), picks_.end(), [&](const auto& pick) {
    return pick->copy.is_same(copy) && pick->of.is_alias_of(of) &&
           pick->of.storage_offset() == of.storage_offset() && pick->of.sizes() == of.sizes() &&
           pick->of.strides() == of.strides() &&
           std::equal(numbers.begin(), numbers.end(), pick->numbers.begin(), pick->numbers.end(),
                      [](const auto& a, const auto& b) { return a.is_same(b); });
  });
  return it == picks_.end() ? nullptr : it->get();
}

// A copy that nobody else holds any more, once what was written to it is where it belongs.
void Picks::forget_unused(trace::Tape& tape) {
  std::erase_if(picks_, [&](const auto& pick) {
    return pick->copy.use_count() == 1 && pick->copy.storage().use_count() == 1 &&
           !was_written(tape, pick->copy, pick->agreed);
  });
}

}  // namespace leapp::session
