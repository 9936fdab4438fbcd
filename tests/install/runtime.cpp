// Uses the installed runtime, without libtorch.
#include <iostream>

#include "leapp/dtype.h"
#include "leapp/error.h"

int main() {
  const bool right = leapp::name_of(leapp::DType::kFloat32) == "float32" &&
                     leapp::to_string(leapp::Shape{1, 16}) == "[1, 16]";
  std::cout << (right ? "runtime works\n" : "wrong\n");
  return right ? 0 : 1;
}
