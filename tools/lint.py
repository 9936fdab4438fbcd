"""Check what the compiler does not: formats, types, layers, headers, tests, torch boundary.

Run by `make lint`. Every finding is one line, `file:line: reason`; any finding means exit status 1.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import check_codes
import check_tests
import check_words


class Finding(NamedTuple):
    """One violation: its location and its reason."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Include(NamedTuple):
    """One #include of a source file."""

    file: str
    line: int
    path: str


class Layer(NamedTuple):
    """One leapp_layer() of CMakeLists.txt: a directory of src/, and layers it may include from."""

    folder: str
    torch: bool
    depends: tuple[str, ...]

    @property
    def part(self) -> str:
        """Return the part of the tree that the layer is in: "core", "tools" or "tracing"."""
        first = self.folder.split("/")[0]
        return first if first in PARTS else "tracing"


#: The parts, bottom up; each may use itself and those before it. All other directories are tracing.
PARTS = ("core", "tools", "tracing")
TORCH_INCLUDE = re.compile(r"^(torch|ATen|c10|caffe2|aten)/")
TORCH_LIBRARY = re.compile(r"lib(torch|c10|caffe2)\w*\.so")
TORCH_SYMBOL = re.compile(r"\b_ZNK?(2at|3c10|5torch|6caffe2)\w+")
CPP_FILES = ("*.h", "*.c", "*.cpp")
#: An instance of a template of the C++ library, or one of its types.
FOREIGN_SYMBOL = re.compile(r"\b_Z(N|NK|TI|TS|TV)?St\w+")
OWN_SYMBOL = re.compile(r"_Z\w*5leapp")
SYSTEM_HEADER = re.compile(r"^(?:[a-z_0-9]+|std(?:bool|def|int)\.h)$")
TORCH_PUBLIC_HEADER = "include/leapp/leapp.h"
MAX_FILE = 400
MAX_FUNCTION = 60
SIZED = ("src", "include", "cli", "python")
# Tables, which are long and cannot be split.
TABLES = (
    "python/src/leapp/_numpy/table.py",
    "src/export/onnx/compare_logic.cpp",
    "src/export/onnx/complex.cpp",
    "src/export/onnx/elementwise.cpp",
    "src/export/onnx/kernels.cpp",
    "src/export/onnx/special_tables.h",
    "src/core/runtime/engines/operators.cpp",
)
# In addition to the layers marked TORCH. examples/ decide for themselves which library they use.
TORCH_USERS = ("python/bindings/trace", "tests/install/", "tests/end_to_end/")

#: The layer of the plugin that a robot loads for TorchScript models: neither tracer nor exporter.
PLUGIN_LAYER = "leapp_engine_torch_core"

MIRRORED_LAYERS = (
    "core/controller",
    "core/runtime",
    "core/runtime/engines/cpp",
    "core/runtime/engines/onnx",
    "tools/import",
    "ir",
    "trace",
    "session",
    "state",
    "rehearse",
    "translate",
    "compile",
    "shadow",
)


def tracked(root: Path, *patterns: str) -> list[str]:
    """Return the files that git tracks or would add, relative to the root."""
    command = [
        "git",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
        *patterns,
    ]
    names = subprocess.run(
        command, cwd=root, check=True, capture_output=True, text=True
    ).stdout.split()
    return [name for name in names if (root / name).is_file()]


def includes(root: Path, folder: str) -> Iterator[Include]:
    """Return all #include lines of the C and C++ files under a directory."""
    for file in sorted((root / folder).rglob("*")):
        if file.suffix in (".h", ".c", ".cpp"):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if match := re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line):
                    yield Include(str(file.relative_to(root)), number, match[1])


def layers(root: Path) -> dict[str, Layer]:
    """Return the layers by name, as in CMakeLists.txt."""
    found = {}
    for match in re.finditer(r"leapp_layer\((\w+)([^)]*)\)", (root / "CMakeLists.txt").read_text()):
        words = match[2].split()
        depends = words[words.index("DEPENDS") + 1 :] if "DEPENDS" in words else []
        if "PRIVATE" in depends:
            depends = depends[: depends.index("PRIVATE")]
        found[match[1]] = Layer(words[words.index("DIR") + 1], "TORCH" in words, tuple(depends))
    return found


