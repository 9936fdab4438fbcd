#include "leapp/code.h"

#include <string>

#include "base/utf8.h"
#include "leapp/error.h"
#include "leapp/log.h"

namespace leapp {
namespace {

bool is_rule(Code code) {
  return code >= rule(0);
}

// Returns whether the code is an error in the files or options of a controller.
bool is_about_a_robot(Code code) {
  return code == Code::kRobotFile || code == Code::kNotBound || code == Code::kControllerOptions ||
         code == Code::kRecording || code == Code::kSupervision;
}

// Codes from kNoCpp on, without the rules.
ErrorKind kind_of_late(Code code) {
  switch (code) {
    case Code::kNoCpp:
    case Code::kNoCompiler:
      return ErrorKind::kExport;
    case Code::kNotRepeated:
    case Code::kNothingCompared:
    case Code::kCounterExample:
      return ErrorKind::kValidation;
    case Code::kFewerGolden:
    case Code::kShadowDiffers:
    case Code::kShadowReset:
    case Code::kNotShadowed:
    case Code::kBakedIn:
    case Code::kNoTracing:
    case Code::kOtherTorch:
      return ErrorKind::kUsage;
    case Code::kTimeline:
      return ErrorKind::kIo;
    default:
      return ErrorKind::kValue;
  }
}

}  // namespace

std::string to_string(Code code) {
  const auto number = static_cast<int>(code);
  if (is_rule(code)) return "B" + std::to_string(number - static_cast<int>(rule(0)));
  const std::string digits = std::to_string(number);
  return "LP" + std::string(3 - digits.size(), '0') + digits;
}

std::string tag_of(Code code) {
  return is_rule(code) ? std::string() : " [" + to_string(code) + "]";
}

ErrorKind kind_of(Code code) noexcept {
  if (code >= Code::kNoCpp && !is_rule(code)) return kind_of_late(code);
  // The last codes are rules of the format; the ones before them concern files of other projects.
  if (code >= Code::kNoCheckpoint || is_about_a_robot(code)) return ErrorKind::kValue;
  switch (code) {
    case Code::kInternal:
      return ErrorKind::kInternal;
    case Code::kWrongType:
    case Code::kNotDense:
    case Code::kPayload:
    case Code::kUnsupportedType:
    case Code::kPortType:
      return ErrorKind::kType;
    case Code::kWrongValue:
    case Code::kMirrorMismatch:
    case Code::kNothingToExport:
    case Code::kBadName:
    case Code::kUnknownBackend:
    case Code::kOwnModel:
    case Code::kConverterName:
    case Code::kUnknownPort:
    case Code::kPortShape:
    case Code::kMissingInput:
    case Code::kStaleInput:
    case Code::kNotFinite:
    case Code::kBadBinding:
    case Code::kTickFailed:
    case Code::kWrongEngine:
    case Code::kNoProvider:
    case Code::kModelMismatch:
    case Code::kBadModel:
    case Code::kUnsupportedBackend:
    case Code::kRuntimeOptions:
    case Code::kNotMerged:
    case Code::kDeviceFailed:
    case Code::kNotTrusted:
      return ErrorKind::kValue;
    case Code::kNotFound:
    case Code::kNoEngine:
      return ErrorKind::kNotFound;
    case Code::kIo:
    case Code::kNoMemory:
    case Code::kNotDrawn:
      return ErrorKind::kIo;
    case Code::kNotPure:
    case Code::kNoOnnx:
    case Code::kChanged:
    case Code::kNoTorchScript:
    case Code::kPortNamesClash:
    case Code::kComplexPort:
    case Code::kOpset:
    case Code::kBadConverter:
    case Code::kNotTranslated:
      return ErrorKind::kExport;
    case Code::kValidationFailed:
      return ErrorKind::kValidation;
    default:
      return ErrorKind::kUsage;
  }
}

Error::Error(Code code, const std::string& text)
    : std::runtime_error(bounded_message(printable(text)) + tag_of(code)), code_(code) {}

std::string Error::text() const {
  const std::string whole = what();
  return whole.substr(0, whole.size() - tag_of(code_).size());
}

}  // namespace leapp
