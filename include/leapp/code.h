// Codes of errors and warnings. Programs can rely on codes: messages change between releases, codes
// keep their meaning.
//
// Every error and every warning has a code. docs/reference/diagnostics.md has a section for each:
// what it means, the smallest program that causes it, the fix. The rules of the bundle format, B1
// and on, are codes too; docs/reference/bundle.md has those.
#pragma once

#include <cstdint>
#include <string>

#include "leapp/visibility.h"

namespace leapp {

enum class ErrorKind {
  kUsage,       ///< a call in the wrong order or state; Python: LeappError (an Exception)
  kType,        ///< an argument of the wrong type; Python: also a TypeError
  kValue,       ///< an argument, file or bundle with a wrong value; Python: also a ValueError
  kNotFound,    ///< a missing file; Python: also a FileNotFoundError
  kIo,          ///< reading or writing failed; Python: also an OSError
  kExport,      ///< a recorded operation that a backend cannot express
  kValidation,  ///< an exported model that differs from the trace
  kInternal,    ///< a bug in LEAPP
};

enum class Code : std::uint16_t {
  // Any call.
  kInternal = 1,        ///< a bug in LEAPP
  kWrongType = 2,       ///< an argument of the wrong type
  kWrongValue = 3,      ///< an argument with a wrong value
  kNotFound = 4,        ///< a missing file
  kIo = 5,              ///< reading or writing failed
  kMissingPackage = 6,  ///< a package or a compiled module is missing
  kUsage = 7,           ///< a call in the wrong order or state
  kNoMemory = 8,        ///< out of memory

  // Annotations: the call fails.
  kNoSession = 101,        ///< stop() or compile_graph() without a session to work on
  kStillTracing = 102,     ///< compile_graph() before stop()
  kFunctionRunning = 103,  ///< stop() inside an annotated function
  kObserverTaken = 104,    ///< another tool, or a second LEAPP, observes PyTorch's operators
  kNodeNotOpen = 105,      ///< an annotation of a node before its input_tensors()
  kWrongThread = 106,      ///< a node that two threads use
  kIncomplete = 107,       ///< a node or pass without output_tensors()
  kDuplicateName = 108,    ///< a name used twice in a node
  kNewSignature = 109,     ///< a later pass with different ports than the first
  kMixedNodes = 110,       ///< values of two open nodes in one operation
  kNotTraced = 111,        ///< an output that depends on no input
  kStaticIsTraced = 112,   ///< a static output that depends on an input
  kNothingToExport = 113,  ///< a node without outputs or state
  kUnknownState = 114,     ///< update_state() of an undeclared state
  kStateMismatch = 115,    ///< update_state() with a different shape or type
  kMirrorMismatch = 116,   ///< mirror_leapp_tags() of tensors that differ
  kNotDense = 117,         ///< a sparse or nested tensor as a port
  kBadName = 118,          ///< an invalid name of a node or port
  kUnknownBackend = 119,   ///< unknown export_with or backend_params
  kPayload = 120,          ///< a payload of the wrong form
  kCancelled = 121,        ///< compile_graph() was cancelled

  // Tracing: values that the export treats as constants.
  kBranch = 201,             ///< a traced value decided a branch
  kNumber = 202,             ///< a traced value became a number
  kRandomInside = 203,       ///< a node draws random numbers
  kRandomOutside = 204,      ///< a node uses random numbers from outside
  kUntracedCompute = 205,    ///< computation between two nodes
  kNotAnOutput = 206,        ///< an input that holds a value inside another node
  kReshapedWire = 207,       ///< an input that contains an output in a different type
  kForgottenInput = 208,     ///< a node uses an undeclared value of another node
  kDataDependentSize = 210,  ///< traced values that decide a size
  kLaterPassIgnored = 211,   ///< options of a later pass that have no effect
  kSessionDropped = 212,     ///< start() while a session was active
  kConstantLeaf = 213,       ///< a leaf of a payload that is not a tensor
  kPickled = 214,            ///< a traced tensor was pickled
  kReplaced = 219,           ///< the program wrote to a tensor after the last pass that read it
  kUnknownKeyword = 222,     ///< keywords that annotate.method() does not know
  kForeignValue = 223,       ///< an array that unseen code may have computed
  kWrittenArray = 224,       ///< an array of the program that a node writes to

