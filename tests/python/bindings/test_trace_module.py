"""The module _trace as a whole: its names, its version, and its end."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import leapp
from leapp import _runtime, _trace

PYBIND11 = "_pybind11_conduit_v1_"


def public(names: object) -> set[str]:
    return {name for name in vars(names) if name[:1] != "_"}


def test_the_stub_lists_every_name() -> None:
    stub = Path(inspect.getfile(leapp)).with_name("_trace.pyi").read_text()
    listed = {
        node.name: node
        for node in ast.parse(stub).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    assert public(_trace) == set(listed)
    for name, node in listed.items():
        if isinstance(node, ast.ClassDef):
            members = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            assert public(getattr(_trace, name)) == {each for each in members if each[0] != "_"}


def test_both_modules_are_of_one_version() -> None:
    assert _trace.__version__ == _runtime.__version__ == leapp.__version__  # type: ignore[attr-defined]


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_importing_the_package_does_not_load_it() -> None:
    program = "import sys, leapp\nprint([n for n in ('torch', 'leapp._trace') if n in sys.modules])"
    assert run(program) == "[]\n"


def test_the_interpreter_ends_with_converters_and_an_open_pass() -> None:
    program = """
import tempfile, torch, leapp
from leapp import annotate
leapp.onnx.register_converter("mylib::op", lambda op: None)
leapp.start("g", save_path=tempfile.mkdtemp())
x = annotate.input_tensors("n", {"x": torch.ones(2)})
print(leapp.onnx.convertible_ops().count("mylib::op"))
"""
    assert run(program) == "1\n"


def test_it_needs_a_pytorch_that_is_loaded() -> None:
    program = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
import leapp
try:
    leapp.start("g")
except ImportError as error:
    print(type(error).__name__, error.code)
"""
    assert run(program) == "LeappImportError LP006\n"
