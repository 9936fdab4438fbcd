"""The reference pages have every option, key, function and flag of the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_readme import ROOT

REFERENCE = ROOT / "docs" / "reference"
PACKAGE = ROOT / "python" / "src" / "leapp"
HEADERS = ROOT / "include" / "leapp"


def words_of(page: str) -> set[str]:
    """Return the words of everything in a page that is set as code, and of its headings."""
    text = (REFERENCE / page).read_text()
    code = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return set(re.findall(r"[\w-]+", " ".join([*code, *titles])))


def source_of(name: str) -> str:
    """Return the text of the source whose path ends with the name."""
    (file,) = (ROOT / "src").rglob(name)
    return file.read_text()


def functions_of(module: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the public functions and methods of a module, with their qualified names."""
    for node in ast.parse((PACKAGE / module).read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and (
                    not each.name.startswith("_") or each.name == "__init__"
                ):
                    yield f"{node.name}.{each.name}", each


def fields_of(module: str, name: str) -> list[str]:
    """Return the public fields of a data class."""
    for node in ast.parse((PACKAGE / module).read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            targets = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            return [name for name in names if not name.startswith("_")]
    raise AssertionError(f"{module} has no class {name}")


def test_python_names_are_in_the_reference() -> None:
    module = ast.parse((PACKAGE / "__init__.py").read_text())
    names = next(
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
    )
    assert set(names) - {"__version__"} <= words_of("python.md")


@pytest.mark.parametrize(
    "module",
    ["_session.py", "_diagnostics.py", "_annotate.py", "_shadow.py", "_import.py",
     "inference_manager.py", "controller.py", "supervisor.py"],
)  # fmt: skip
def test_python_arguments_are_in_the_reference(module: str) -> None:
    known = words_of("python.md")
    for name, function in functions_of(module):
        if name.startswith(("find_", "ShadowRun.__")):
            continue
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        named = {each.arg for each in arguments} - {"self", "cls", "function", "unknown", "source"}
        assert named <= known, f"{module}: {name}() has arguments that python.md does not list"
        assert name.rpartition(".")[2] in known | {"__init__"}, f"python.md does not list {name}"


@pytest.mark.parametrize(
    ("module", "name"),
    [("semantics.py", "TensorSemantics"), ("semantics.py", "GraphConfigs"),
     ("semantics.py", "TemporalAxis"), ("_contract.py", "Limits"), ("_contract.py", "History"),
     ("patching.py", "FunctionPatch"), ("_diagnostics.py", "Diagnostic"),
     ("_import.py", "ImportedPolicy"), ("controller.py", "Intervention"),
     ("controller.py", "ReplayReport"), ("supervisor.py", "SwitchRecord"),
     ("_inventory.py", "ExportedWeights"),
     ("_inventory.py", "ExportedConstant"), ("_inventory.py", "NodeInventory")],
)  # fmt: skip
def test_python_fields_are_in_the_reference(module: str, name: str) -> None:
    assert set(fields_of(module, name)) - {"temporal_period_ms"} <= words_of("python.md")


def test_python_members_of_the_manager_are_in_the_reference() -> None:
    stub = ast.parse((PACKAGE / "_runtime.pyi").read_text())
    known = words_of("python.md")
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name in ("Manager", "Controller", "Supervisor"):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                    assert each.name in known, f"python.md does not list {node.name}.{each.name}"


def test_c_functions_and_members_are_in_the_reference() -> None:
    known = words_of("c.md")
    for header in ("c.h", "c_controller.h", "c_supervisor.h"):
        text = re.sub(r"/\*.*?\*/", "", (HEADERS / header).read_text(), flags=re.DOTALL)
        for name in re.findall(r"LEAPP_API [^;(]*?\b(leapp_\w+)\(", text):
            assert name in known, f"c.md does not list {name}()"
        for body, struct in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.DOTALL):
            for member in re.findall(r"(\w+)(?:;|, )", body):
                assert member in known, f"c.md does not list {struct}.{member}"


def test_headers_and_exported_names_are_in_the_cpp_reference() -> None:
    known = words_of("cpp.md") | words_of("c.md")
    for header in sorted(HEADERS.rglob("*.h")):
        assert header.stem in known, f"cpp.md does not list {header.relative_to(HEADERS)}"
        if header.stem in ("c", "c_controller", "c_supervisor", "cpp_model", "visibility"):
            continue
        text = re.sub(r"//.*", "", header.read_text())
        names = re.findall(r"^(?:class|struct) (?:LEAPP_EXPORT )?(\w+) ?[:{]", text, re.M)
        names += re.findall(r"^LEAPP_EXPORT [^;({]*?\b(\w+)\(", text, re.M)
        missing = set(names) - {"to_string", "to_json"} - known
        assert not missing, f"cpp.md does not list {missing} of {header.name}"


@pytest.mark.parametrize(
    ("header", "struct"),
    [("inference_manager.h", "RuntimeOptions"), ("controller.h", "ControllerOptions"),
     ("engine.h", "EngineOptions"), ("bundle.h", "BundleOptions")],
)  # fmt: skip
def test_members_of_options_are_in_the_cpp_reference(header: str, struct: str) -> None:
    text = re.sub(r"//.*", "", (HEADERS / header).read_text())
    (body,) = re.findall(rf"^struct {struct} \{{(.*?)^\}};", text, re.DOTALL | re.MULTILINE)
    members = re.findall(r"(\w+)(?: = [^;]*|\{[^;]*\})?;", re.sub(r"\bbool operator.*", "", body))
    assert members
    assert set(members) <= words_of("cpp.md")


def test_keys_of_a_robot_are_in_the_reference() -> None:
    source = source_of("controller/robot.cpp")
    lists = re.findall(r"expect_keys\(\w+, \{(.*?)\}\)", source, re.DOTALL)
    keys = set(re.findall(r'"(\w+)"', " ".join(lists)))
    assert {"rate", "heartbeat"} <= keys <= words_of("robot_yaml.md")


def test_keys_of_a_supervisor_are_in_the_reference() -> None:
    source = source_of("controller/supervision.cpp")
    lists = re.findall(r"expect_keys\(\w+, \{(.*?)\}\)", source, re.DOTALL)
    keys = set(re.findall(r'"(\w+)"', " ".join(lists)))
    assert {"policies", "above"} <= keys <= words_of("supervisor.md")


def test_units_are_in_the_reference() -> None:
    page = (REFERENCE / "robot_yaml.md").read_text()
    for unit in re.findall(r'Unit\{"([^"]+)"', (ROOT / "src/core/controller/unit.cpp").read_text()):
        assert f"`{unit}`" in page, f"robot_yaml.md does not list {unit}"


def test_environment_variables_are_in_the_reference() -> None:
    sources = [*(ROOT / "src").rglob("*.cpp"), *(ROOT / "cli").rglob("*.cpp")]
    named = {name for file in sources for name in re.findall(r'getenv\("(\w+)"', file.read_text())}
    everywhere = {"HOME", "PATH", "DISPLAY", "WAYLAND_DISPLAY"}
    assert named - everywhere <= words_of("environment.md")


def section_of(page: str, title: str) -> str:
    text = (REFERENCE / page).read_text()
    match = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert match, f"{page} has no section '{title}'"
    return match[1]


def help_of(*words: str) -> str:
    command = Path(sys.executable).with_name(words[0])
    if not command.exists():
        pytest.skip(f"{command} is not installed; `make build` installs it")
    done = subprocess.run([command, *words[1:], "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_flags_of_the_command_are_in_the_reference() -> None:
    listed = re.findall(r"^  ([a-z]+) ", help_of("leapp").partition("Subcommands:")[2], re.M)
    assert "inspect" in listed
    shared = section_of("command.md", "Options for running")
    for name in listed:
        section = section_of("command.md", f"leapp {name}")
        flags = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", help_of("leapp", name), re.M))
        runs = set(re.findall(r"`(--[\w-]+)`", shared))
        missing = flags - {"--help"} - set(re.findall(r"`(--[\w-]+)`", section))
        if "(#options-for-running)" in section:
            missing -= runs
        assert not missing, f"command.md: leapp {name} lacks {missing}"


def test_flags_of_the_trainers_are_in_the_reference() -> None:
    section = section_of("command.md", "leapp-export")
    for source in [*(PACKAGE / "integrations").glob("*.py")]:
        for flag in re.findall(r'add_argument\(\s*(?:"-\w", )?"(--[\w-]+)"', source.read_text()):
            assert f"`{flag}`" in section, f"command.md: leapp-export lacks {flag}"
