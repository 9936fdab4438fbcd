"""Observations and low-level control of legged robots."""

from __future__ import annotations

import torch
from torch import nn

from leapp import InputKindEnum, OutputKindEnum, TensorSemantics, annotate

from . import Policy, Ports, normal, program
from .helpers import actor, clip_observations, project_gravity


@program()
class ObservationStack(Policy):
    """Scaled and concatenated observations, an MLP, a clipped action."""

    def build(self) -> None:
        self.net = actor(3 + 3 + 3 + 12 + 12, 12)
        self.default = torch.linspace(-0.3, 0.3, 12)

    def sense(self, rng: torch.Generator) -> Ports:
        sizes = {"ang_vel": 3, "gravity": 3, "command": 3, "q": 12, "dq": 12}
        return {f"policy/{name}": normal(rng, 1, n) for name, n in sizes.items()}

    def step(self, inputs: Ports) -> Ports:
        ang_vel, gravity, command, q, dq = annotate.input_tensors(
            "policy", {key.split("/")[1]: value for key, value in inputs.items()}
        )
        scale = torch.tensor([2.0, 2.0, 0.25])
        obs = torch.cat(
            [ang_vel * 0.25, gravity, command * scale, q - self.default, dq * 0.05], dim=-1
        )
        action = self.net(clip_observations(obs, 5.0)).clamp(-1.0, 1.0)
        target = self.default + 0.25 * action
        action, target = annotate.output_tensors(
            "policy", {"action": action, "target": target}, export_with=self.backend
        )
        return {"policy/action": action, "policy/target": target}


@program()
class LastActionFeedback(Policy):
    """The most common policy: its own last action is an observation."""

    def build(self) -> None:
        self.net = actor(10 + 4, 4)
        self.last = torch.zeros(1, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 10)}

    def step(self, inputs: Ports) -> Ports:
        obs, last = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "last_action": self.last}
        )
        action = torch.tanh(self.net(torch.cat([obs, last], -1)))
        self.last = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": self.last}


@program()
class TwoActionsBack(Policy):
    """The last action and the one before it."""

    def build(self) -> None:
        self.net = actor(6 + 8, 4)
        self.last, self.before = torch.zeros(1, 4), torch.zeros(1, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 6)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("policy", {"obs": inputs["policy/obs"]})
        last, before = annotate.state_tensors("policy", {"last": self.last, "before": self.before})
        action = torch.tanh(self.net(torch.cat([obs, last, before], -1)))
        self.last, self.before = annotate.update_state("policy", {"last": action, "before": last})
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}


@program()
class GravityProjection(Policy):
    """Projected gravity from a quaternion, through a helper in another file."""

    def build(self) -> None:
        self.net = actor(3 + 8, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        quaternion = torch.nn.functional.normalize(normal(rng, 1, 4), dim=-1)
        return {"policy/quat": quaternion, "policy/joints": normal(rng, 1, 8)}

    def step(self, inputs: Ports) -> Ports:
        quat, joints = annotate.input_tensors(
            "policy", {"quat": inputs["policy/quat"], "joints": inputs["policy/joints"]}
        )
        obs = torch.cat([project_gravity(quat), joints], -1)
        action = annotate.output_tensors(
            "policy", {"action": self.net(obs)}, export_with=self.backend
        )
        return {"policy/action": action}


@program()
class LegLoop(Policy):
    """A loop over legs fills slices of a fresh tensor."""

    def build(self) -> None:
        self.gains = nn.Parameter(torch.rand(4, 3) + 0.5)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"legs/q": normal(rng, 1, 12), "legs/target": normal(rng, 1, 12)}

    def step(self, inputs: Ports) -> Ports:
        q, target = annotate.input_tensors(
            "legs", {"q": inputs["legs/q"], "target": inputs["legs/target"]}
        )
        torque = torch.zeros(1, 12)
        for leg in range(4):
            part = slice(3 * leg, 3 * leg + 3)
            torque[:, part] = self.gains[leg] * (target[:, part] - q[:, part])
            torque[:, part.start] *= -1.0 if leg % 2 else 1.0
        torque.clamp_(-2.0, 2.0)
        torque = annotate.output_tensors("legs", {"torque": torque}, export_with=self.backend)
        return {"legs/torque": torque}


@program()
class ReorderJoints(Policy):
    """Simulator order to robot order and back by index tensors."""

    def build(self) -> None:
        self.order = torch.randperm(12)
        self.back = torch.argsort(self.order)
        self.net = actor(12, 12)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/q": normal(rng, 1, 12)}

    def step(self, inputs: Ports) -> Ports:
        q = annotate.input_tensors("policy", {"q": inputs["policy/q"]})
        action = self.net(q[:, self.order])[:, self.back]
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}


