"""Arguments of the wrong type or size: every call raises an error that names the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import refused
from test_supervisor import folder  # noqa: F401

import leapp
from leapp.controller import replay

Files = tuple[Path, Path]

#: For each type of argument: values of other types, and values out of its range.
WRONG: dict[str, tuple[list[Any], list[Any]]] = {
    "bool": ([None, 1, -1, 1.5, math.nan, "no", [], np.float32(1)], []),
    "int": ([None, True, 1.5, np.float32(2), math.nan, "1", b"1"], [2**70, -(2**70)]),
    "float": ([None, True, "1", b"1", [], {}], [math.nan, 10**400]),
    "string": ([None, 1, b"x", []], ["\udc80"]),
    "path": ([None, 1, math.inf, [], {}, object()], ["a\0b", Path("a\0b")]),
    "numbers": ([None, 1, "12", {}, [None], ["1"]], []),
}

Call = Callable[[Files, Any], Any]


def manager(files: Files, **options: Any) -> leapp.InferenceManager:
    return leapp.InferenceManager(files[0], **options)


def started(files: Files) -> leapp.Controller:
    controller = leapp.Controller(*files)
    controller.start()
    return controller


def supervisor(files: Files) -> leapp.Supervisor:
    return leapp.Supervisor(files[1].with_name("supervisor.yaml"), files[1])


CALLS: list[tuple[str, str, Call]] = [
    ("threads", "int", lambda f, v: manager(f, threads=v)),
    ("max_tensor_bytes", "int", lambda f, v: manager(f, max_tensor_bytes=v)),
    ("spinning", "bool", lambda f, v: manager(f, spinning=v)),
    ("translate", "bool", lambda f, v: manager(f, translate=v)),
    ("merge", "bool", lambda f, v: manager(f, merge=v)),
    ("measure", "bool", lambda f, v: manager(f, measure=v)),
    ("allow_native", "bool", lambda f, v: manager(f, allow_native=v)),
    ("allow_outside_files", "bool", lambda f, v: manager(f, allow_outside_files=v)),
    ("provider", "string", lambda f, v: manager(f, provider=v)),
    ("staleness", "float", lambda f, v: manager(f, staleness={"pi/x": v})),
    ("seed", "int", lambda f, v: manager(f).get_mock_input(v)),
    ("ticks", "int", lambda f, v: manager(f).prepare(v)),
    ("node_name", "string", lambda f, v: manager(f).set_input_value(v, "x", 1)),
    ("input_name", "string", lambda f, v: manager(f).set_input_value("pi", v, 1)),
    ("bundle", "path", lambda f, v: leapp.Controller(v, f[1])),
    ("robot", "path", lambda f, v: leapp.Controller(f[0], v)),
    ("worker", "bool", lambda f, v: leapp.Controller(*f, worker=v)),
    ("blend_in", "float", lambda f, v: leapp.Controller(*f, blend_in=v)),
    ("threads", "int", lambda f, v: leapp.Controller(*f, threads=v)),
    ("allow_native", "bool", lambda f, v: leapp.Controller(*f, allow_native=v)),
    ("name", "string", lambda f, v: started(f).set_sensor(v, [0, 1, 2, 3])),
    ("values of sensor 'q'", "numbers", lambda f, v: started(f).set_sensor("q", v)),
    ("age", "float", lambda f, v: started(f).set_sensor("q", [0, 1, 2, 3], v)),
    ("name", "string", lambda f, v: started(f).actuator(v)),
    ("supervision", "path", lambda f, v: leapp.Supervisor(v, f[1])),
    ("policy", "string", lambda f, v: supervisor(f).request(v)),
    ("policy", "string", lambda f, v: supervisor(f).counts(v)),
    ("policy", "string", lambda f, v: supervisor(f).failure(v)),
    ("policy", "string", lambda f, v: supervisor(f).interventions(v)),
    ("flag", "string", lambda f, v: supervisor(f).set_flag(v)),
    ("value", "bool", lambda f, v: supervisor(f).set_flag("go", v)),
    ("recording", "path", lambda f, v: replay(v, f[0])),
    ("bundle", "path", lambda f, v: replay(f[0], v)),
    ("rtol", "float", lambda f, v: replay(f[0], f[0], rtol=v)),
    ("policy", "string", lambda f, v: replay(f[0], f[0], policy=v)),
    ("model", "path", lambda f, v: leapp.import_onnx(v, f[0].parent / "imported")),
    ("target", "path", lambda f, v: leapp.import_onnx(f[0], v)),
]
#: Arguments for which None has a meaning.
OPTIONAL: list[tuple[str, str, Call]] = [
    ("deadline", "float", lambda f, v: manager(f, deadline=v)),
    ("file", "path", lambda f, v: manager(f).trace_to(v)),
    ("frequency", "float", lambda f, v: leapp.Controller(*f, frequency=v)),
    ("deadline", "float", lambda f, v: leapp.Controller(*f, deadline=v)),
    ("recording", "path", lambda f, v: leapp.Controller(*f, recording=v)),
    ("deploy", "path", lambda f, v: leapp.import_onnx(f[0], f[0].parent / "imported", v)),
]


@pytest.fixture
def described(folder: Path) -> Files:  # noqa: F811
    return folder / "first" / "legs.yaml", folder / "robot.yaml"


@pytest.mark.parametrize(
    ("name", "kind", "call", "optional"),
    [(*each, False) for each in CALLS] + [(*each, True) for each in OPTIONAL],
)
def test_errors_name_the_argument(
    name: str, kind: str, call: Call, optional: bool, described: Files
) -> None:
    for code, values in zip(("LP002", "LP003"), WRONG[kind], strict=True):
        for value in values:
            if value is None and optional:
                continue
            with pytest.raises(leapp.LeappError) as caught:
                call(described, value)
            assert (str(caught.value).startswith(f"{name} must be "), caught.value.code) == (
                True,
                code,
            ), (value, str(caught.value))


@pytest.mark.parametrize("value", [0.5, "a", object()])
def test_a_clock_is_a_function(value: object, described: Files) -> None:
    with refused("LP002"):
        leapp.Controller(*described, clock=value)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers(described: Files) -> None:
    built = leapp.InferenceManager(described[0], threads=np.int64(1), deadline=np.float32(2))  # type: ignore[arg-type]
    assert built.inputs
    leapp.InferenceManager(described[0], merge=np.bool_(False))  # type: ignore[arg-type]
    controller = started(described)
    controller.set_sensor("q", np.arange(4, dtype=np.float32))  # type: ignore[arg-type]
    assert controller.update() == "running"


@pytest.mark.parametrize("options", [{"array": "x" * 10**6}, {"trust": "\u202e" * 10**6}])
def test_messages_about_arguments_are_bounded(options: dict[str, Any], described: Files) -> None:
    with pytest.raises(ValueError) as caught:
        leapp.InferenceManager(described[0], **options)
    assert len(str(caught.value)) < 8192
    assert str(caught.value).isprintable()


def test_settings_of_an_import_are_strings(tmp_path: Path) -> None:
    for settings in (3, ["a"], {"a": 1}, {1: "a"}):
        with refused("LP002"):
            leapp.import_onnx("policy.onnx", tmp_path / "x", settings=settings)  # type: ignore[arg-type]
