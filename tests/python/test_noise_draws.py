"""Random draws inside a node as noise ports, ``leapp.start(noise="port")``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from noise_reference import draw
from torch.distributions import Categorical, Normal
from torch.nn import functional

import leapp
from leapp import annotate

Tensor = torch.Tensor
#: Elements of a draw: enough for its mean.
COUNT = 4000

#: Draws from x, which is 0.25 everywhere, of shape [COUNT, 4], with mean and standard deviation.
DRAWS: dict[str, tuple[Callable[[Tensor], Tensor], float, float]] = {
    "randn": (lambda x: torch.randn(COUNT, 4), 0, 1),
    "rand": (lambda x: torch.rand(x.shape), 0.5, 0.2887),
    "randn_like": (torch.randn_like, 0, 1),
    "rand_like": (torch.rand_like, 0.5, 0.2887),
    "randn_double": (lambda x: torch.randn_like(x, dtype=torch.float64).float(), 0, 1),
    "normal_number": (lambda x: torch.normal(2.0, 3.0, x.shape), 2, 3),
    "normal_mean": (lambda x: torch.normal(x, 3.0), 0.25, 3),
    "normal_std": (lambda x: torch.normal(2.0, x), 2, 0.25),
    "normal_both": (lambda x: torch.normal(2 * x, x), 0.5, 0.25),
    "normal_": (lambda x: torch.empty_like(x).normal_(1, 2), 1, 2),
    "uniform_": (lambda x: torch.empty_like(x).uniform_(-1, 3), 1, 1.1547),
    "exponential_": (lambda x: torch.empty_like(x).exponential_(2), 0.5, 0.5),
    "bernoulli": (torch.bernoulli, 0.25, 0.433),
    "bernoulli_p": (lambda x: torch.bernoulli(x, 0.4), 0.4, 0.4899),
    "bernoulli_": (lambda x: torch.empty_like(x).bernoulli_(0.4), 0.4, 0.4899),
    "dropout": (lambda x: functional.dropout(x, 0.2), 0.25, 0.125),
    "dropout2d": (
        lambda x: functional.dropout2d(x[None, :, :, None], 0.2)[0, :, :, 0],
        0.25,
        0.125,
    ),
    "sample": (lambda x: Normal(x, 2.0).sample(), 0.25, 2),
    "rsample": (lambda x: Normal(x, x).rsample(), 0.25, 0.25),
    "multinomial": (lambda x: torch.multinomial(x, 1).float(), 1.5, 1.118),
    "multinomial_two": (lambda x: torch.multinomial(x, 2).float(), 1.5, 1.118),
    "categorical": (lambda x: Categorical(probs=x).sample().float(), 1.5, 1.118),
    "gumbel": (lambda x: functional.gumbel_softmax(x, hard=True), 0.25, 0.433),
}


def export(
    bench: Workbench,
    function: Callable[[Tensor], Tensor],
    backend: str = "onnx",
    passes: int = 2,
    **options: Any,
) -> dict[str, bool]:
    """Trace a node that draws, and compile it."""
    with bench.trace(**{"noise": "port", **options}):
        for _ in range(passes):
            x = annotate.input_tensors("pi", {"x": torch.full((COUNT, 4), 0.25)})
            annotate.output_tensors("pi", {"y": function(x)}, export_with=backend)
    return bench.compile(golden=passes)


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_is_arithmetic_over_a_noise_port(bench: Workbench, name: str) -> None:
    function, mean, deviation = DRAWS[name]
    assert export(bench, function) == {"pi": True}
    manager = bench.manager(array="numpy", noise_seed=1)
    assert manager.noise_inputs == ["pi/noise"]
    assert manager.verify().passed
    inputs = {name: np.full((COUNT, 4), 0.25, np.float32) for name in manager.inputs}
    values = [manager.run_policy(inputs)["pi/y"] for _ in range(2)]
    assert (values[0] != values[1]).any()
    assert np.mean(values) == pytest.approx(mean, abs=6 * deviation / COUNT**0.5)
    assert np.std(values) == pytest.approx(deviation, rel=0.1)


@pytest.mark.parametrize("backend", ["jit", "cpp"])
@pytest.mark.parametrize("name", ["randn_like", "dropout", "multinomial", "gumbel"])
def test_every_backend_exports_it(bench: Workbench, name: str, backend: str) -> None:
    assert export(bench, DRAWS[name][0], backend) == {"pi": True}
    assert [each.code for each in leapp.diagnostics() if each.code == "LP902"] == []


def test_draws_are_ports_in_their_order(bench: Workbench) -> None:
    export(bench, lambda x: x + torch.randn(4) + torch.rand(COUNT, 1))
    inputs = bench.yaml()["models"]["pi"]["inputs"]
    assert [(port["name"], port.get("noise")) for port in inputs] == [
        ("x", None),
        ("noise", {"distribution": "normal"}),
        ("noise_2", {"distribution": "uniform"}),
    ]


def test_an_unused_draw_is_no_port(bench: Workbench) -> None:
    def function(x: Tensor) -> Tensor:
        torch.randn(3)
        return x + 1

    export(bench, function)
    assert bench.manager().noise_inputs == []
    assert [each.code for each in leapp.diagnostics()] == []


def test_noise_can_be_state(bench: Workbench) -> None:
    class Walk:
        state = torch.zeros(4)

        def __call__(self, x: Tensor) -> Tensor:
            self.state = 0.9 * self.state + torch.randn(4)
            return x + self.state

    assert export(bench, Walk(), passes=4) == {"pi": True}
    manager = bench.manager()
    assert manager.noise_inputs == ["pi/noise"]
    assert manager.verify().passed


def test_each_denoising_step_draws_its_own_noise(bench: Workbench) -> None:
    with bench.trace(noise="port"):
        for _ in range(3):
            x = annotate.input_tensors("start", {"o": torch.randn(1, 4)})
            x = annotate.output_tensors("start", {"x": 2 * x}, export_with="onnx")
            for _ in range(3):
                x = annotate.input_tensors("denoise", {"x": x})
                x = 0.5 * x + torch.randn(1, 4)
                x = annotate.output_tensors("denoise", {"y": x}, export_with="onnx")
            x = annotate.input_tensors("act", {"x": x})
            annotate.output_tensors("act", {"a": x.tanh()}, export_with="onnx")
    assert bench.compile(golden=2) == {"start": True, "denoise": True, "act": True}
    manager = bench.manager(array="numpy", noise_seed=3)
    assert set(manager.verify().left_out) == {"denoise", "the pipeline"}
    for tick in range(2):
        x = np.ones((1, 4), np.float32)
        action = manager.run_policy({"start/o": x})["act/a"]
        x = 2 * x
        for run in range(3):
            x = 0.5 * x + np.array(draw("normal", 3, 0, 3 * tick + run, 4), np.float32)
        np.testing.assert_allclose(action, np.tanh(x), rtol=1e-5, atol=1e-6)


def test_a_draw_in_the_first_pass_alone_becomes_state(bench: Workbench) -> None:
    class Once:
        offset: Tensor | None = None

        def __call__(self, x: Tensor) -> Tensor:
            if self.offset is None:
                self.offset = torch.randn(4)
            return x + self.offset

    assert export(bench, Once(), passes=3) == {"pi": True}
    manager = bench.manager(noise_seed=4)
    assert manager.verify().passed
    x = {"pi/x": torch.zeros(COUNT, 4)}
    offset = torch.tensor(draw("normal", 4, 0, 0, 4)).expand(COUNT, 4)
    assert all(torch.equal(manager.run_policy(x)["pi/y"], offset) for _ in range(2))


def test_dropout_that_is_left_on_is_reported(bench: Workbench) -> None:
    export(bench, torch.nn.Dropout(0.5))
    assert [each.code for each in leapp.diagnostics()] == ["LP203"]


@pytest.mark.parametrize("noise", ["zero", "frozen"])
def test_noise_can_be_a_constant(bench: Workbench, noise: str) -> None:
    seen: list[Tensor] = []

    def function(x: Tensor) -> Tensor:
        seen.append(torch.randn(4))
        return x + seen[-1]

    assert export(bench, function, passes=1, noise=noise) == {"pi": True}
    manager = bench.manager()
    assert manager.noise_inputs == []
    y = manager.run_policy({"pi/x": torch.zeros(COUNT, 4)})["pi/y"]
    assert torch.equal(y, seen[0].expand(COUNT, 4))
    assert bool(seen[0].any()) == (noise == "frozen")
    assert [each.code for each in leapp.diagnostics()] == []


def test_by_default_draws_stay_in_the_model(bench: Workbench) -> None:
    export(bench, torch.randn_like, "jit", noise="model")
    assert bench.manager().noise_inputs == []
    assert [each.code for each in leapp.diagnostics()] == ["LP203"]


def test_another_form_is_refused(bench: Workbench) -> None:
    with refused("LP003", "noise"), bench.trace(noise="ports"):
        pass


def test_a_shadow_run_does_not_compare_a_node_that_draws(bench: Workbench) -> None:
    export(bench, torch.randn_like)
    with leapp.shadow(str(bench.path("g", "g.yaml"))) as run:
        x = annotate.input_tensors("pi", {"x": torch.zeros(COUNT, 4)})
        annotate.output_tensors("pi", {"y": torch.randn_like(x)}, export_with="onnx")
    node = run.report().nodes["pi"]
    assert "noise" in node.not_compared
    assert node.first is None
