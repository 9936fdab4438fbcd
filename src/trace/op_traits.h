// Properties of an operator that the recorder needs, computed once from its schema.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

namespace leapp::trace {

/// The way in which a traced value leaves the graph when this operator reads it.
enum class Escape {
  kNone,
  kNumber,  ///< .item(), float(tensor): the number becomes part of the program
  kBranch,  ///< if tensor, torch.equal: the result decides a branch
};

/// Normalisation updates its running statistics in training, although its schema does not declare
/// it.
enum class UndeclaredWrite {
  kNone,
  kInside,  ///< true for an operator inside it: decompose it
  kItself,  ///< batch_norm_that_declares_its_write() takes the same arguments and declares the
            ///< write
};

struct OpTraits {
  std::vector<bool> writes;      ///< per argument: the operator writes to that tensor
  std::vector<bool> overwrites;  ///< per argument: it is overwritten without being read
  bool mutates = false;          ///< at least one argument is written
  bool aliases = false;          ///< the schema declares that results share memory with arguments
  bool may_be_random = false;    ///< may draw from a generator, depending on its arguments
  bool only_metadata = false;    ///< changes flags of the tensor object, never its elements
  bool uninitialized = false;    ///< empty() and similar: the caller fills the memory unobserved
  bool returns_tensors = false;  ///< at least one result is a tensor or a list of them
  bool takes_lists = false;      ///< at least one argument is a list of tensors
  Escape escape = Escape::kNone;
  int train = -1;    ///< position of a train/training flag, or -1
  int dropout = -1;  ///< position of a dropout probability, or -1
  UndeclaredWrite normalises = UndeclaredWrite::kNone;
  bool size_depends_on_values = false;  ///< may have a data-dependent shape
  bool only_copies =
      false;  ///< moves the elements if the result has the same number of elements and one type
  /// An operator of PyTorch for packed sequences: its second argument contains their lengths. It
  /// also reads and writes such numbers in memory without operators.
  bool counts_lengths = false;
  int size_argument = -1;  ///< position of an argument that makes it static if it is given

  /// Gives lists of tensors the type that the operator declares; TorchScript's have others.
  void type_lists(const c10::OperatorHandle& op, torch::jit::Stack* stack) const;
  /// Returns whether this call draws random numbers (dropout in eval mode does not).
  bool is_random(const torch::jit::Stack& stack) const;
  /// Returns whether the results of this call have a data-dependent shape, for example because of a
  /// mask.
  bool has_data_dependent_shape(const torch::jit::Stack& stack) const;
  /// Returns whether this call updates running statistics that its schema declares as read-only.
  UndeclaredWrite undeclared_write(const torch::jit::Stack& stack) const;
};

/// Returns whether an index is a mask over elements.
bool is_mask(const at::Tensor& index);

/// Returns the traits of the operator; the reference is valid as long as the thread lives. Takes no
/// lock.
const OpTraits& traits_of(const c10::OperatorHandle& op);

/// Returns batch normalisation with a schema that declares the write to its running statistics.
const c10::OperatorHandle& batch_norm_that_declares_its_write();

}  // namespace leapp::trace
