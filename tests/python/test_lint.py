"""Each check of the project's lint finds its fault and names it."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lint() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield importlib.import_module("lint")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree of three layers: base, bundle above it, trace above that with torch."""
    (tmp_path / "CMakeLists.txt").write_text(
        "leapp_layer(leapp_base DIR base)\n"
        "leapp_layer(leapp_bundle DIR bundle DEPENDS leapp_base\n            PRIVATE yaml-cpp)\n"
        "leapp_layer(leapp_trace DIR trace TORCH DEPENDS leapp_bundle)\n"
    )
    for name in ("src/base/check.h", "src/bundle/hash.h", "src/trace/tape.h"):
        write(tmp_path, name, "#pragma once\n")
    return tmp_path


def write(tree: Path, name: str, text: str) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)


def test_a_layer_may_not_include_one_above_it(lint: ModuleType, tree: Path) -> None:
    write(tree, "src/trace/tape.cpp", '#include "trace/tape.h"\n#include "base/check.h"\n')
    write(tree, "src/bundle/hash.cpp", '#include "base/check.h"\n#include "trace/tape.h"\n')
    assert [str(finding) for finding in lint.check_layers(tree)] == [
        'src/bundle/hash.cpp:2: includes "trace/tape.h", but bundle/ may only see base, bundle '
        "(CMakeLists.txt)"
    ]


def test_the_plugin_of_a_robot_depends_on_the_core_alone(lint: ModuleType, tree: Path) -> None:
    with (tree / "CMakeLists.txt").open("a") as file:
        file.write("leapp_layer(leapp_yaml DIR core/yaml DEPENDS leapp_base)\n")
        file.write("leapp_layer(leapp_engine_torch_core DIR torch_engine TORCH ")
        file.write("DEPENDS leapp_yaml leapp_trace)\n")
    findings = [
        finding.reason
        for finding in lint.check_parts(tree)
        if finding.reason.startswith(lint.PLUGIN_LAYER)
    ]
    assert [reason.split(" depends on ")[1].split(",")[0] for reason in findings] == [
        "leapp_base", "leapp_bundle", "leapp_trace",
    ]  # fmt: skip


def test_files_of_the_core_are_included_by_their_path_in_there(
    lint: ModuleType, tree: Path
) -> None:
    with (tree / "CMakeLists.txt").open("a") as file:
        file.write("leapp_layer(leapp_yaml DIR core/yaml DEPENDS leapp_base)\n")
    write(tree, "src/core/yaml/tree.h", "#pragma once\n")
    write(tree, "src/bundle/hash.cpp", '#include "yaml/tree.h"\n')
    assert [str(finding) for finding in lint.check_layers(tree)] == [
        'src/bundle/hash.cpp:1: includes "yaml/tree.h", but bundle/ may only see base, bundle '
        "(CMakeLists.txt)"
    ]


def test_the_robot_part_depends_on_no_tool(lint: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "leapp_layer(leapp_view DIR tools/view)\n"
        "leapp_layer(leapp_base DIR core/base DEPENDS leapp_view)\n"
        "leapp_layer(leapp_draw DIR tools/draw TORCH DEPENDS leapp_base)\n"
        "leapp_layer(leapp_trace DIR trace TORCH DEPENDS leapp_view leapp_base)\n"
    )
    assert [finding.reason for finding in lint.check_parts(tmp_path)] == [
        "leapp_base of the core depends on leapp_view of the tools",
        "leapp_draw of the tools is marked TORCH",
    ]


