"""``leapp.export``: one call from a module or function to a validated bundle."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, ports
from torch import nn

import leapp
from leapp import LeappError


class Remembering(nn.Module):
    """A policy that keeps its hidden state in an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 3)
        self.hidden = torch.zeros(1, 3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        self.hidden = self.cell(obs, self.hidden)
        return self.hidden * 2


def run(yaml: str, ticks: int = 1, **inputs: Any) -> dict[str, Any]:
    robot = leapp.InferenceManager(yaml)
    node = robot.inputs[0].split("/")[0]
    given = {f"{node}/{name}": value for name, value in inputs.items()}
    for _ in range(ticks):
        outputs = robot(given)
    return {name.split("/")[1]: value for name, value in outputs.items()}


def export(bench: Workbench, function: Any, example: Any, **options: Any) -> str:
    options = {"visualize": False, **options}
    return leapp.export(function, example, bench.path("g"), **options)


def test_a_module(bench: Workbench, backend: str) -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.ELU())
    yaml = export(bench, net, torch.zeros(1, 4), export_with=backend)
    assert yaml == str(bench.path("g", "g.yaml"))
    x = torch.randn(1, 4)
    assert list(bench.yaml()["models"]) == ["g"]
    assert ports(bench, "g") == ["input"]
    torch.testing.assert_close(run(yaml, input=x)["output1"], net(x))


def test_arguments_are_not_changed(bench: Workbench) -> None:
    net, example = nn.Linear(4, 3), torch.zeros(1, 4)
    random = torch.get_rng_state()
    export(bench, net, example)
    assert torch.equal(example, torch.zeros(1, 4))
    assert torch.equal(torch.get_rng_state(), random)
    assert not leapp.ExportManager.is_interpret_graph_enabled()


