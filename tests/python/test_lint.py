"""The project's own lint finds what it is there to find, and says why."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lint() -> ModuleType:
    spec = importlib.util.spec_from_file_location("leapp_lint", ROOT / "tools" / "lint.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of three layers: base, bundle above it, trace above that with torch."""
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


def test_each_source_of_the_tracing_layers_has_a_test_of_its_name(
    lint: ModuleType, tree: Path
) -> None:
    for name in ("src/trace/tape.cpp", "src/trace/capture.cpp", "src/bundle/hash.cpp"):
        write(tree, name, "")
    write(tree, "tests/trace/capture_test.cpp", "")
    found = [str(finding) for finding in lint.check_tests_mirror(tree)]
    assert found == ["src/trace/tape.cpp:1: has no test of its name, tests/trace/tape_test.cpp"]


def test_what_is_excused_from_the_mirror_exists_and_needs_it(lint: ModuleType) -> None:
    for name in lint.NOT_YET_MIRRORED:
        assert (ROOT / "src" / f"{name}.cpp").is_file(), name
        assert not (ROOT / "tests" / f"{name}_test.cpp").is_file(), name


def test_a_library_that_links_torch_is_found(lint: ModuleType, tmp_path: Path) -> None:
    torch_library = (
        Path(pytest.importorskip("torch").__file__).parent / "lib" / "libtorch_python.so"
    )
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libleapp_runtime.so").symlink_to(torch_library)
    found = [str(finding) for finding in lint.check_torch_links(tmp_path, tmp_path)]
    assert (
        "lib/libleapp_runtime.so:1: links libtorch_cpu.so, but must load where no libtorch is"
        in found
    )
    assert any(line.startswith("lib/libleapp_runtime.so:1: needs the symbol _ZN") for line in found)
    assert "bin/leapp:1: was not built, so its links cannot be checked: run 'make build'" in found