@pytest.mark.parametrize(
    ("file", "header", "found"),
    [
        ("src/base/a.cpp", "leapp/leapp.h", []),  # in neither directory: tracing
        ("src/core/base/a.cpp", "leapp/bundle.h", []),
        ("src/core/base/a.cpp", "leapp/tools/view.h", ["of the tools, which the core"]),
        ("src/tools/view/a.cpp", "leapp/tools/view.h", []),
        ("src/tools/view/a.cpp", "leapp/trace/shadow.h", ["of the tracing, which the tools"]),
        ("include/leapp/bundle.h", "leapp/tools/view.h", ["of the tools, which the core"]),
        ("include/leapp/tools/view.h", "leapp/bundle.h", []),
        ("include/leapp/tools/view.h", "leapp/leapp.h", ["of the tracing, which the tools"]),
        ("include/leapp/leapp.h", "leapp/trace/shadow.h", []),
        ("cli/view.cpp", "leapp/trace/shadow.h", ["of the tracing, which the tools"]),
    ],
)
def test_headers_of_a_part_above_are_not_seen(
    lint: ModuleType, tmp_path: Path, file: str, header: str, found: list[str]
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "leapp_layer(leapp_base DIR core/base)\nleapp_layer(leapp_view DIR tools/view)\n"
        "leapp_layer(leapp_trace DIR base)\n"
    )
    write(tmp_path, file, f"#include <{header}>\n")
    expected = [f"includes <{header}> {words} must not see" for words in found]
    assert [finding.reason for finding in lint.check_parts(tmp_path)] == expected


def test_programs_use_public_headers_only(lint: ModuleType, tree: Path) -> None:
    write(tree, "cli/main.cpp", '#include "leapp/bundle.h"\n#include "bundle/hash.h"\n')
    assert [str(finding) for finding in lint.check_users(tree)] == [
        'cli/main.cpp:2: includes "bundle/hash.h" of src/; cli/ uses public headers only'
    ]


@pytest.mark.parametrize("header", ["torch/script.h", "ATen/ATen.h", "c10/core/Device.h"])
def test_torch_free_sources_see_no_torch(lint: ModuleType, tree: Path, header: str) -> None:
    write(tree, "src/trace/tape.cpp", f"#include <{header}>\n")
    write(tree, "src/bundle/hash.cpp", f"\n#include <{header}>\n")
    assert [str(finding) for finding in lint.check_torch_includes(tree)] == [
        f"src/bundle/hash.cpp:2: includes <{header}>, but this part must do without libtorch"
    ]


def test_public_headers_show_no_third_party_types(lint: ModuleType, tree: Path) -> None:
    write(
        tree,
        "include/leapp/bundle.h",
        '#include <cstdint>\n#include "leapp/error.h"\n\n#include <yaml-cpp/yaml.h>\n',
    )
    write(tree, "include/leapp/leapp.h", "#include <ATen/core/Tensor.h>\n")
    assert [str(finding) for finding in lint.check_public_headers(tree)] == [
        "include/leapp/bundle.h:4: includes <yaml-cpp/yaml.h>; "
        "public headers see only std and leapp/"
    ]


def test_functions_that_libtorch_breaks_are_found(lint: ModuleType, tree: Path) -> None:
    write(tree, "src/bundle/hash.cpp", "fs::remove(file);\nfs::remove_all(folder);\n")
    assert [str(finding) for finding in lint.check_folder_trees(tree)] == [
        "src/bundle/hash.cpp:2: remove_all crashes with PyTorch 2.7: see base/folder_tree.h"
    ]


def test_calls_that_throw_an_error_of_the_file_system_are_found(
    lint: ModuleType, tree: Path
) -> None:
    write(
        tree,
        "src/bundle/hash.cpp",
        "fs::remove(file, ignored);\nfs::exists(fs::status(path, error));\nfs::rename(\n  a, b);\n",
    )
    assert [str(finding) for finding in lint.check_file_errors(tree)] == [
        "src/bundle/hash.cpp:3: rename() throws an error of std::filesystem: give it an error_code"
    ]


def test_each_source_of_the_tracing_layers_has_a_test_of_its_name(
    lint: ModuleType, tree: Path
) -> None:
    for name in ("src/trace/tape.cpp", "src/trace/capture.cpp", "src/bundle/hash.cpp"):
        write(tree, name, "")
    write(tree, "tests/trace/capture_test.cpp", "")
    found = [str(finding) for finding in lint.check_tests_mirror(tree)]
    assert found == ["src/trace/tape.cpp:1: has no test of its name, tests/trace/tape_test.cpp"]


