"""The Python modules that the session and compile_graph() call: arguments, results, exceptions."""

from __future__ import annotations

from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import torch
from conftest import Workbench, refused

import leapp
import leapp._state
from leapp import _trace, annotate

leapp._state.load()

from leapp import _bridge, _holders, _numbers, _numpy, _rerun  # noqa: E402

X = torch.ones(2)


def one_pass(export_with: str = "jit", **options: Any) -> None:
    x = annotate.input_tensors("n", {"x": X})
    annotate.output_tensors("n", {"y": x * 2}, export_with=export_with, **options)


class Calls:
    """Replaces a function of a module, and keeps the arguments of its calls."""

    def __init__(
        self, patch: pytest.MonkeyPatch, module: Any, name: str, result: Any = ...
    ) -> None:
        self.arguments: list[tuple[Any, ...]] = []
        original = getattr(module, name)

        def call(*arguments: Any) -> Any:
            self.arguments.append(arguments)
            if isinstance(result, BaseException):
                raise result
            return original(*arguments) if result is ... else result

        patch.setattr(module, name, call)


def test_a_pass_is_announced(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = Calls(monkeypatch, _holders, "note")
    opened = Calls(monkeypatch, _numpy, "opened")
    closing = Calls(monkeypatch, _numpy, "closing")
    with bench.trace():
        for _ in range(4):
            one_pass()
    assert len(noted.arguments) == 2  # in start() and in the first pass
    assert opened.arguments == [(), ()]  # in the first two passes
    assert closing.arguments == [(True,), (True,)]


def test_frames_are_passed_on_once(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = Calls(monkeypatch, _holders, "note")
    with bench.trace():
        one_pass()
    (before,), (during,) = noted.arguments
    assert [local for _, local in before if ("bench", bench) in local]
    assert [dict(local) for _, local in during] == [{"export_with": "jit", "options": {}}]
    assert during[0][0] is globals()


@pytest.mark.parametrize("error", [KeyError("name"), KeyboardInterrupt(), OverflowError()])
def test_exceptions_of_the_modules_reach_the_program(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    leapp.start("g", save_path=str(bench.folder))
    with monkeypatch.context() as patch:
        Calls(patch, _numpy, "opened", error)
        with pytest.raises(type(error)):
            annotate.input_tensors("n", {"x": X})


def test_errors_inside_operators_have_their_class_and_code(bench: Workbench) -> None:
    other = torch.ones(2)
    leapp.start("g", save_path=str(bench.folder))
    x = annotate.input_tensors("n", {"x": X})
    z = annotate.input_tensors("m", {"z": other})
    with refused("LP110") as caught:
        torch.nn.functional.linear(x, z)
    assert type(caught.value) is leapp.LeappError


def test_numbers_are_judged_with_code_and_values(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    gain = 0.375
    judged = Calls(monkeypatch, _numbers, "judge")
    with bench.trace():
        x = annotate.input_tensors("n", {"x": X})
        annotate.output_tensors("n", {"y": x * gain}, export_with="jit")
    bench.compile()
    reads = [read for (entries,) in judged.arguments for read in entries]
    [(code, position, op, argument, _, is_default, made_here)] = [
        read for read in reads if read[4] == [gain]
    ]
    assert type(code) is CodeType and code.co_filename == __file__ and position >= 0
    assert (op, argument, is_default, made_here) == ("aten::mul", "other", False, False)
    [(_, _, constants)] = _trace.inventory()
    assert [(kind, shape, least) for kind, *_, shape, least, _, _, _, _ in constants] == [
        ("number", None, gain)
    ]


def test_a_function_is_called_again_with_tensors(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = Calls(monkeypatch, _rerun, "call")

    @annotate.method(export_with="jit")
    def act(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return y

    with bench.trace():
        act(X)
    bench.compile(rerun=["act"])
    assert called.arguments
    for node, inputs in called.arguments:
        assert (node, list(inputs)) == ("act", ["x"])
        assert type(inputs["x"]) is torch.Tensor and inputs["x"].shape == (2,)


def test_an_exporter_gets_plain_values(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = Calls(monkeypatch, _bridge, "export")
    replayed = Calls(monkeypatch, _bridge, "replay")
    with bench.trace():
        one_pass("pt2")
    assert bench.compile() == {"n": True}
    [(backend, script, inputs, outputs, file, params)] = exported.arguments
    assert (backend, inputs, outputs) == ("pt2", [("x", "float32", [2], "cpu")], ["y"])
    assert params == {}
    assert Path(file).name == "n.pt2" and Path(script) != Path(file)
    assert all(type(name) is str for name in (script, file))
    for name, tensors in replayed.arguments:
        assert Path(name).name == "n.pt2" and [type(each) for each in tensors] == [torch.Tensor]
    assert replayed.arguments


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), leapp.errors.LeappIoError.coded("LP005", "x")]
)
def test_an_exporter_that_raises_ends_the_export(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    with bench.trace():
        one_pass("pt2")
    with monkeypatch.context() as patch:
        Calls(patch, _bridge, "export", error)
        with pytest.raises(type(error)) as caught:
            bench.compile()
    assert getattr(caught.value, "code", None) == getattr(error, "code", None)
    assert not bench.path("g", "g.yaml").exists()


def test_a_missing_package_is_a_fallback(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Calls(monkeypatch, _bridge, "missing", "onnxscript")
    with bench.trace():
        one_pass("onnx-dynamo")
    bench.compile()
    assert ("onnx-dynamo",) in asked.arguments
    assert "LP404" in bench.codes()
    assert bench.yaml()["models"]["n"]["parameters"]["backend"] == "onnx"


def test_parameters_of_an_exporter_keep_their_types(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"opset_version": 18, "optimize": False}
    exported = Calls(monkeypatch, _bridge, "export", KeyboardInterrupt())
    with bench.trace():
        one_pass("onnx-torchscript", backend_params=params)
    with pytest.raises(KeyboardInterrupt):
        bench.compile()
    found = exported.arguments[0][-1]
    assert (found, [type(each) for each in found.values()]) == (params, [int, bool])