def layer_of(path: str, known: dict[str, Layer]) -> str | None:
    """Return the layer with the innermost directory around a path relative to src/."""
    names = [name for name, layer in known.items() if path.startswith(layer.folder + "/")]
    return max(names, key=lambda name: len(known[name].folder), default=None)


def reachable(name: str, known: dict[str, Layer]) -> set[str]:
    """Return a layer and everything it may include from."""
    names = {name}
    for other in known[name].depends:
        names |= reachable(other, known)
    return names


def included_file(root: Path, path: str) -> str | None:
    """Return the file of src/ that an #include names, relative to src/, or None."""
    for part in ("core/", "tools/", ""):
        if (root / "src" / part / path).exists():
            return part + path
    return None


def check_layers(root: Path) -> Iterator[Finding]:
    """A layer includes only itself, the layers it depends on, and public headers."""
    known = layers(root)
    for include in includes(root, "src"):
        found = included_file(root, include.path)
        target = layer_of(found, known) if found is not None else None
        if target is None:
            continue
        source = layer_of(include.file.removeprefix("src/"), known)
        if source is None:
            yield Finding(include.file, include.line, "no layer of CMakeLists.txt")
        elif target not in reachable(source, known):
            may = ", ".join(sorted(known[name].folder for name in reachable(source, known)))
            folder = known[source].folder
            reason = f'includes "{include.path}", but {folder}/ may only see {may} (CMakeLists.txt)'
            yield Finding(include.file, include.line, reason)


def part_of_header(path: str) -> str | None:
    """Return the part that a public header belongs to: "leapp/tools/view.h" belongs to "tools"."""
    if path == "leapp/leapp.h" or path.startswith("leapp/trace/"):
        return "tracing"
    if path.startswith("leapp/tools/"):
        return "tools"
    return "core" if path.startswith("leapp/") else None


def check_parts(root: Path) -> Iterator[Finding]:
    """The robot part depends on no tool, and neither depends on tracing: layers and headers."""
    known = layers(root)
    for name, layer in known.items():
        for other in layer.depends:
            if PARTS.index(known[other].part) > PARTS.index(layer.part):
                reason = f"{name} of the {layer.part} depends on {other} of the {known[other].part}"
                yield Finding("CMakeLists.txt", 1, reason)
        if layer.torch and layer.part != "tracing":
            yield Finding("CMakeLists.txt", 1, f"{name} of the {layer.part} is marked TORCH")
    if PLUGIN_LAYER in known:
        for other in sorted(reachable(PLUGIN_LAYER, known) - {PLUGIN_LAYER}):
            if known[other].part != "core":
                reason = f"{PLUGIN_LAYER}, which a robot loads, depends on {other}, not of the core"
                yield Finding("CMakeLists.txt", 1, reason)
    for folder in ("src", "include", "cli"):
        for include in includes(root, folder):
            if folder == "include":
                own = part_of_header(include.file.removeprefix("include/"))
            elif folder == "src":
                layer_name = layer_of(include.file.removeprefix("src/"), known)
                own = known[layer_name].part if layer_name is not None else None
            else:
                own = "tools"
            other_part = part_of_header(include.path)
            if own is None or other_part is None or PARTS.index(other_part) <= PARTS.index(own):
                continue
            reason = f"includes <{include.path}> of the {other_part}, which the {own} must not see"
            yield Finding(include.file, include.line, reason)


def check_users(root: Path) -> Iterator[Finding]:
    """The command and the examples include public headers only."""
    for folder in ("cli", "examples"):
        for include in includes(root, folder):
            if included_file(root, include.path) is not None:
                reason = f'includes "{include.path}" of src/; {folder}/ uses public headers only'
                yield Finding(include.file, include.line, reason)


def check_torch_includes(root: Path) -> Iterator[Finding]:
    """Only layers marked TORCH, the tracing header and its users include torch's headers."""
    known = layers(root)
    tests = tuple(f"tests/{one.folder}/" for one in known.values() if one.torch)
    for folder in ("include", "src", "cli", "python/bindings", "tests"):
        for include in includes(root, folder):
            layer = layer_of(include.file.removeprefix("src/"), known) if folder == "src" else None
            if (
                (layer is not None and known[layer].torch)
                or include.file == TORCH_PUBLIC_HEADER
                or include.file.startswith(TORCH_USERS + tests)
            ):
                continue
            if TORCH_INCLUDE.match(include.path) or include.path == "leapp/leapp.h":
                reason = f"includes <{include.path}>, but this part must do without libtorch"
                yield Finding(include.file, include.line, reason)


