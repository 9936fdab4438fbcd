"""The inventory of constants: exported values that are not inputs, states or wires."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate


class Env:
    pose = torch.full((3,), 0.7)  # of the class

    def __init__(self) -> None:
        self.commands = torch.zeros(1, 3)
        self.offset = torch.tensor([0.1, 0.2, 0.3])
        self.array = np.full(3, 2.0, np.float32)
        self.gain = 0.37
        self.limit = 5.5
        self.net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.LayerNorm(8))
        self.head = torch.nn.Linear(8, 3)

    def act(self, raw: torch.Tensor, **options: Any) -> Any:
        obs = annotate.input_tensors("policy", {"obs": raw})
        x = self.head(self.net(torch.cat([obs, self.commands], 1)))
        x = torch.clamp(x * self.gain, -self.limit, self.limit) + self.offset * 2 + 0.125
        x = x + torch.from_numpy(self.array) + self.pose
        return annotate.output_tensors("policy", {"act": x}, export_with="onnx", **options)


def traced(bench: Workbench, passes: int = 1, **options: Any) -> Env:
    env = Env()
    with bench.trace():
        for _ in range(passes):
            env.act(torch.randn(1, 3), **options)
    return env


def by_path(kind: str = "tensor") -> dict[str, leapp.ExportedConstant]:
    (node,) = leapp.inventory()
    return {each.path: each for each in node.constants if each.kind == kind}


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_an_undeclared_command_that_stays_zero_is_named(
    bench: Workbench, passes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    traced(bench, passes)
    assert bench.compile() == {"policy": True}
    command = by_path()["env.commands"]
    assert (command.shape, command.min, command.max) == ((1, 3), 0, 0)
    assert "test_inventory.py" in command.where
    assert "env.commands [1, 3], all zeros" in capsys.readouterr().err


def test_everything_else_is_listed_by_its_path(bench: Workbench) -> None:
    traced(bench)
    bench.compile()
    (node,) = leapp.inventory()
    modules = {each.module: (each.parameters, each.values) for each in node.weights}
    assert modules == {"env.net": (4, 72), "env.head": (2, 27)}
    assert by_path().keys() == {"env.commands", "env.offset", "env.array", "Env.pose"}
    numbers = {path: each.min for path, each in by_path("number").items()}
    assert numbers == {"env.gain": 0.37, "env.limit": 5.5, "-env.limit": -5.5}


def test_a_number_has_a_path_only_if_exactly_one_fits(bench: Workbench) -> None:
    class Pair:
        a, b = 0.61, 0.61

    pair = Pair()
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(3)})
        annotate.output_tensors("n", {"y": x * pair.a}, export_with="jit")
    bench.compile()
    (number,) = leapp.inventory()[0].constants
    assert (number.kind, number.path, number.min, number.op) == ("number", "", 0.61, "aten::mul")


def test_literals_sizes_and_library_numbers_are_left_out(bench: Workbench) -> None:
    norm = torch.nn.LayerNorm(4, eps=0.0123, elementwise_affine=False)
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.rand(2, 4)})
        y = norm(x.reshape(x.shape[0], x.shape[1])) * 0.75 - torch.tensor([0.5, 1.5, 2.5, 3.5])
        y = torch.nn.functional.normalize(y[:, 1:3]).flatten(0)
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    bench.compile()
    assert leapp.inventory() == [leapp.NodeInventory("n", [], [])]


class Stick:
    x = 0.0


def test_a_value_that_equals_a_literal_is_listed(bench: Workbench) -> None:
    with bench.trace():
        for _ in range(3):
            x = annotate.input_tensors("n", {"x": torch.randn(1, 3)})
            command = torch.tensor([[Stick.x, 0.0, 0.0]])
            annotate.output_tensors("n", {"y": x + command}, export_with="jit")
    with refused("LP413"):
        bench.compile(strict_constants=True)
    (constant,) = leapp.inventory()[0].constants
    assert (constant.shape, constant.min, constant.max) == ((1, 3), 0, 0)


def measured() -> float:
    return 0.31


def test_a_tensor_that_no_object_holds_is_listed_by_its_line(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        made = torch.tensor([measured()])
        annotate.output_tensors("n", {"y": x + made}, export_with="jit")
        del made
    bench.compile()
    (constant,) = leapp.inventory()[0].constants
    assert constant.path == "" and "test_inventory.py" in constant.where


def test_acknowledged_constants_are_not_listed(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    known = ["self.commands", "env.offset", "*.limit", "gain", Env.pose]
    env = Env()
    with bench.trace():
        env.act(torch.randn(1, 3), constants=[*known, env.array])
    bench.compile(strict_constants=True)
    assert all(each.acknowledged for each in leapp.inventory()[0].constants)
    assert "constants of node" not in capsys.readouterr().err


def test_any_other_constant_can_be_an_error(bench: Workbench) -> None:
    traced(bench, constants=["commands"])
    with pytest.raises(leapp.LeappError) as error:
        bench.compile(strict_constants=True)
    assert error.value.code == "LP413"
    assert not bench.path("g", "g.yaml").exists()
    assert by_path()["env.commands"].acknowledged
    assert not by_path()["env.offset"].acknowledged


def test_a_name_without_a_constant_is_reported(bench: Workbench) -> None:
    traced(bench, constants=["env.comands"])
    bench.compile()
    assert [each.code for each in leapp.diagnostics()].count("LP414") == 1


def test_a_method_acknowledges_too(bench: Workbench) -> None:
    offset = torch.full((2,), 0.3)

    @annotate.method(export_with="jit", constants=["offset"])
    def act(x: torch.Tensor) -> torch.Tensor:
        return x + offset

    with bench.trace():
        act(torch.ones(2))
    bench.compile(strict_constants=True)
    assert by_path()["offset"].acknowledged


def test_other_types_are_refused(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        with pytest.raises(TypeError) as error:
            annotate.output_tensors("n", {"y": x * 2}, export_with="jit", constants=[3])
        assert error.value.code == "LP002"  # type: ignore[attr-defined]


def test_it_is_in_diagnostics_json_and_the_commands(bench: Workbench, tmp_path: Path) -> None:
    traced(bench)
    bench.compile()
    report = json.loads(bench.path("g", "diagnostics.json").read_text())
    assert report["inventory"][0]["node"] == "policy"
    paths = [each["path"] for each in report["inventory"][0]["constants"]]
    assert "env.commands" in paths
    yaml, page = str(bench.path("g", "g.yaml")), str(tmp_path / "page.html")
    shown = subprocess.run(["leapp", "inspect", yaml], check=True, capture_output=True, text=True)
    assert "env.commands [1, 3], all zeros" in shown.stdout
    subprocess.run(
        ["leapp", "view", yaml, "--no-open", "--out", page], check=True, capture_output=True
    )
    assert "env.commands [1, 3], all zeros" in Path(page).read_text()


class Untouchable:
    """Raises in all code that LEAPP must not run."""

    __slots__ = ("__dict__", "__weakref__", "slot")

    def __init__(self) -> None:
        object.__setattr__(self, "slot", torch.full((2,), 0.2))
        object.__setattr__(self, "kept", [Row([torch.full((2,), 0.4)]), Table(t=torch.ones(2) * 3)])

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("LEAPP ran code of the program")

    __getattr__ = __getattribute__ = __setattr__ = __delattr__ = _refuse
    __eq__ = __ne__ = __len__ = __iter__ = __bool__ = __contains__ = __getitem__ = _refuse
    __repr__ = __str__ = __index__ = __int__ = __float__ = __dir__ = __call__ = _refuse
    __hash__ = _refuse
    value = property(_refuse)
    __class__ = property(_refuse)  # type: ignore[assignment]


class Row(list[Any]):
    __eq__ = __len__ = __iter__ = __getitem__ = __bool__ = Untouchable._refuse  # type: ignore[assignment]
    __hash__ = Untouchable._refuse  # type: ignore[assignment]


class Table(dict[str, Any]):
    __eq__ = __len__ = __iter__ = __getitem__ = __bool__ = Untouchable._refuse  # type: ignore[assignment]
    items = keys = values = get = Untouchable._refuse  # type: ignore[assignment]


def read(held: Untouchable) -> list[torch.Tensor]:
    slot, (row, table) = (object.__getattribute__(held, name) for name in ("slot", "kept"))
    return [slot, list.__getitem__(row, 0), dict.__getitem__(table, "t")]


def scaled(x: torch.Tensor, factors: list[torch.Tensor]) -> torch.Tensor:
    for factor in factors:
        x = x * factor
    return x


def test_finding_paths_runs_no_code_of_the_program(bench: Workbench) -> None:
    held = Untouchable()
    with bench.trace():
        x = annotate.input_tensors("n", {"x": torch.ones(2)})
        annotate.output_tensors("n", {"y": scaled(x, read(held))}, export_with="jit")
    bench.compile()
    assert by_path().keys() == {"held.slot", "held.kept[0][0]", "held.kept[1]['t']"}


def test_without_a_session_there_is_nothing() -> None:
    assert isinstance(leapp.inventory(), list)
