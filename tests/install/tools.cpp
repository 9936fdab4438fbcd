// Uses the installed desk tools: no libtorch anywhere near.
#include <iostream>

#include "leapp/error.h"
#include "leapp/tools/inventory.h"

int main() {
  try {
    leapp::read_inventory("/nowhere");
  } catch (const leapp::Error& error) {
    std::cout << "tools work\n";
    return 0;
  }
  return 1;
}