def check_public_headers(root: Path) -> Iterator[Finding]:
    """Public headers include only the standard library and each other."""
    for include in includes(root, "include"):
        if include.path.startswith("leapp/") or SYSTEM_HEADER.match(include.path):
            continue
        if include.file == TORCH_PUBLIC_HEADER and include.path == "ATen/core/Tensor.h":
            continue
        reason = f"includes <{include.path}>; public headers see only std and leapp/"
        yield Finding(include.file, include.line, reason)


def check_folder_trees(root: Path) -> Iterator[Finding]:
    """Code in one process with torch iterates over directories with base/folder_tree.h."""
    for folder in ("src", "python/bindings"):
        for file in sorted((root / folder).rglob("*.cpp")):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if match := re.search(r"::(remove_all|recursive_directory_iterator)\b", line):
                    reason = f"{match[1]} crashes with PyTorch 2.7: see base/folder_tree.h"
                    yield Finding(str(file.relative_to(root)), number, reason)


# Functions of std::filesystem that either throw or take a std::error_code.
FILE_CALL = re.compile(
    r"(?:fs|filesystem)::(absolute|(?:weakly_)?canonical|copy(?:_file|_symlink)?|create_director\w+"
    r"|current_path|temp_directory_path|directory_iterator|equivalent|exists|file_size|is_\w+|last_write_time"
    r"|permissions|read_symlink|relative|remove|rename|(?:symlink_)?status)\("
)
TAKES_ERROR_CODE = re.compile(r"\b(error|failed|failure|ignored|missing|status|unknown)\b[()]*$")


def check_file_errors(root: Path) -> Iterator[Finding]:
    """No call throws the file errors of std::filesystem; LEAPP throws its own."""
    for folder in ("src", "cli", "python/bindings"):
        for file in sorted((root / folder).rglob("*.cpp")):
            if file.name == "staging.cpp":  # catches these errors and reports the path
                continue
            text = file.read_text()
            for match in FILE_CALL.finditer(text):
                end, depth = match.end(), 1
                while depth:
                    depth += {"(": 1, ")": -1}.get(text[end], 0)
                    end += 1
                if TAKES_ERROR_CODE.search(text[match.end() : end - 1]):
                    continue
                line = text.count("\n", 0, match.start()) + 1
                reason = f"{match[1]}() throws an error of std::filesystem: give it an error_code"
                yield Finding(str(file.relative_to(root)), line, reason)


def check_tests_mirror(root: Path) -> Iterator[Finding]:
    """Each source of these layers and of the bindings has a test of its name."""
    for layer in MIRRORED_LAYERS:
        for source in sorted((root / "src" / layer).glob("*.cpp")):
            test = Path("tests") / layer / f"{source.stem}_test.cpp"
            if (root / test).is_file():
                continue
            yield Finding(str(source.relative_to(root)), 1, f"has no test of its name, {test}")
    for source in sorted((root / "python" / "bindings").glob("*.cpp")):
        test = Path("tests/python/bindings") / f"test_{source.stem}.py"
        if not (root / test).is_file():
            yield Finding(str(source.relative_to(root)), 1, f"has no test of its name, {test}")
    for module in check_tests.modules_without_test(root):
        name = f"tests/python/test_{module.stem.strip('_')}.py"
        yield Finding(str(module), 1, f"has no test of its name, {name}")


def check_weak_tests(root: Path) -> Iterator[Finding]:
    """No Python test looks for a text that almost any program prints."""
    for file in tracked(root, "tests/python/*.py"):
        for line, reason in check_tests.weak_checks((root / file).read_text()):
            yield Finding(file, line, reason)


#: Libraries that a robot must not need.
DESK_LIBRARY = re.compile(r"lib(leapp_tools|z|gvc|cgraph)\.so")
TRACING_LIBRARY = re.compile(r"libleapp(_engine_torch)?\.so")


