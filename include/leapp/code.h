// Codes of errors and warnings. Programs can rely on them: texts change between releases, codes
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
  kNotFound,    ///< a file that is not there; Python: also a FileNotFoundError
  kIo,          ///< reading or writing failed; Python: also an OSError
  kExport,      ///< a recorded operation that a backend cannot express
  kValidation,  ///< an exported model that disagrees with what was traced
  kInternal,    ///< a bug in LEAPP
};

enum class Code : std::uint16_t {
  // Any call.
  kInternal = 1,        ///< a bug in LEAPP
  kWrongType = 2,       ///< an argument of the wrong type
  kWrongValue = 3,      ///< an argument with a wrong value
  kNotFound = 4,        ///< a file that is not there
  kIo = 5,              ///< reading or writing failed
  kMissingPackage = 6,  ///< a package or a compiled module is missing
  kUsage = 7,           ///< a call that does not fit what came before it
  kNoMemory = 8,        ///< no memory is left

  // Annotating: the call fails.
  kNoSession = 101,        ///< stop() or compile_graph() without a session to work on
  kStillTracing = 102,     ///< compile_graph() before stop()
  kFunctionRunning = 103,  ///< stop() inside an annotated function
  kObserverTaken = 104,    ///< another tool, or a second LEAPP, observes PyTorch's operators
  kNodeNotOpen = 105,      ///< an annotation of a node whose input_tensors() was not called
  kWrongThread = 106,      ///< a node opened by one thread and annotated or used by another
  kIncomplete = 107,       ///< a node, or a pass of it, without output_tensors()
  kDuplicateName = 108,    ///< one name twice in a node
  kNewSignature = 109,     ///< a later pass with other ports than the first
  kMixedNodes = 110,       ///< values of two open nodes in one operation
  kNotTraced = 111,        ///< an output that depends on no input
  kStaticIsTraced = 112,   ///< a static output that depends on an input
  kNothingToExport = 113,  ///< a node without outputs and state
  kUnknownState = 114,     ///< update_state() of an undeclared state
  kStateMismatch = 115,    ///< update_state() with another shape or type
  kMirrorMismatch = 116,   ///< mirror_leapp_tags() of tensors that differ
  kNotDense = 117,         ///< a sparse or nested tensor as a port
  kBadName = 118,          ///< a name that no node or port can have
  kUnknownBackend = 119,   ///< unknown export_with or backend_params
  kPayload = 120,          ///< a payload of the wrong form
  kCancelled = 121,        ///< compile_graph() was cancelled

  // Tracing: what the export takes for constant.
  kBranch = 201,             ///< a traced value decided a branch
  kNumber = 202,             ///< a traced value became a number
  kRandomInside = 203,       ///< a node draws random numbers
  kRandomOutside = 204,      ///< a node uses random numbers that were drawn for it
  kUntracedCompute = 205,    ///< computing between two nodes
  kNotAnOutput = 206,        ///< an input that holds a value inside another node
  kReshapedWire = 207,       ///< an input that holds an output in another type
  kForgottenInput = 208,     ///< a node uses another node's value that is not among its inputs
  kDataDependentSize = 210,  ///< traced values decided a size
  kLaterPassIgnored = 211,   ///< options of a later pass that change nothing
  kSessionDropped = 212,     ///< start() while a session was active
  kConstantLeaf = 213,       ///< a payload's leaf that is not a tensor
  kPickled = 214,            ///< a traced tensor was pickled
  kReplaced = 219,           ///< the program wrote to a tensor after the last pass that read it
  kUnknownKeyword = 222,     ///< keywords that annotate.method() does not know

  // State: what the passes show.
  kPassesDiffer = 301,       ///< a later pass did something else than the first
  kUnknownSource = 302,      ///< a tensor changes from pass to pass, from nowhere in particular
  kAmbiguousConstant = 303,  ///< true if a tensor is a constant cannot be told yet
  kForeignWrite = 304,       ///< memory of a state changes between passes
  kForeignOutput = 305,      ///< a state that is another node's output, not always the last one
  kSharedShape = 306,        ///< shared memory that its reader sees in another shape
  kFirstTick = 308,          ///< a first pass that differs from all later ones
  kRates = 309,              ///< nodes that ran at different rates
  kDelayTooLong = 310,       ///< a delay longer than the passes that were kept
  kDelayOfOwnModel = 311,    ///< a delay into a model that is taken as it is
  kHandover = 312,           ///< a wire that carries something else than was traced

  // Compiling.
  kNoNodes = 401,           ///< nothing was annotated
  kUnknownNode = 402,       ///< a name in non_traced that no node has
  kNoModel = 403,           ///< a node without a model
  kFallback = 404,          ///< an exporter that is not installed, and what is used instead
  kNeedsPython = 405,       ///< an exporter that only Python has
  kOwnModel = 406,          ///< a model of the user's that does not fit its node
  kNotDrawn = 407,          ///< the drawing failed
  kUnusedInput = 408,       ///< an input that reaches no output
  kValidationFailed = 409,  ///< an exported model disagrees with what was traced
  kNotValidated = 410,      ///< a model whose values could not be compared
  kFoundState = 411,        ///< state that was found, and where
  kChanged = 412,           ///< a constant that changed after it was traced
  kUnacknowledged = 413,    ///< an unacknowledged constant, if that is an error
  kUnknownConstant = 414,   ///< an acknowledged name that no constant of the node has
  kUnnamedAxis = 415,       ///< element names that some readers of bundles cannot read

