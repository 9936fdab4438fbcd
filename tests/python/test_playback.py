"""Policies that compute a chunk of actions and output one of them per tick."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused
from torch import Tensor, nn

import leapp
from leapp import annotate


class Queue(nn.Module):
    """Refills a queue when it is empty, as LeRobot's ``select_action`` does."""

    def __init__(self, length: int = 4) -> None:
        super().__init__()
        self.net = nn.Linear(6, length * 3)
        self.length = length
        self.queue: deque[Tensor] = deque(maxlen=length)

    def reset(self) -> None:
        self.queue.clear()

    def chunk(self, obs: Tensor) -> Tensor:
        return self.net(obs).view(-1, self.length, 3)

    def act(self, obs: Tensor) -> Tensor:
        if len(self.queue) == 0:
            self.queue.extend(self.chunk(obs).transpose(0, 1))
        return self.queue.popleft()


class Part(Queue):
    """Plays only the first elements of a longer chunk."""

    def chunk(self, obs: Tensor) -> Tensor:
        return super().chunk(obs)[:, :3]


class Index(Queue):
    """Keeps the chunk and counts."""

    def reset(self) -> None:
        self.i = 0

    def act(self, obs: Tensor) -> Tensor:
        if self.i % self.length == 0:
            self.kept = self.chunk(obs)
        self.i += 1
        return self.kept[:, (self.i - 1) % self.length]


class Scaled(Queue):
    """Scales each action when it is taken from the queue."""

    def act(self, obs: Tensor) -> Tensor:
        return torch.tanh(super().act(obs)) * 2 + 0.1


class Hold(Index):
    """Repeats an action."""

    def act(self, obs: Tensor) -> Tensor:
        if self.i % self.length == 0:
            self.kept = self.net(obs)[:, :3]
        self.i += 1
        return self.kept


class Recurrent(Queue):
    """Has a state from chunk to chunk."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(6, 6)

    def reset(self) -> None:
        super().reset()
        self.hidden = torch.zeros(1, 6)

    def chunk(self, obs: Tensor) -> Tensor:
        self.hidden = self.cell(obs, self.hidden)
        return super().chunk(self.hidden)


class Noisy(Queue):
    """Computes each chunk from noise, as a flow policy does."""

    def chunk(self, obs: Tensor) -> Tensor:
        x = torch.randn(1, self.length, 3)
        for _ in range(3):
            x = x + 0.3 * torch.tanh(super().chunk(obs) - x)
        return x


class Long(Queue):
    """A chunk as long as ACT's."""

    def __init__(self) -> None:
        super().__init__(100)


class Irregular(Queue):
    """Also computes again at odd times."""

    def reset(self) -> None:
        super().reset()
        self.calls = 0

    def act(self, obs: Tensor) -> Tensor:
        self.calls += 1
        if self.calls in (7, 20):
            self.queue.clear()
        return super().act(obs)


class Delay(Queue):
    """Outputs the result of the tick before."""

    def reset(self) -> None:
        self.previous = torch.zeros(1, 3)

    def act(self, obs: Tensor) -> Tensor:
        result, self.previous = self.previous, obs[:, :3] * 2
        return result


def tick(policy: Queue, obs: Tensor, backend: str = "onnx") -> Tensor:
    obs = annotate.input_tensors("policy", {"obs": obs})
    action = policy.act(obs)
    annotate.output_tensors("policy", {"action": action}, export_with=backend)
    return action


def observations(seed: int, count: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(1, 6, generator=generator) for _ in range(count)]


@torch.no_grad()
def export(
    bench: Workbench, policy: Queue, ticks: int = 13, backend: str = "onnx", **options: Any
) -> None:
    policy.reset()
    with bench.trace(**options):
        for obs in observations(1, ticks):
            tick(policy, obs, backend)
    bench.compile(golden=ticks - 4)


@torch.no_grad()
def compare(bench: Workbench, policy: Queue, ticks: int = 22) -> None:
    """Run the bundle next to the policy in two episodes."""
    manager = bench.manager(array="numpy")
    for seed in (2, 3):
        policy.reset()
        manager.reset()
        for obs in observations(seed, ticks):
            found = manager.run_policy({"policy/obs": obs.numpy()})["policy_playback/action"]
            np.testing.assert_allclose(found, policy.act(obs).numpy(), rtol=1e-4, atol=1e-6)
    assert manager.verify().passed


