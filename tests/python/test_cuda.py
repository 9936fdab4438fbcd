"""Programs on a CUDA device: traced there, run there or on the CPU, without copies to the host."""

from __future__ import annotations

import pytest
import torch
from conftest import Workbench
from torch import nn

from leapp import annotate

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.head = nn.Linear(8, 2)
        self.hidden = nn.Buffer(torch.zeros(3, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.hidden = self.cell(x, self.hidden)
        action: torch.Tensor = self.head(self.hidden).tanh()
        return action


def _step(model: _Recurrent, obs: torch.Tensor, backend: str = "jit") -> torch.Tensor:
    x = annotate.input_tensors("observe", {"obs": obs})
    scale = torch.tensor([1.0, 2.0, 3.0, 4.0], device=obs.device)
    y = annotate.output_tensors("observe", {"y": x * scale}, export_with=backend)
    z = annotate.input_tensors("policy", {"z": y})
    annotate.module("policy", model)
    action: torch.Tensor = annotate.output_tensors(
        "policy", {"action": model(z)}, export_with=backend
    )
    return action


@torch.no_grad()
def _export(bench: Workbench, traced_on: str) -> _Recurrent:
    """Trace two ticks there; return an equal policy that has not run, on the same device."""
    torch.manual_seed(1)
    model = _Recurrent().to(traced_on)
    torch.manual_seed(1)
    plain = _Recurrent().to(traced_on)
    with bench.trace():
        for _ in range(2):
            _step(model, torch.randn(3, 4, device=traced_on))
    bench.compile()
    return plain


@pytest.mark.parametrize("traced_on", ["cpu", "cuda"])
@pytest.mark.parametrize("run_on", ["cpu", "cuda"])
@pytest.mark.parametrize("merge", [True, False])
@torch.no_grad()
def test_bundle_runs_on_either_device(
    bench: Workbench, traced_on: str, run_on: str, merge: bool
) -> None:
    plain = _export(bench, traced_on)
    manager = bench.manager(provider=run_on, merge=merge)
    manager.prepare()
    assert manager.device == ("cuda:0" if run_on == "cuda" else "cpu")
    for _ in range(20):
        obs = torch.randn(3, 4)
        expected = _step(plain, obs.to(traced_on))
        action = manager.run_policy({"observe/obs": obs.to(run_on)})["policy/action"]
        assert action.device.type == run_on
        torch.testing.assert_close(action.cpu(), expected.cpu(), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_state_goes_back_and_forth(bench: Workbench) -> None:
    _export(bench, "cuda")
    manager = bench.manager(provider="cuda")
    obs = torch.randn(3, 4, device="cuda")
    first = manager.run_policy({"observe/obs": obs})["policy/action"].clone()
    before = manager.state()
    second = manager.run_policy({"observe/obs": obs})["policy/action"].clone()
    assert not torch.equal(first, second)
    manager.set_state(before)
    torch.testing.assert_close(
        manager.run_policy({"observe/obs": obs})["policy/action"], second, rtol=0, atol=0
    )
    manager.reset()
    torch.testing.assert_close(
        manager.run_policy({"observe/obs": obs})["policy/action"], first, rtol=0, atol=0
    )


@torch.no_grad()
def test_wires_survive_the_way_between_devices(bench: Workbench) -> None:
    with bench.trace():
        x = annotate.input_tensors("camera", {"image": torch.randn(2, 3, device="cuda")})
        y = annotate.output_tensors("camera", {"features": x.relu()}, export_with="jit")
        z = annotate.input_tensors("policy", {"features": y.cpu()})
        annotate.output_tensors("policy", {"action": z * 2}, export_with="jit")
    bench.compile()
    assert bench.yaml()["pipeline"]["data_flow"] == {"camera/features": ["policy/features"]}
    manager = bench.manager()
    image = torch.randn(2, 3)
    torch.testing.assert_close(
        manager.run_policy({"camera/image": image})["policy/action"], image.relu() * 2
    )


@torch.no_grad()
def test_eager_results_are_untouched(bench: Workbench) -> None:
    model = nn.Sequential(nn.Linear(8, 32), nn.ELU(), nn.Linear(32, 4)).cuda()
    x = torch.randn(16, 8, device="cuda")
    expected = model(x)
    with bench.trace():
        y = model(annotate.input_tensors("n", {"x": x}))
        annotate.output_tensors("n", {"y": y}, export_with="jit")
    assert torch.equal(y, expected)


@pytest.mark.parametrize("backend", ["jit", "onnx"])
@torch.no_grad()
def test_a_first_tick_of_its_own_kind(bench: Workbench, backend: str) -> None:
    net = nn.Linear(3, 2).cuda()

    class Filter:
        smooth: torch.Tensor | None = None

        def step(self, x: torch.Tensor) -> torch.Tensor:
            self.smooth = x if self.smooth is None else 0.5 * self.smooth + x
            y: torch.Tensor = net(self.smooth)
            return y

    traced, plain = Filter(), Filter()
    with bench.trace():
        for _ in range(3):
            x = annotate.input_tensors("n", {"x": torch.rand(1, 3, device="cuda")})
            annotate.output_tensors("n", {"y": traced.step(x)}, export_with=backend)
    bench.compile()
    manager = bench.manager()
    for _ in range(4):
        x = torch.randn(1, 3)
        found = torch.as_tensor(manager.run_policy({"n/x": x})["n/y"])
        torch.testing.assert_close(found.cpu(), plain.step(x.cuda()).cpu(), rtol=1e-4, atol=1e-5)
