#include "controller/unit.h"

#include <array>
#include <numbers>

namespace leapp {
namespace {

/// One unit, expressed in the first unit of its group.
struct Unit {
  std::string_view name;
  int group;
  double factor;
};

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kTurnPerMinute = 2 * std::numbers::pi / 60;
constexpr double kGravity = 9.80665;

constexpr std::array kUnits = {
    Unit{"rad", 0, 1},
    Unit{"deg", 0, kDegree},
    Unit{"rad/s", 1, 1},
    Unit{"deg/s", 1, kDegree},
    Unit{"rpm", 1, kTurnPerMinute},
    Unit{"rad/s^2", 2, 1},
    Unit{"deg/s^2", 2, kDegree},
    Unit{"m", 3, 1},
    Unit{"cm", 3, 1e-2},
    Unit{"mm", 3, 1e-3},
    Unit{"m/s", 4, 1},
    Unit{"cm/s", 4, 1e-2},
    Unit{"mm/s", 4, 1e-3},
    Unit{"km/h", 4, 1 / 3.6},
    Unit{"m/s^2", 5, 1},
    Unit{"g", 5, kGravity},
    Unit{"Nm", 6, 1},
    Unit{"N*m", 6, 1},
    Unit{"N m", 6, 1},
    Unit{"mNm", 6, 1e-3},
    Unit{"N", 7, 1},
    Unit{"kN", 7, 1e3},
    Unit{"s", 8, 1},
    Unit{"ms", 8, 1e-3},
    Unit{"us", 8, 1e-6},
    Unit{"Nm/rad", 9, 1},
    Unit{"Nm/deg", 9, 1 / kDegree},
    Unit{"Nms/rad", 10, 1},
    Unit{"Nms/deg", 10, 1 / kDegree},
    Unit{"1", 11, 1},
    Unit{"%", 11, 1e-2},
};

const Unit* find_unit(std::string_view name) noexcept {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

}  // namespace

std::optional<double> unit_factor(std::string_view from, std::string_view to) noexcept {
  if (from == to) return 1;
  const Unit* const a = find_unit(from);
  const Unit* const b = find_unit(to);
  if (a == nullptr || b == nullptr || a->group != b->group) return std::nullopt;
  return a->factor / b->factor;
}

}  // namespace leapp
