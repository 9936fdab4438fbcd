// Uses the installed tools, without libtorch.
#include <iostream>

#include "leapp/tools/inventory.h"

int main() {
  const bool right = leapp::to_string(leapp::ExportedWeights{"net", 6, 0, 152'076}) ==
                     "net: 6 parameters, 152,076 values";
  std::cout << (right ? "tools work\n" : "wrong\n");
  return right ? 0 : 1;
}