def test_a_library_that_links_torch_is_found(lint: ModuleType, tmp_path: Path) -> None:
    torch_library = (
        Path(pytest.importorskip("torch").__file__).parent / "lib" / "libtorch_python.so"
    )
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libleapp_runtime.so").symlink_to(torch_library)
    found = [str(finding) for finding in lint.check_links(tmp_path, tmp_path)]
    assert (
        "lib/libleapp_runtime.so:1: links libtorch_cpu.so, but must load where no libtorch is"
        in found
    )
    assert any(line.startswith("lib/libleapp_runtime.so:1: needs the symbol _ZN") for line in found)
    assert "bin/leapp:1: was not built, so its links cannot be checked: run 'make build'" in found


def compile_library(folder: Path, name: str, text: str, *flags: str) -> None:
    source = folder / f"{name}.cpp"
    source.write_text(text)
    library = folder / f"lib{name}.so"
    subprocess.run(
        ["c++", "-shared", "-fPIC", "-o", library, source, "-Wl,--no-as-needed", *flags], check=True
    )


def test_a_tool_in_the_robot_part_is_found(lint: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    compile_library(tmp_path / "lib", "leapp_tools", "namespace leapp { void draw() {} }")
    compile_library(
        tmp_path / "lib",
        "leapp_runtime",
        "namespace leapp { void draw() {} }",
        f"-L{tmp_path}/lib",
        "-lleapp_tools",
    )
    found = [str(finding) for finding in lint.check_links(tmp_path, tmp_path)]
    assert "lib/libleapp_runtime.so:1: links libleapp_tools.so, which no robot needs" in found
    assert [str(finding) for finding in lint.check_one_home(tmp_path)] == [
        "lib/libleapp_tools.so:1: holds _ZN5leapp4drawEv, which libleapp_runtime.so has too"
    ]


def test_a_library_that_exports_the_standard_library_is_found(
    lint: ModuleType, tmp_path: Path
) -> None:
    torch_library = Path(pytest.importorskip("torch").__file__).parent / "lib" / "libc10.so"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libleapp_runtime.so").symlink_to(torch_library)
    (found,) = lint.check_exports(tmp_path, tmp_path)
    assert str(found).startswith("lib/libleapp_runtime.so:1: exports _Z")
    assert str(found).endswith("of the C++ library, see cmake/exports.map")


@pytest.mark.parametrize(("lines", "found"), [(60, []), (61, ["src/bundle/hash.cpp:3: 61 lines"])])
def test_long_functions_are_found(
    lint: ModuleType, tree: Path, lines: int, found: list[str]
) -> None:
    body = "  {\n  }\n" + "  a();\n" * (lines - 4)
    write(tree, "src/bundle/hash.cpp", "namespace leapp {\n\nvoid f() {\n" + body + "}\n}\n")
    reasons = [f.removesuffix(", more than 60") for f in map(str, lint.check_sizes(tree))]
    assert [reason.replace("a function of ", "") for reason in reasons] == found


def test_long_members_and_python_functions_are_found(lint: ModuleType, tree: Path) -> None:
    body = "    a();\n" * 60
    write(tree, "src/bundle/hash.h", "class A {\n  void f() const {\n" + body + "  }\n};\n")
    write(tree, "python/a.py", 'def f():\n    """Say.\n\n    More.\n    """\n' + body)
    write(tree, "python/b.py", "def f():\n" + body)
    assert [str(finding) for finding in lint.check_sizes(tree)] == [
        "src/bundle/hash.h:2: a function of 62 lines, more than 60",
        "python/a.py:1: a function of 61 lines, more than 60",
        "python/b.py:1: a function of 61 lines, more than 60",
    ]


def test_long_files_are_found_unless_they_are_tables(lint: ModuleType, tree: Path) -> None:
    write(tree, "src/bundle/hash.cpp", "\n" * 401)
    write(tree, "src/export/onnx/kernels.cpp", "\n" * 401)
    assert [str(finding) for finding in lint.check_sizes(tree)] == [
        "src/bundle/hash.cpp:1: has 401 lines, more than 400: split it by noun"
    ]


@pytest.fixture
def coded(tree: Path) -> Path:
    """Return a tree with two codes, each with its section, its use and its test."""
    write(tree, "include/leapp/code.h", "enum class Code {\n  kA = 1,  ///< a\n  kB = 20,\n};\n")
    page = "## LP001 — a\n\n```python\na()\n```\n\n## LP020 — b\n\nNo program.\n"
    write(tree, "docs/reference/diagnostics.md", page)
    write(tree, "src/base/a.cpp", "throw Error(Code::kA, text);\n")
    write(tree, "python/a.py", 'warn("LP020")\n')
    write(tree, "tests/base/a_test.cpp", "EXPECT_EQ(error.code(), Code::kB);\n")
    return tree


def test_codes_that_agree_are_not_findings(lint: ModuleType, coded: Path) -> None:
    assert list(lint.check_diagnostics(coded)) == []


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("docs/reference/diagnostics.md", "## LP001 — a\n```python\n", "LP020 (kB) has no section"),
        ("python/a.py", 'warn("LP021")\n', "there is no LP021 in include/leapp/code.h"),
        ("python/a.py", "", "LP020 (kB) is not used"),
        ("src/base/a.cpp", "// Code is LP001\n", "LP001 (kA) is not used"),
        ("tests/base/a_test.cpp", "", "LP020 (kB) is in no test"),
    ],
)
def test_codes_that_do_not_agree_are_found(
    lint: ModuleType, coded: Path, name: str, text: str, finding: str
) -> None:
    write(coded, name, text)
    assert finding in [found.reason for found in lint.check_diagnostics(coded)]


