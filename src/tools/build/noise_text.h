// The noise ports in the C++ class of a policy: B44 and B45 of docs/reference/bundle.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/bundle.h"

namespace leapp {

/// Text of bundle/noise_generator.h, which the class includes.
extern const std::string_view kNoiseGenerator;

class NoiseText {
 public:
  /// Creates the text of a bundle, which must outlive the object.
  explicit NoiseText(const Bundle& bundle) : bundle_(bundle) {}

  /// Returns the declarations of the class. `ports` declares the functions of the ports.
  std::string declarations(const std::string& ports) const;
  /// Returns the variables, and the function that draws. `file` is that of kNoiseGenerator.
  std::string variables() const;
  /// Returns the definitions of the functions in declarations().
  std::string definitions() const;
  /// Returns the statements that draw the numbers of a node. `members` are its inputs among the
  /// buffers, and `number` is the number of the run.
  std::string draws(std::size_t node, const std::vector<std::string>& members,
                    const std::string& number, const std::string& indent) const;

 private:
  const Bundle& bundle_;
};

}  // namespace leapp