  // Exporting.
  kNotPure = 501,          ///< an operation that cannot be made pure
  kNoOnnx = 502,           ///< an operation that ONNX, or our converters, cannot express
  kNoTorchScript = 503,    ///< an operation that TorchScript cannot express
  kPortNamesClash = 504,   ///< two ports that would have one name in the model
  kComplexPort = 505,      ///< a complex port of an ONNX model
  kOpset = 506,            ///< an operation that needs a newer opset than is written
  kConverterName = 507,    ///< a converter registered for something that is not an operator
  kBadConverter = 508,     ///< a converter of the user's that breaks its contract
  kUnsupportedType = 509,  ///< a tensor of an element type that LEAPP does not have
  kFormerExport = 510,     ///< a former export that could not be removed

  // Running a bundle.
  kUnknownPort = 601,         ///< a node or port that the bundle does not have
  kPortType = 602,            ///< a value of another element type than its port
  kPortShape = 603,           ///< a value of another shape or size than its port
  kMissingInput = 604,        ///< a tick, or a state, without a value for one of its inputs
  kStaleInput = 605,          ///< an input that is older than its limit
  kNotFinite = 606,           ///< NaN or infinity where the guard forbids it
  kBoundPort = 607,           ///< a port that is bound to the caller's memory, and was set as well
  kBadBinding = 608,          ///< memory that cannot be bound to a port
  kTwoThreads = 609,          ///< two threads in one InferenceManager
  kInnerValue = 610,          ///< a value inside merged nodes that is not there any more
  kTickFailed = 611,          ///< a model that failed while it ran
  kNoEngine = 612,            ///< ONNX Runtime, libtorch or an engine's plugin is missing
  kWrongEngine = 613,         ///< an engine's library of another version than is needed
  kNoProvider = 614,          ///< an execution provider or device that is not there
  kProviderFailed = 615,      ///< an execution provider that does not start; the CPU is used
  kModelMismatch = 616,       ///< a model that does not have the ports its bundle says
  kBadModel = 617,            ///< a model file that cannot be read
  kUnsupportedBackend = 618,  ///< a backend that this runtime has no engine for
  kRuntimeOptions = 619,      ///< an option that makes no sense
  kNotMerged = 620,           ///< nodes that cannot run as one
  kNoInitialValues = 621,     ///< feedback that starts as zeros, as the bundle names no values
  kDeviceFailed = 622,        ///< a device that failed while copying, waiting or recording
  kNotTranslated = 623,       ///< a TorchScript model that cannot run in ONNX Runtime
  kEngineSays = 624,          ///< a complaint of ONNX Runtime's own
  kNotTrusted = 625,          ///< a model that does more than compute, and is not trusted to

  // Controlling a robot.
  kRobotFile = 651,          ///< a robot's description that makes no sense
  kNotBound = 652,           ///< a bundle and a robot that do not fit each other
  kControllerOptions = 653,  ///< an option of a controller that makes no sense
  kControllerState = 654,    ///< a call that a controller is not in the state for
  kRecording = 655,          ///< a recording that cannot be written or read
  kSupervision = 656,        ///< a description of a supervisor that makes no sense

  // The command line.
  kCommandLine = 701,  ///< options of the leapp command that do not go together

  // Integrations: what a trainer left behind.
  kNoCheckpoint = 801,         ///< a file that is not a checkpoint of that trainer
  kOtherArchitecture = 802,    ///< weights that do not fit the network they are for
  kUnsupportedPolicy = 803,    ///< a space, term or model that has no place in a bundle
  kNoNormalizer = 804,         ///< a policy whose normaliser is missing
  kUntrustedCheckpoint = 805,  ///< a checkpoint that can only be read by running what it holds

  // Importing policies, and handing them on.
  kNoDeployment = 821,    ///< an ONNX file that says nothing of how to deploy it
  kMissingKey = 822,      ///< a description of a policy that lacks a key
  kBadKey = 823,          ///< a description of a policy with a value that cannot be
  kPolicyMismatch = 824,  ///< a policy's model that does not fit its description
  kNotDescribable = 825,  ///< a bundle that another program's metadata cannot describe

  // Generating C++.
  kNoCpp = 901,        ///< an operation, or a type, that no C++ is generated for
  kCppFallback = 902,  ///< a node that became ONNX, as it cannot be C++
  kNoCompiler = 903,   ///< a C++ compiler that is missing, or refuses a source

  // Running C++.
  kNativeNotAllowed = 921,  ///< a node that is machine code, which the caller did not allow
  kNotBuilt = 922,          ///< a C++ node that was not compiled
  kStaleBuild = 923,        ///< a library built of another source, or for another machine
  kNothingToBuild = 924,    ///< a bundle without the C++ nodes that are to be compiled

  // Trust: what a bundle does beyond the traced passes, and on another machine.
  kNotRepeated = 941,      ///< a golden tick that this machine does not repeat
  kNoGolden = 942,         ///< a bundle without golden traces
  kFewerGolden = 943,      ///< fewer golden ticks than requested
  kShadowDiffers = 944,    ///< the program and its bundle differ in a shadow run
  kShadowReset = 945,      ///< what a shadow run took for a reset of the program
  kNotShadowed = 946,      ///< what a shadow run cannot follow
  kCounterExample = 947,   ///< a model that differs from what was traced on other inputs
  kBakedIn = 948,          ///< a function that differs from its model on other inputs
  kNothingCompared = 949,  ///< golden traces that hold nothing to compare with

  // Looking at bundles and their runs.
  kNoBenchReport = 961,  ///< a file that is not a report of leapp bench
  kTimeline = 962,       ///< a timeline that cannot be written

  // The installation.
  kNoTracing = 971,   ///< tracing where leapp-runtime alone is installed
  kOtherTorch = 972,  ///< a PyTorch of another minor version than leapp was built for
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
