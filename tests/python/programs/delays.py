"""Values that reach a node some ticks after they were computed."""

from __future__ import annotations

import torch

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


@program()
class DelayedWire(Policy):
    """A value that reaches the next node through clone, detach and a buffer."""

    def build(self) -> None:
        self.slot = torch.zeros(1, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"sensor/raw": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        raw = annotate.input_tensors("sensor", {"raw": inputs["sensor/raw"]})
        clean = annotate.output_tensors(
            "sensor", {"clean": torch.tanh(raw)}, export_with=self.backend
        )
        self.slot[:] = clean.detach().clone()
        x = annotate.input_tensors("policy", {"x": self.slot})
        y = annotate.output_tensors("policy", {"y": x.cumsum(-1)}, export_with=self.backend)
        return {"policy/y": y}


@program(traced=4)
class LastTwoActions(Policy):
    """Smoothing terms as declared inputs: the last action and the one before it."""

    clones = False

    def build(self) -> None:
        self.policy = actor(4 + 2 + 2, 2)
        self.last, self.older = torch.zeros(1, 2), torch.full((1, 2), 0.5)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs, last, older = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "last": self.last, "older": self.older}
        )
        action = annotate.output_tensors(
            "policy",
            {"action": torch.tanh(self.policy(torch.cat([obs, last, older], -1)))},
            export_with=self.backend,
        )
        self.older = self.last.clone() if self.clones else self.last
        self.last = action.detach()
        return {"policy/action": action}


@program(traced=4)
class LastTwoActionsCopied(LastTwoActions):
    """The same with copies."""

    clones = True


@program(traced=5)
class ActionHistory(Policy):
    """A list of the last four actions as one nested input, shifted in place."""

    def build(self) -> None:
        self.policy = actor(4 + 4 * 2, 2)
        self.history = [torch.zeros(1, 2) for _ in range(4)]

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        obs, history = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "history": self.history}
        )
        action = annotate.output_tensors(
            "policy",
            {"action": torch.tanh(self.policy(torch.cat([obs, *history], -1)))},
            export_with=self.backend,
        )
        for older, newer in zip(self.history[:0:-1], self.history[-2::-1], strict=True):
            older[:] = newer
        self.history[0][:] = action.detach()
        return {"policy/action": action}


@program(traced=4)
class LateSensor(Policy):
    """The filter runs first, but the policy reads its outputs of one and two ticks ago."""

    def build(self) -> None:
        self.filter, self.policy = actor(5, 3), actor(3 + 3 + 3, 2)
        self.late = [torch.zeros(1, 3), torch.ones(1, 3)]

    def sense(self, rng: torch.Generator) -> Ports:
        return {"filter/raw": normal(rng, 1, 5)}

    def step(self, inputs: Ports) -> Ports:
        raw = annotate.input_tensors("filter", {"raw": inputs["filter/raw"]})
        seen = annotate.output_tensors(
            "filter", {"seen": self.filter(raw)}, export_with=self.backend
        )
        now, before, earlier = annotate.input_tensors(
            "policy", {"now": seen, "before": self.late[0], "earlier": self.late[1]}
        )
        action = annotate.output_tensors(
            "policy",
            {"action": self.policy(torch.cat([now, before, earlier], -1))},
            export_with=self.backend,
        )
        self.late = [seen, self.late[0]]
        return {"policy/action": action}
