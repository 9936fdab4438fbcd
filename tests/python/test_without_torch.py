"""The package runs bundles without an installed torch: nothing of torch is imported or loaded."""

from __future__ import annotations

import re
import subprocess
import sys
import types

import pytest

import leapp
from leapp import LeappError, _state

BLOCK_TORCH = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
"""

LOADED = """
maps = open("/proc/self/maps").read()
assert "libtorch" not in maps and "libc10" not in maps, "a library of torch is loaded"
assert not any(name.split(".")[0] == "torch" for name in sys.modules), "torch is imported"
"""


def run(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_imports_with_torch_blocked() -> None:
    run(BLOCK_TORCH + "import leapp\nleapp.InferenceManager\n" + LOADED)


def test_importing_alone_does_not_load_torch() -> None:
    run("import sys\nimport leapp\nleapp.InferenceManager\n" + LOADED)


def test_a_robot_loads_no_tools() -> None:
    run(
        "import leapp\nleapp.InferenceManager, leapp.Controller\n"
        "assert 'leapp_tools' not in open('/proc/self/maps').read()\n"
        "try:\n  leapp.import_onnx('/nowhere.onnx', '/nowhere')\n"
        "except leapp.LeappError:\n  pass\n"
        "assert 'leapp_tools' in open('/proc/self/maps').read()\n"
    )


def test_tracing_with_torch_blocked_names_the_missing_package() -> None:
    code = (
        BLOCK_TORCH + "import leapp\ntry:\n  leapp.start('g')\nexcept ImportError as e:\n  print(e)"
    )
    assert "torch" in run(code)


def _start_with(monkeypatch: pytest.MonkeyPatch, built_for: types.ModuleType | None) -> LeappError:
    monkeypatch.setattr(_state, "is_active", _state._inactive)  # as if nothing was loaded yet
    monkeypatch.setitem(sys.modules, "leapp._built_for", built_for)
    with pytest.raises(LeappError) as raised:
        leapp.start("g")
    assert isinstance(raised.value, ImportError)
    return raised.value


def test_tracing_with_the_runtime_alone_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error = _start_with(monkeypatch, None)
    assert error.code == "LP971"
    assert "the wheel of leapp" in str(error)


def test_a_torch_of_another_minor_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = types.ModuleType("leapp._built_for")
    other.TORCH = "2.0.1"  # type: ignore[attr-defined]
    error = _start_with(monkeypatch, other)
    assert error.code == "LP972"
    assert "'torch==2.0.*'" in str(error)
    names = re.findall(r"pip install ([^']*)", str(error))
    arguments = [x for each in names for x in each.split() if not x.startswith("-")]
    assert arguments == ["./python/runtime", "."]  # an index has another package of that name
