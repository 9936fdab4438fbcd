"""Random draws inside a node as noise ports, which is the default of ``leapp.start()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from draw_kinds import COUNT, DRAWS, GENERATOR, REJECTING, SMALL
from noise_reference import draw

import leapp
from leapp import annotate

Tensor = torch.Tensor
FUNCTIONS = {
    **{name: function for name, (function, _, _) in DRAWS.items()},
    **{f"{name}_small": function for name, function in SMALL.items()},
    **REJECTING,
}


def export(
    bench: Workbench,
    function: Callable[[Tensor], Tensor],
    backend: str = "onnx",
    passes: int = 2,
    **options: Any,
) -> dict[str, bool]:
    """Trace a node that draws, and compile it."""
    with bench.trace(**options):
        for _ in range(passes):
            x = annotate.input_tensors("pi", {"x": torch.full((COUNT, 4), 0.25)})
            annotate.output_tensors("pi", {"y": function(x)}, export_with=backend)
    return bench.compile(golden=passes)


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_is_arithmetic_over_a_noise_port(bench: Workbench, name: str) -> None:
    function, mean, deviation = DRAWS[name]
    assert export(bench, function) == {"pi": True}
    assert not {each.code for each in leapp.diagnostics()} & {"LP202", "LP204", "LP902"}
    manager = bench.manager(array="numpy", noise_seed=1)
    assert manager.noise_inputs
    assert manager.verify().passed
    inputs = {name: np.full((COUNT, 4), 0.25, np.float32) for name in manager.inputs}
    values = [manager.run_policy(inputs)["pi/y"] for _ in range(2)]
    assert deviation == 0 or (values[0] != values[1]).any()
    assert np.mean(values) == pytest.approx(mean, abs=6 * deviation / COUNT**0.5)
    assert np.std(values) == pytest.approx(deviation, rel=0.1)


@pytest.mark.parametrize("noise", ["port", "frozen", "model"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_program_is_that_without_tracing(
    bench: Workbench, function: Callable[[Tensor], Tensor], noise: str
) -> None:
    def run() -> list[Tensor]:
        torch.manual_seed(7)
        GENERATOR.manual_seed(8)
        seen = []
        for _ in range(2):
            x = annotate.input_tensors("pi", {"x": torch.full((COUNT, 4), 0.25)})
            y = function(x) + (x.flatten()[0] - 0.25)  # an output must depend on an input
            annotate.output_tensors("pi", {"y": y}, export_with="onnx")
            seen += [y.clone(), torch.tensor(y.stride())]
        return [*seen, torch.get_rng_state(), GENERATOR.get_state()]

    plain = run()
    with bench.trace(noise=noise):
        traced = run()
    assert all(map(torch.equal, plain, traced))


@pytest.mark.parametrize("backend", ["jit", "cpp"])
@pytest.mark.parametrize("name", ["randn_like", "dropout", "multinomial", "gumbel"])
def test_every_backend_exports_it(bench: Workbench, name: str, backend: str) -> None:
    assert export(bench, DRAWS[name][0], backend) == {"pi": True}
    assert [each.code for each in leapp.diagnostics() if each.code == "LP902"] == []


@pytest.mark.parametrize("name", SMALL)
def test_a_draw_of_few_elements_is_a_port(bench: Workbench, name: str) -> None:
    assert export(bench, SMALL[name]) == {"pi": True}
    manager = bench.manager()
    assert manager.noise_inputs == ["pi/noise"]
    assert manager.verify().passed


@pytest.mark.parametrize("name", REJECTING)
def test_a_draw_that_rejects_samples_stays_in_the_model(bench: Workbench, name: str) -> None:
    export(bench, lambda x: REJECTING[name](x) + x, "jit")
    assert bench.manager().noise_inputs == []
    assert {each.code for each in leapp.diagnostics()} & {"LP203", "LP204"}
    assert bench.manager().verify().left_out


def test_integers_of_a_wide_range_are_refused(bench: Workbench) -> None:
    with refused("LP409"):
        export(bench, lambda x: x + torch.randint(1 << 40, (4,)))
    assert "LP204" in [each.code for each in leapp.diagnostics()]


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
    with bench.trace():
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
    verified = manager.verify()
    assert verified.passed
    assert not verified.left_out
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


def test_draws_can_stay_in_the_model(bench: Workbench) -> None:
    export(bench, torch.randn_like, "jit", noise="model")
    assert bench.manager().noise_inputs == []
    assert [each.code for each in leapp.diagnostics()] == ["LP203"]


@pytest.mark.parametrize("draw", [torch.randn, torch.randperm], ids=["randn", "randperm"])
def test_a_draw_that_is_seeded_in_every_pass_is_reported(
    bench: Workbench, draw: Callable[..., Tensor]
) -> None:
    def function(x: Tensor) -> Tensor:
        return x + draw(4, generator=torch.Generator().manual_seed(3))

    export(bench, function, passes=3)
    # The order of few elements may repeat by chance, so only real numbers are compared.
    expected = ["LP203"] if draw is torch.randn else []
    assert [each.code for each in leapp.diagnostics()] == expected


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