@pytest.mark.parametrize("backend", ["onnx", "jit"])
@pytest.mark.parametrize("kind", [Queue, Part, Index, Scaled, Hold, Recurrent])
def test_plays_like_the_policy(bench: Workbench, kind: type[Queue], backend: str) -> None:
    torch.manual_seed(0)
    policy = kind().eval()
    export(bench, policy, backend=backend)
    compare(bench, policy)


def test_long_chunks(bench: Workbench) -> None:
    policy = Long()
    export(bench, policy, ticks=205)
    schedule = bench.yaml()["pipeline"]["schedule"]
    assert schedule["policy"] == {"every": 100}
    compare(bench, policy, ticks=230)


def test_a_chunk_computed_from_noise(bench: Workbench) -> None:
    export(bench, Noisy())
    manager = bench.manager(array="numpy")
    assert manager.inputs == ["policy/obs"]
    assert manager.noise_inputs == ["policy/noise"]
    assert manager.verify().passed
    obs = np.zeros((1, 6), np.float32)
    actions = [manager.run_policy({"policy/obs": obs})["policy_playback/action"] for _ in range(8)]
    assert not np.array_equal(actions[0], actions[4])  # each chunk has noise of its own


def test_the_network_runs_once_per_chunk(bench: Workbench) -> None:
    export(bench, Queue())
    assert bench.yaml()["pipeline"]["schedule"] == {
        "policy": {"every": 4},
        "policy_playback": {"age": {"age": "policy"}},
    }
    assert bench.yaml()["pipeline"]["inputs"] == {"policy": ["obs"]}
    assert bench.yaml()["pipeline"]["outputs"] == {"policy_playback": ["action"]}


def test_one_chunk_is_too_little(bench: Workbench) -> None:
    with refused("LP309", 'schedule={"policy": {"every": 100}}'):
        export(bench, Long(), ticks=150)


def test_a_stated_period_needs_one_chunk(bench: Workbench) -> None:
    policy = Long()
    export(bench, policy, ticks=150, schedule={"policy": {"every": 100}})
    compare(bench, policy, ticks=130)


def test_an_annotation_states_the_period(bench: Workbench) -> None:
    policy = Queue()

    @annotate.method(node_name="policy", export_with="onnx", schedule={"every": 4})
    def act(obs: Tensor) -> Tensor:
        action = policy.act(obs)
        return action

    with bench.trace(), torch.no_grad():
        for obs in observations(1, 6):
            act(obs)
    bench.compile(golden=3)
    compare(bench, policy)


def test_two_statements(bench: Workbench) -> None:
    policy = Queue()
    with refused("LP003"), bench.trace(schedule={"policy": {"every": 4}}), torch.no_grad():
        for obs in observations(1, 6):
            obs = annotate.input_tensors("policy", {"obs": obs})
            entry = {"every": 4}
            annotate.output_tensors("policy", {"action": policy.act(obs)}, schedule=entry)
        leapp.stop()
        bench.compile()


def test_a_stated_period_that_is_longer_than_the_chunk(bench: Workbench) -> None:
    with refused("LP309"):
        export(bench, Queue(), schedule={"policy": {"every": 5}})


def test_irregular_chunks(bench: Workbench) -> None:
    with refused("LP309"):
        export(bench, Irregular(), ticks=30)


def test_a_delay_is_state(bench: Workbench) -> None:
    policy = Delay()
    export(bench, policy)
    assert "schedule" not in bench.yaml()["pipeline"]
    manager = bench.manager(array="numpy")
    obs = observations(2, 3)
    found = [manager.run_policy({"policy/obs": each.numpy()})["policy/action"] for each in obs]
    np.testing.assert_array_equal(found[2], obs[1].numpy()[:, :3] * 2)


def test_shadow_run(bench: Workbench, tmp_path: Path) -> None:
    policy = Queue()
    export(bench, policy)
    policy.reset()
    with leapp.shadow(bench.path("g", "g.yaml")) as shadow, torch.no_grad():
        for obs in observations(4, 11):
            tick(policy, obs)
        policy.reset()
        shadow.reset()
        for obs in observations(5, 10):
            tick(policy, obs)
    report = shadow.report()
    assert report.passed
    assert report.nodes["policy"].ticks == 6
    assert report.nodes["policy_playback"].ticks == 21