def test_every_pass_of_a_single_example_is_another(bench: Workbench) -> None:
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def double(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        seen.append((x.clone(), index.clone()))
        return x[index] * 2

    export(bench, double, (torch.zeros(4), torch.tensor(1)), passes=4)
    assert len(seen) == 4
    assert torch.equal(seen[0][0], torch.zeros(4))
    assert len({tuple(x.tolist()) for x, _ in seen}) == 4
    assert {int(index) for _, index in seen} == {1}


def test_a_list_has_one_example_for_each_pass(bench: Workbench) -> None:
    seen: list[float] = []

    def double(x: torch.Tensor) -> torch.Tensor:
        seen.append(float(x.detach()[0]))
        return x * 2

    with torch.no_grad():
        export(bench, double, [torch.full((2,), value) for value in (1.0, 5.0)])
    assert seen == [1.0, 5.0]


def test_arguments_by_name_and_outputs_by_key(bench: Workbench) -> None:
    def act(obs: torch.Tensor, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"action": obs * scale, "value": obs.sum()}

    yaml = export(bench, act, {"scale": torch.ones(1), "obs": torch.ones(3)})
    assert set(ports(bench, "g")) == {"obs", "scale"}
    outputs = run(yaml, obs=torch.ones(3), scale=torch.full((1,), 2.0))
    assert torch.equal(outputs["action"], torch.full((3,), 2.0))
    assert float(outputs["value"]) == 3.0


def test_outputs_are_called_as_in_the_source(bench: Workbench) -> None:
    def act(obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        action, value = obs * 2, obs.sum()
        return action, value

    export(bench, act, torch.ones(3))
    assert ports(bench, "g", "outputs") == ["action", "value"]


def test_arrays(bench: Workbench) -> None:
    def act(obs: Any) -> Any:
        return np.tanh(obs) * 2

    yaml = export(bench, act, np.zeros(3, np.float32))
    outputs = run(yaml, obs=np.ones(3, np.float32))
    np.testing.assert_allclose(outputs["output1"], np.tanh(np.ones(3)) * 2, rtol=1e-5)


def test_compiled_functions_without_a_signature(bench: Workbench) -> None:
    yaml = export(bench, torch.maximum, (torch.zeros(2), torch.ones(2)))
    assert ports(bench, "g") == ["arg_0", "arg_1"]
    outputs = run(yaml, arg_0=torch.tensor([3.0, 0.0]), arg_1=torch.ones(2))
    assert outputs["output1"].tolist() == [3.0, 1.0]


def test_state_that_a_module_keeps(bench: Workbench) -> None:
    net = Remembering()
    yaml = export(bench, net, torch.zeros(1, 4))
    net.hidden = torch.zeros(1, 3)
    x = torch.randn(1, 4)
    with torch.no_grad():
        for _ in range(3):
            expected = net(x)
    torch.testing.assert_close(run(yaml, ticks=3, obs=x)["output1"], expected)


def test_state_that_a_function_is_given_and_returns(bench: Workbench, backend: str) -> None:
    lstm = nn.LSTM(4, 3)
    hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
    yaml = export(
        bench, lstm, {"input": torch.zeros(1, 1, 4)}, states={"hx": hidden}, export_with=backend
    )
    x = torch.randn(1, 1, 4)
    with torch.no_grad():
        for _ in range(3):
            expected, hidden = lstm(x, hidden)
    outputs = run(yaml, ticks=3, input=x)
    assert len(outputs) == 1
    torch.testing.assert_close(next(iter(outputs.values())), expected)


def test_options_of_the_compilation(bench: Workbench) -> None:
    def act(obs: torch.Tensor) -> torch.Tensor:
        return obs + gains

    gains = torch.full((3,), 2.0)
    with pytest.raises(LeappError) as caught:
        export(bench, act, torch.ones(3), strict_constants=True)
    assert caught.value.code == "LP413"
    export(bench, act, torch.ones(3), strict_constants=True, constants=["gains"])


@pytest.mark.parametrize(
    ("function", "example", "options", "code"),
    [
        (torch.relu, "text", {}, "LP002"),
        (torch.relu, torch.ones(2), {"passes": 0}, "LP003"),
        (torch.relu, [], {}, "LP003"),
        (torch.relu, torch.ones(2), {"states": {"h": torch.ones(2)}}, "LP002"),
        (nn.GRUCell(2, 2), {"input": torch.ones(2)}, {"states": {"h": torch.ones(2)}}, "LP002"),
        (nn.GRUCell(2, 2), torch.ones(2), {"states": ["hx"]}, "LP002"),
        (
            nn.GRUCell(2, 2),
            {"input": torch.ones(2), "hx": torch.ones(2)},
            {"states": {"hx": torch.ones(2)}},
            "LP003",
        ),
        (lambda x, y: x + y, torch.ones(2), {}, "LP002"),
        (lambda x: x, (torch.ones(2), torch.ones(2)), {}, "LP002"),
        (lambda x: x, {"y": torch.ones(2)}, {}, "LP002"),
        (3, torch.ones(2), {}, "LP002"),
        (torch.relu, torch.ones(2), {"passes": "3"}, "LP002"),
        (torch.relu, torch.ones(2), {"visualise": False}, "LP002"),
        (lambda x, h: x * 2, torch.ones(2), {"states": {"h": torch.ones(2)}}, "LP003"),
        (lambda x: None, torch.ones(2), {}, "LP113"),
        (torch.relu, torch.ones(2), {"export_with": "onyx"}, "LP119"),
    ],
)
def test_refusals(bench: Workbench, function: Any, example: Any, options: Any, code: str) -> None:
    with pytest.raises(LeappError) as caught:
        export(bench, function, example, **options)
    assert caught.value.code == code
    assert not leapp.ExportManager.is_interpret_graph_enabled()


@pytest.mark.parametrize(
    ("path", "code"), [(3, "LP002"), ("", "LP003"), (".", "LP003"), ("out/..", "LP003")]
)
def test_a_path_without_a_name(path: Any, code: str) -> None:
    with pytest.raises(LeappError) as caught:
        leapp.export(torch.relu, torch.ones(2), path)
    assert caught.value.code == code


def test_wrong_arguments_run_nothing_and_write_nothing(bench: Workbench) -> None:
    calls: list[Any] = []
    examples = [(torch.ones(2),), (torch.ones(2), torch.ones(2))]
    with pytest.raises(LeappError):
        export(bench, lambda x: calls.append(x), examples)
    assert not calls
    assert not bench.path("g").exists()


def test_callable_objects(bench: Workbench) -> None:
    class Scale:
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return x * 3

    for function in (functools.partial(torch.add, torch.ones(2)), Scale()):
        yaml = export(bench, function, torch.ones(2))
        (port,) = ports(bench, "g")
        (result,) = run(yaml, **{port: torch.ones(2)}).values()
        assert torch.equal(result, function(torch.ones(2)))


def test_a_session_that_is_active_stays(bench: Workbench) -> None:
    with bench.trace("other"):
        with pytest.raises(LeappError) as caught:
            export(bench, torch.relu, torch.ones(2))
        assert caught.value.code == "LP102"
        assert leapp.ExportManager.is_interpret_graph_enabled()


class TestTrace:
    def test_a_block_is_a_session(self, bench: Workbench) -> None:
        with leapp.trace("g", save_path=str(bench.folder), max_cached_io=2):
            x = leapp.annotate.input_tensors("n", {"x": torch.ones(2)})
            leapp.annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
        assert bench.compile() == {"n": True}

    def test_a_block_that_raises_leaves_nothing_to_compile(self, bench: Workbench) -> None:
        with pytest.raises(ZeroDivisionError), leapp.trace("g", save_path=str(bench.folder)):
            leapp.annotate.input_tensors("n", {"x": torch.ones(2)})
            raise ZeroDivisionError
        with pytest.raises(LeappError) as caught:
            bench.compile()
        assert caught.value.code == "LP101"

    def test_a_block_that_ends_inside_a_pass_leaves_no_session(self, bench: Workbench) -> None:
        with (
            pytest.raises(LeappError) as caught,
            leapp.trace("g", save_path=str(bench.folder)),
        ):
            leapp.annotate.input_tensors("n", {"x": torch.ones(2)})
        assert caught.value.code == "LP107"
        assert not leapp.ExportManager.is_interpret_graph_enabled()

    def test_the_block_may_stop_the_session(self, bench: Workbench) -> None:
        with leapp.trace("g", save_path=str(bench.folder)):
            x = leapp.annotate.input_tensors("n", {"x": torch.ones(2)})
            leapp.annotate.output_tensors("n", {"y": x * 2}, export_with="jit")
            leapp.stop()
        assert bench.compile() == {"n": True}