  // State: differences between passes.
  kPassesDiffer = 301,       ///< a later pass that differs from the first
  kUnknownSource = 302,      ///< a tensor that changes from pass to pass for an unknown reason
  kAmbiguousConstant = 303,  ///< a tensor that may or may not be a constant
  kForeignWrite = 304,       ///< memory of a state changes between passes
  kForeignOutput = 305,  ///< a state that is an output of another node, but not always the last one
  kSharedShape = 306,    ///< shared memory that its reader sees with a different shape
  kFirstTick = 308,      ///< a first pass that differs from all later ones
  kRates = 309,          ///< nodes that ran at different rates
  kDelayTooLong = 310,   ///< a delay that is longer than the kept passes
  kDelayOfOwnModel = 311,  ///< a delay into a model of the user
  kHandover = 312,         ///< a wire that carries a different value than the trace

  // Compiling.
  kNoNodes = 401,           ///< nothing was annotated
  kUnknownNode = 402,       ///< a name in non_traced that no node has
  kNoModel = 403,           ///< a node without a model
  kFallback = 404,          ///< a missing exporter, and its replacement
  kNeedsPython = 405,       ///< an exporter that only Python has
  kOwnModel = 406,          ///< a model of the user that does not match its node
  kNotDrawn = 407,          ///< the drawing failed
  kUnusedInput = 408,       ///< an input that reaches no output
  kValidationFailed = 409,  ///< an exported model that differs from the trace
  kNotValidated = 410,      ///< a model whose values could not be compared
  kFoundState = 411,        ///< state that LEAPP found
  kChanged = 412,           ///< a constant that changed after the trace
  kUnacknowledged = 413,    ///< an unacknowledged constant, if that is an error
  kUnknownConstant = 414,   ///< an acknowledged name that no constant of the node has
  kUnnamedAxis = 415,       ///< element names that some readers of bundles do not support

  // Exporting.
  kNotPure = 501,          ///< an operation that has no pure form
  kNoOnnx = 502,           ///< an operation that cannot be expressed in ONNX
  kNoTorchScript = 503,    ///< an operation that TorchScript cannot express
  kPortNamesClash = 504,   ///< two ports that would have the same name in the model
  kComplexPort = 505,      ///< a complex port of an ONNX model
  kOpset = 506,            ///< an operation that needs a newer opset than the export
  kConverterName = 507,    ///< a converter registered for something that is not an operator
  kBadConverter = 508,     ///< a converter of the user that breaks its contract
  kUnsupportedType = 509,  ///< a tensor with an unsupported element type
  kFormerExport = 510,     ///< a previous export that could not be removed

  // Running a bundle.
  kUnknownPort = 601,         ///< an unknown node or port
  kPortType = 602,            ///< a value whose element type differs from its port
  kPortShape = 603,           ///< a value whose shape or size differs from its port
  kMissingInput = 604,        ///< a tick, or a state, without a value for one of its inputs
  kStaleInput = 605,          ///< an input that is older than its limit
  kNotFinite = 606,           ///< NaN or infinity where the guard forbids it
  kBoundPort = 607,           ///< a port that is bound to the caller's memory, but was set too
  kBadBinding = 608,          ///< memory that cannot be bound to a port
  kTwoThreads = 609,          ///< two threads in one InferenceManager
  kInnerValue = 610,          ///< a value inside merged nodes that is no longer available
  kTickFailed = 611,          ///< a model that failed during a run
  kNoEngine = 612,            ///< ONNX Runtime, libtorch or an engine's plugin is missing
  kWrongEngine = 613,         ///< an engine library with the wrong version
  kNoProvider = 614,          ///< a missing execution provider or device
  kProviderFailed = 615,      ///< an execution provider that does not start; the CPU is used
  kModelMismatch = 616,       ///< a model whose ports differ from the bundle
  kBadModel = 617,            ///< a model file that cannot be read
  kUnsupportedBackend = 618,  ///< a backend without an engine in this runtime
  kRuntimeOptions = 619,      ///< an invalid option
  kNotMerged = 620,           ///< nodes that cannot be merged
  kNoInitialValues = 621,     ///< feedback without initial values in the bundle: starts as zeros
  kDeviceFailed = 622,        ///< a device that failed while copying, waiting or recording
  kNotTranslated = 623,       ///< a TorchScript model that cannot run in ONNX Runtime
  kEngineSays = 624,          ///< a message of ONNX Runtime
  kNotTrusted = 625,          ///< a model that does more than compute, without trust