def check_links(root: Path, build: Path) -> Iterator[Finding]:
    """Libraries of the robot need no tool, and neither these nor the tools need libtorch."""
    modules = build / "python/leapp"
    robot = [build / "lib/libleapp_runtime.so", *modules.glob("_runtime*.so")]
    desk = [build / "lib/libleapp_tools.so", build / "bin/leapp", *modules.glob("_tools*.so")]
    for file in [*robot, *desk]:
        name = str(file.relative_to(root) if file.is_relative_to(root) else file)
        if not file.exists():
            yield Finding(
                name, 1, "was not built, so its links cannot be checked: run 'make build'"
            )
            continue
        dynamic = subprocess.run(
            ["readelf", "-d", "-W", file], check=True, capture_output=True, text=True
        ).stdout
        for line in dynamic.splitlines():
            if "NEEDED" not in line:
                continue
            if library := TORCH_LIBRARY.search(line) or TRACING_LIBRARY.search(line):
                yield Finding(name, 1, f"links {library[0]}, but must load where no libtorch is")
            if file in robot and (library := DESK_LIBRARY.search(line)):
                yield Finding(name, 1, f"links {library[0]}, which no robot needs")
        undefined = subprocess.run(
            ["nm", "-D", "-u", file], check=True, capture_output=True, text=True
        )
        if symbol := TORCH_SYMBOL.search(undefined.stdout):
            yield Finding(name, 1, f"needs the symbol {symbol[0]} of libtorch")
    yield from check_plugin_links(build)


def check_plugin_links(build: Path) -> Iterator[Finding]:
    """The plugin with libtorch needs what a robot loads, and no other library of LEAPP."""
    plugin = build / "lib/libleapp_engine_torch.so"
    if not plugin.exists():
        return
    command = ["readelf", "-d", "-W", str(plugin)]
    dynamic = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for library in re.findall(r"NEEDED.*\[(libleapp\w*)\.so", dynamic):
        if library != "libleapp_runtime":
            yield Finding(f"lib/{plugin.name}", 1, f"links {library}, which no robot needs")


