// Ten ticks of the policy that export.py wrote, in a program that contains only the policy: no
// LEAPP, no files, no heap. The same source runs on a PC, on a 64-bit Arm board and on a
// microcontroller.
#include <cstddef>
#include <cstdio>

#include "walker_policy.h"

int main() {
  walker_policy::Policy& policy = walker_policy::Policy::instance();
  for (float& value : policy.observe_imu()) value = 0.5F;
  for (int tick = 0; tick < 10; ++tick) {
    int joint = 0;
    for (float& angle : policy.observe_joints()) {
      angle = 0.05F * static_cast<float>((7 * tick + 3 * joint++) % 40 - 20);
    }
    if (const char* what = policy.tick()) {
      std::printf("the tick failed: %s\n", what);
      return 1;
    }
    const auto action = policy.policy_action();
    for (std::size_t i = 0; i < action.size(); ++i) {
      std::printf(i == 0 ? "%.6f" : " %.6f", static_cast<double>(action[i]));
    }
    std::printf("\n");
  }
}