  // Controlling a robot.
  kRobotFile = 651,          ///< an invalid robot description
  kNotBound = 652,           ///< a bundle that does not match the robot
  kControllerOptions = 653,  ///< an invalid option of a controller
  kControllerState = 654,    ///< a call in the wrong state of the controller
  kRecording = 655,          ///< a recording that cannot be written or read
  kSupervision = 656,        ///< an invalid description of a supervisor

  // The command line.
  kCommandLine = 701,  ///< options of the leapp command that exclude each other

  // Integrations: checkpoints of trainers.
  kNoCheckpoint = 801,         ///< a file that is not a checkpoint of that trainer
  kOtherArchitecture = 802,    ///< weights that do not match their network
  kUnsupportedPolicy = 803,    ///< a space, term or model that a bundle cannot represent
  kNoNormalizer = 804,         ///< a policy whose normaliser is missing
  kUntrustedCheckpoint = 805,  ///< a checkpoint that can be read only by running code

  // Importing and writing policies of other projects.
  kNoDeployment = 821,    ///< an ONNX file without a description of its deployment
  kMissingKey = 822,      ///< a description of a policy that lacks a key
  kBadKey = 823,          ///< an invalid value in the description of a policy
  kPolicyMismatch = 824,  ///< a policy model that does not match its description
  kNotDescribable = 825,  ///< a bundle that the metadata of another project cannot describe

  // Generating C++.
  kNoCpp = 901,        ///< an operation or type that cannot be exported to C++
  kCppFallback = 902,  ///< a node that became ONNX because it cannot be C++
  kNoCompiler = 903,   ///< a missing C++ compiler, or one that fails

  // Running C++.
  kNativeNotAllowed = 921,  ///< a node with machine code that the caller did not allow
  kNotBuilt = 922,          ///< a C++ node that is not compiled
  kStaleBuild = 923,        ///< a library built from a different source or for a different machine
  kNothingToBuild = 924,    ///< a bundle without C++ nodes to compile

  // Trust: behaviour beyond the traced passes, and on other machines.
  kNotRepeated = 941,      ///< a golden tick with a different result on this machine
  kNoGolden = 942,         ///< a bundle without golden traces
  kFewerGolden = 943,      ///< fewer golden ticks than requested
  kShadowDiffers = 944,    ///< the program and its bundle differ in a shadow run
  kShadowReset = 945,      ///< a possible reset of the program in a shadow run
  kNotShadowed = 946,      ///< a program that a shadow run cannot follow
  kCounterExample = 947,   ///< a model that is wrong on inputs that were not traced
  kBakedIn = 948,          ///< a function that differs from its model on other inputs
  kNothingCompared = 949,  ///< golden traces without a value to compare

  // Viewing bundles and their runs.
  kNoBenchReport = 961,  ///< a file that is not a report of leapp bench
  kTimeline = 962,       ///< a timeline that cannot be written

  // The installation.
  kNoTracing = 971,   ///< tracing with only leapp-runtime installed
  kOtherTorch = 972,  ///< a PyTorch with a different minor version than this build
};

/// Returns the code of a rule of the bundle format: rule(7) is "B7".
constexpr Code rule(int number) {
  return static_cast<Code>(1000 + number);
}

/// Returns "LP104", "B7".
LEAPP_EXPORT std::string to_string(Code code);

/// Returns the end of a message about the code: " [LP104]". Empty for a bundle's rule, whose label
/// precedes the field name.
LEAPP_EXPORT std::string tag_of(Code code);

/// Returns the kind of exception for that code.
LEAPP_EXPORT ErrorKind kind_of(Code code) noexcept;

}  // namespace leapp
