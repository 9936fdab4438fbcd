#include "import/terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "base/check.h"
#include "base/utf8.h"

namespace leapp::importing {
namespace {

constexpr double kMaxTermSize = 1 << 24;

void take_given_sizes(Deployment& deployment, const Fields& fields) {
  const std::vector<double> sizes =
      fields.numbers(kSizesKey, "the number of values of each observation term, in order");
  fields.check_count(kSizesKey, sizes.size(), deployment.terms.size(),
                     "one for each observation term");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Term& term = deployment.terms[i];
    if (sizes[i] < 1 || sizes[i] > kMaxTermSize || sizes[i] != std::floor(sizes[i])) {
      fields.fail(
          Code::kBadKey, kSizesKey,
          "has a size for '" + term.name + "' that is not possible; expected whole numbers from 1");
    }
    const auto size = static_cast<std::int64_t>(sizes[i]);
    if (term.size != 0 && term.size != size) {
      fields.fail(Code::kBadKey, kSizesKey,
                  "says " + std::to_string(size) + " for '" + term.name + "', which has " +
                      std::to_string(term.size) + " values");
    }
    term.size = size;
  }
}

std::string layout_of(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& term : terms) {
    text += (text.empty() ? "" : " + ") + term.name + " " + std::to_string(term.size);
    if (term.ages.size() > 1) text += " x " + std::to_string(term.ages.size());
  }
  return text;
}

// One unknown size follows from all others.
void deduce_size(Deployment& deployment, const Fields& fields, std::int64_t whole) {
  std::vector<Term*> unknown;
  for (Term& term : deployment.terms) {
    if (term.size == 0) {
      unknown.push_back(&term);
    } else {
      whole -= term.size * static_cast<std::int64_t>(term.ages.size());
    }
  }
  if (unknown.empty()) return;
  if (unknown.size() > 1) {
    fields.fail(Code::kMissingKey, kSizesKey,
                "is missing, so the number of values of '" + unknown[0]->name + "' and '" +
                    unknown[1]->name +
                    "' is unknown. Give the size of each observation term, in order (--set " +
                    kSizesKey + "=3,12,..)");
  }
  const auto frames = static_cast<std::int64_t>(unknown[0]->ages.size());
  require(whole > 0 && whole % frames == 0, Code::kPolicyMismatch,
          fields.file() + ": the observation has " + std::to_string(whole) +
              " values left for the term '" + unknown[0]->name + "' of " + std::to_string(frames) +
              " frames. The description belongs to a different model, or a term has an unusual "
              "size (--set " +
              kSizesKey + "=..)");
  unknown[0]->size = whole / frames;
  deployment.notes.push_back("the size of the term '" + unknown[0]->name + "', " +
                             std::to_string(unknown[0]->size) + ", is the rest of the observation");
}

void check_term(const Term& term, const Fields& fields) {
  const auto scales = static_cast<std::int64_t>(term.scale.size());
  require(scales == 1 || scales == term.size, Code::kBadKey,
          fields.file() + ": the observation term '" + term.name + "' has " +
              std::to_string(scales) + " scales and " + std::to_string(term.size) +
              " values; expected one, or one for each value");
  require(!(term.lower > term.upper), Code::kBadKey,
          fields.file() + ": the observation term '" + term.name +
              "' is clipped to a range whose lower end is above the upper one");
}

}  // namespace

std::int64_t size_of_port(const Port& port) {
  return checked_element_count(port.shape).value_or(0);
}

std::vector<std::int64_t> all_of(std::size_t count) {
  std::vector<std::int64_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

std::vector<std::int64_t> oldest_first(const Fields& fields, const std::string& key,
                                       double length) {
  if (!(length >= 0) || length > static_cast<double>(kMaxHistory) || length != std::floor(length)) {
    fields.fail(Code::kBadKey, key,
                "has an impossible history length; expected whole numbers from 0 to " +
                    std::to_string(kMaxHistory));
  }
  std::vector<std::int64_t> ages =
      all_of(std::max<std::size_t>(1, static_cast<std::size_t>(length)));
  std::reverse(ages.begin(), ages.end());
  return ages;
}

void check_unique(const Fields& fields, const std::string& key,
                  const std::vector<std::string>& names) {
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      fields.fail(Code::kBadKey, key, "has " + quote_for_message(name) + " twice");
    }
  }
}

void settle_terms(Deployment& deployment, const Fields& fields, const Port& observation) {
  if (fields.has(kSizesKey)) take_given_sizes(deployment, fields);
  deduce_size(deployment, fields, size_of_port(observation));
  std::int64_t whole = 0;
  for (const Term& term : deployment.terms) {
    check_term(term, fields);
    whole += term.size * static_cast<std::int64_t>(term.ages.size());
    require(!deployment.time_major || term.ages == deployment.terms[0].ages, Code::kBadKey,
            fields.file() + ": the observation is stacked frame by frame, and '" + term.name +
                "' has a different history than '" + deployment.terms[0].name + "'");
  }
  require(
      whole == size_of_port(observation), Code::kPolicyMismatch,
      fields.file() + ": the observation terms have " + std::to_string(whole) + " values (" +
          layout_of(deployment.terms) + "), but the model's input '" + observation.name + "' has " +
          std::to_string(size_of_port(observation)) + ", " + to_string(observation.shape) +
          ". The description belongs to a different model, or a term has an unusual size (--set " +
          kSizesKey + "=..)");
}

}  // namespace leapp::importing