@program()
class PdController(Policy):
    """Two nodes: a policy and a PD law with gains as static outputs and semantics."""

    def build(self) -> None:
        self.net = actor(12, 6)
        self.kp, self.kd = torch.full((6,), 20.0), torch.full((6,), 0.5)

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "policy/obs": normal(rng, 1, 12),
            "pd/q": normal(rng, 1, 6),
            "pd/dq": normal(rng, 1, 6),
        }

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors(
            "policy",
            TensorSemantics(
                name="obs", ref=inputs["policy/obs"], kind=InputKindEnum.JOINT_POSITION
            ),
        )
        target = annotate.output_tensors(
            "policy",
            [TensorSemantics(name="target", ref=self.net(obs), kind=OutputKindEnum.JOINT_POSITION)],
            static_outputs=[
                TensorSemantics(name="kp", ref=self.kp, kind=OutputKindEnum.KP),
                TensorSemantics(name="kd", ref=self.kd, kind=OutputKindEnum.KD),
            ],
            export_with=self.backend,
        )
        want, q, dq = annotate.input_tensors(
            "pd", {"want": target, "q": inputs["pd/q"], "dq": inputs["pd/dq"]}
        )
        torque = annotate.output_tensors(
            "pd", {"torque": self.kp * (want - q) - self.kd * dq}, export_with=self.backend
        )
        return {"pd/torque": torque, "policy/kp": self.kp, "policy/kd": self.kd}


@program()
class LowPassFilter(Policy):
    """An exponential filter whose state is declared."""

    def build(self) -> None:
        self.filtered = torch.zeros(1, 6)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"filter/raw": normal(rng, 1, 6)}

    def step(self, inputs: Ports) -> Ports:
        raw = annotate.input_tensors("filter", {"raw": inputs["filter/raw"]})
        state = annotate.state_tensors("filter", {"state": self.filtered})
        self.filtered = annotate.update_state("filter", {"state": torch.lerp(state, raw, 0.2)})
        smooth = annotate.output_tensors(
            "filter", {"smooth": self.filtered * 1.0}, export_with=self.backend
        )
        return {"filter/smooth": smooth}


@program()
class GaitPhase(Policy):
    """A clock as state: its phase advances with the commanded frequency."""

    def build(self) -> None:
        self.phase = torch.zeros(1, 1)
        self.offsets = torch.tensor([[0.0, 0.5, 0.5, 0.0]])

    def sense(self, rng: torch.Generator) -> Ports:
        return {"gait/frequency": torch.rand(1, 1, generator=rng) * 3}

    def step(self, inputs: Ports) -> Ports:
        frequency = annotate.input_tensors("gait", {"frequency": inputs["gait/frequency"]})
        phase = annotate.state_tensors("gait", {"phase": self.phase})
        phase = torch.remainder(phase + 0.02 * frequency, 1.0)
        self.phase = annotate.update_state("gait", {"phase": phase})
        legs = torch.frac(phase + self.offsets)
        clock = torch.cat([torch.sin(2 * torch.pi * legs), torch.cos(2 * torch.pi * legs)], -1)
        stance = (legs < 0.6).float()
        clock, stance = annotate.output_tensors(
            "gait", {"clock": clock, "stance": stance}, export_with=self.backend
        )
        return {"gait/clock": clock, "gait/stance": stance}


@program()
class HeightScan(Policy):
    """A grid of heights: clamped, centred, pooled and flattened next to proprioception."""

    def build(self) -> None:
        self.net = actor(24 + 10, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/scan": normal(rng, 1, 8, 12), "policy/proprio": normal(rng, 1, 10)}

    def step(self, inputs: Ports) -> Ports:
        scan, proprio = annotate.input_tensors(
            "policy", {"scan": inputs["policy/scan"], "proprio": inputs["policy/proprio"]}
        )
        scan = (scan - scan.mean(dim=(1, 2), keepdim=True) - 0.5).clamp(-1, 1)
        pooled = scan.reshape(1, 4, 2, 6, 2).amax(dim=(2, 4)).flatten(1)
        action = self.net(torch.cat([pooled, proprio], -1))
        action = annotate.output_tensors("policy", {"action": action}, export_with=self.backend)
        return {"policy/action": action}


@program()
class SafetyGate(Policy):
    """torch.where switches to a damping command when the base tilts."""

    def build(self) -> None:
        self.net = actor(10, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/obs": normal(rng, 1, 10), "policy/tilt": normal(rng, 1, 1)}

    def step(self, inputs: Ports) -> Ports:
        obs, tilt = annotate.input_tensors(
            "policy", {"obs": inputs["policy/obs"], "tilt": inputs["policy/tilt"]}
        )
        action = self.net(obs)
        safe = torch.where(tilt.abs() > 0.8, -0.1 * action, action)
        safe = annotate.output_tensors(
            "policy",
            {"action": safe, "tripped": (tilt.abs() > 0.8).any()},
            export_with=self.backend,
        )
        return {"policy/action": safe[0], "policy/tripped": safe[1]}


@program()
class RateLimiter(Policy):
    """The command may change only by a limited amount per tick."""

    def build(self) -> None:
        self.previous = torch.zeros(1, 5)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"limit/wish": normal(rng, 1, 5, scale=3.0)}

    def step(self, inputs: Ports) -> Ports:
        wish, previous = annotate.input_tensors(
            "limit", {"wish": inputs["limit/wish"], "previous": self.previous}
        )
        command = previous + torch.clamp(wish - previous, -0.3, 0.3)
        self.previous = annotate.output_tensors(
            "limit", {"command": command}, export_with=self.backend
        )
        return {"limit/command": self.previous}
