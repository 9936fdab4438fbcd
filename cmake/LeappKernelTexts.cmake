# Writes the texts of kernels into a source, which copies them into generated code:
#   cmake -DOUTPUT=<source> "-DFILES=<file>;.." -P LeappKernelTexts.cmake
# Each file is one raw string.
set(text "// Written by the build out of kernels/.\n#include \"export/cpp/kernel_texts.h\"\n\n")
string(APPEND text "#include <unordered_map>\n\n#include \"base/check.h\"\n\n")
string(APPEND text "namespace leapp::cpp_export {\n\nstd::string_view kernel_text(std::string_view file) {\n")
string(APPEND text "  static const std::unordered_map<std::string_view, std::string_view> kTexts = {\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  file(READ ${file} content)
  string(APPEND text "      {\"${name}\", R\"text(${content})text\"},\n")
endforeach()
string(APPEND text "  };\n  const auto found = kTexts.find(file);\n")
string(APPEND text "  demand(found != kTexts.end(), \"a kernel that is not there\");\n")
string(APPEND text "  return found->second;\n}\n\n}  // namespace leapp::cpp_export\n")
file(WRITE ${OUTPUT} "${text}")