def symbols(file: Path, *flags: str) -> set[str]:
    """Return LEAPP's own symbols of a library, as nm lists them with these flags."""
    command = ["nm", "-D", *flags, str(file)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {word for word in output.split() if OWN_SYMBOL.match(word)}


def check_one_home(build: Path) -> Iterator[Finding]:
    """No function of LEAPP is in two of its libraries, because each layer is in one."""
    homes: dict[str, str] = {}
    for library in sorted((build / "lib").glob("libleapp*.so")):
        command = ["nm", "-D", "--defined-only", str(library)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for symbol in re.findall(r" [TDB] (_Z\w*5leapp\w*)$", output, re.MULTILINE):
            if (other := homes.setdefault(symbol, library.name)) != library.name:
                yield Finding(f"lib/{library.name}", 1, f"holds {symbol}, which {other} has too")


def check_exports(root: Path, build: Path) -> Iterator[Finding]:
    """The libraries export everything that the Python modules use.

    Modules may have undefined symbols (those of Python), so the linker does not check this.
    """
    offered: set[str] = set()
    for library in (build / "lib").glob("libleapp*.so"):
        offered |= symbols(library, "--defined-only")
        command = ["nm", "-D", "--defined-only", str(library)]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if foreign := FOREIGN_SYMBOL.search(listed):
            reason = f"exports {foreign[0]} of the C++ library, see cmake/exports.map"
            yield Finding(f"lib/{library.name}", 1, reason)
    for module in sorted((build / "python/leapp").glob("*.so")):
        name = str(module.relative_to(root) if module.is_relative_to(root) else module)
        for symbol in sorted(symbols(module, "-u") - offered):
            reason = f"needs {symbol}, which no library exports: mark it with LEAPP_EXPORT"
            yield Finding(name, 1, reason)


def run_tool(root: Path, name: str, *command: str | Path) -> Iterator[Finding]:
    """Run a tool that prints its own findings; its failure is one more finding."""
    result = subprocess.run([Path(sys.executable).parent / command[0], *command[1:]], cwd=root)
    if result.returncode != 0:
        yield Finding(name, 1, f"{command[0]} found something, see above")


def check_format(root: Path) -> Iterator[Finding]:
    """C and C++ are formatted by clang-format; the first difference of each file is reported."""
    tool = str(Path(sys.executable).parent / "clang-format")
    files = tracked(root, *CPP_FILES)
    if not files:
        return
    command = [tool, "--dry-run", *files]
    output = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stderr
    seen = set()
    for file, line in re.findall(r"^(\S+?):(\d+):\d+: warning: ", output, re.MULTILINE):
        if file not in seen:
            seen.add(file)
            yield Finding(file, int(line), "is not formatted: run 'make format'")


def check_python(root: Path) -> Iterator[Finding]:
    """Python is formatted, linted and fully typed."""
    yield from run_tool(root, "pyproject.toml", "ruff", "check", "--quiet", ".")
    yield from run_tool(root, "pyproject.toml", "ruff", "format", "--check", "--quiet", ".")
    yield from run_tool(
        root, "pyproject.toml", "mypy", "--no-error-summary", "python/src/leapp", "tools"
    )


def long_python_functions(text: str) -> Iterator[tuple[int, int]]:
    """Return line and length of Python functions that are too long, without docstrings."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            length -= len((ast.get_docstring(node, clean=False) or "").splitlines())
            if length > MAX_FUNCTION:
                yield node.lineno, length


def long_cpp_functions(text: str) -> Iterator[tuple[int, int]]:
    """Return line and length of C++ functions that are too long.

    It relies on the layout of clang-format: the line before a body ends with a brace, and the
    closing brace is in the same column. Members are indented by two columns; deeper blocks belong
    to a function.
    """
    lines = text.splitlines()
    for start, line in enumerate(lines):
        opening = re.match(r"( {0,4})[\w~\[\]:)].*\{$", line)
        if opening is None or re.match(
            r" *(namespace|class|struct|enum|union|extern|if|for)\b", line
        ):
            continue
        closing = opening[1] + "}"
        end = next((i for i in range(start, len(lines)) if lines[i].startswith(closing)), start)
        if end - start + 1 > MAX_FUNCTION:
            yield start + 1, end - start + 1


def check_sizes(root: Path) -> Iterator[Finding]:
    """No file and no function is too long to read at once, except tables."""
    for folder in SIZED:
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix not in (".h", ".c", ".cpp", ".py") or name.startswith(TABLES):
                continue
            text = path.read_text()
            if (length := len(text.splitlines())) > MAX_FILE:
                yield Finding(
                    name, 1, f"has {length} lines, more than {MAX_FILE}: split it by noun"
                )
            find = long_python_functions if path.suffix == ".py" else long_cpp_functions
            for line, length in find(text):
                yield Finding(name, line, f"a function of {length} lines, more than {MAX_FUNCTION}")


def check_diagnostics(root: Path) -> Iterator[Finding]:
    """The codes of diagnostics, their page, the sources and the tests agree."""
    for fault in check_codes.check(root):
        file, _, reason = fault.partition(": ")
        yield Finding(file, 1, reason)


def check_english(root: Path) -> Iterator[Finding]:
    """Comments, messages and pages are in plain English, in the paths that are covered."""
    for file in tracked(root, *CPP_FILES, "*.py", "*.pyi", "*.md"):
        if check_words.covered(file):
            for line, reason in check_words.check_text(file, (root / file).read_text()):
                yield Finding(file, line, reason)


def main() -> int:
    """Run every rule and print every finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=Path, help="build tree whose libraries are also checked")
    arguments = parser.parse_args()
    root: Path = arguments.root
    rules: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ("layers", lambda: check_layers(root)),
        ("core, tools and tracing", lambda: check_parts(root)),
        ("users of the library", lambda: check_users(root)),
        ("torch-free sources", lambda: check_torch_includes(root)),
        ("public headers", lambda: check_public_headers(root)),
        ("folder trees", lambda: check_folder_trees(root)),
        ("errors of files", lambda: check_file_errors(root)),
        ("sizes", lambda: check_sizes(root)),
        ("codes of diagnostics", lambda: check_diagnostics(root)),
        ("plain English", lambda: check_english(root)),
        ("tests mirror the tree", lambda: check_tests_mirror(root)),
        ("tests that cannot fail", lambda: check_weak_tests(root)),
        ("C++ format", lambda: check_format(root)),
        ("Python", lambda: check_python(root)),
    ]
    if arguments.build is not None:
        build = arguments.build.resolve()
        rules.append(("links of the libraries", lambda: check_links(root, build)))
        rules.append(("one home per function", lambda: check_one_home(build)))
        rules.append(("exported symbols", lambda: check_exports(root, build)))
    failed = 0
    for name, rule in rules:
        findings = list(rule())
        failed += len(findings)
        print(f"lint: {name}: {f'{len(findings)} found' if findings else 'clean'}", flush=True)
        for finding in findings:
            print(finding)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