def test_a_section_without_a_code_is_found(lint: ModuleType, coded: Path) -> None:
    page = coded / "docs/reference/diagnostics.md"
    page.write_text(page.read_text() + "\n## LP300 — c\n")
    assert [str(found) for found in lint.check_diagnostics(coded)] == [
        "docs/reference/diagnostics.md:1: there is no LP300 in include/leapp/code.h"
    ]


def test_bindings_need_a_test_of_their_name(lint: ModuleType, tree: Path) -> None:
    for name in ("trace_onnx.cpp", "trace_onnx.h", "runtime.cpp", "setting.h"):
        write(tree, f"python/bindings/{name}", "")
    write(tree, "tests/python/bindings/test_trace_onnx.py", "")
    write(tree, "tests/python/test_runtime.py", "")
    assert [str(finding) for finding in lint.check_tests_mirror(tree)] == [
        "python/bindings/runtime.cpp:1: has no test of its name, "
        "tests/python/bindings/test_runtime.py"
    ]


def test_python_modules_with_logic_need_a_test_of_their_name(lint: ModuleType, tree: Path) -> None:
    write(tree, "python/src/leapp/_walk.py", "def f(x):\n    return [y for y in x]\n")
    write(tree, "python/src/leapp/_loop.py", "def f(x):\n    return 1 if x else 2\n")
    write(tree, "python/src/leapp/enums.py", "NAMES = ('a', 'b')\n")
    write(tree, "tests/python/test_api_walk.py", "")
    assert [str(finding) for finding in lint.check_tests_mirror(tree)] == [
        "python/src/leapp/_loop.py:1: has no test of its name, tests/python/test_loop.py"
    ]


@pytest.mark.parametrize(
    ("line", "is_weak"),
    [
        ('assert "25" in log', True),
        ('assert "bad" in str(caught.value)', True),
        ('assert "n/y" in bench.log()', True),
        ('assert "policy" in log', False),
        ('assert "a" in names', False),
        ('pytest.raises(Exception, match="n")', True),
        ('pytest.raises(KeyError, match="n")', False),
        ('pytest.raises(Exception, match="policy")', False),
    ],
)
def test_checks_that_hardly_fail_are_found(lint: ModuleType, line: str, is_weak: bool) -> None:
    assert bool(list(lint.check_tests.weak_checks(line))) == is_weak
