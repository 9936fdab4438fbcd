"""Several nodes: wires, fan-out, feedback across nodes, distributed inputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from leapp import annotate

from . import Policy, Ports, normal, program
from .helpers import actor


@program()
class DocumentsFeedback(Policy):
    """The documents' feedback example with a changing observation."""

    def build(self) -> None:
        self.memory = torch.tensor([0.0])

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy_step/observation_scalar": normal(rng, 1)}

    def step(self, inputs: Ports) -> Ports:
        data, back = annotate.input_tensors(
            "policy_step",
            {
                "observation_scalar": inputs["policy_step/observation_scalar"],
                "policy_memory_in": self.memory,
            },
        )
        context = torch.tanh(data - 0.5 + 0.25 * back)
        action = torch.clamp(context * 2.0, min=-1.0, max=1.0)
        context, action = annotate.output_tensors(
            "policy_step",
            {"policy_context": context, "control_action": action},
            export_with=self.backend,
        )
        hidden, previous = annotate.input_tensors(
            "feedback_update", {"policy_context": context, "policy_memory_prev": self.memory}
        )
        self.memory = annotate.output_tensors(
            "feedback_update",
            {"policy_memory_out": 0.8 * previous + 0.2 * hidden},
            export_with=self.backend,
        )
        return {
            "policy_step/control_action": action,
            "feedback_update/policy_memory_out": self.memory,
        }


@program()
class FourStages(Policy):
    """Normalise, encode, act, limit; the last action is fed back to the encoder."""

    def build(self) -> None:
        self.encoder, self.policy = actor(10 + 3, 8), actor(8, 3)
        self.mean, self.std = torch.randn(10), torch.rand(10) + 0.5
        self.last = torch.zeros(1, 3)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"normalise/obs": normal(rng, 1, 10)}

    def step(self, inputs: Ports) -> Ports:
        obs = annotate.input_tensors("normalise", {"obs": inputs["normalise/obs"]})
        x = annotate.output_tensors(
            "normalise", {"x": (obs - self.mean) / self.std}, export_with=self.backend
        )
        x, last = annotate.input_tensors("encoder", {"x": x, "last": self.last})
        z = annotate.output_tensors(
            "encoder", {"z": self.encoder(torch.cat([x, last], -1))}, export_with=self.backend
        )
        z = annotate.input_tensors("policy", {"z": z})
        raw = annotate.output_tensors("policy", {"raw": self.policy(z)}, export_with=self.backend)
        raw = annotate.input_tensors("limit", {"raw": raw})
        self.last = annotate.output_tensors(
            "limit", {"action": raw.clamp(-0.5, 0.5)}, export_with=self.backend
        )
        return {"limit/action": self.last}


@program()
class FanOut(Policy):
    """One encoder, three heads, one of which feeds back."""

    def build(self) -> None:
        self.encoder = actor(6 + 2, 8)
        self.heads = {name: nn.Linear(8, 2) for name in ("arm", "leg", "memory")}
        self.memory = torch.zeros(1, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"encoder/obs": normal(rng, 1, 6)}

    def step(self, inputs: Ports) -> Ports:
        obs, memory = annotate.input_tensors(
            "encoder", {"obs": inputs["encoder/obs"], "memory": self.memory}
        )
        z = annotate.output_tensors(
            "encoder",
            {"z": torch.relu(self.encoder(torch.cat([obs, memory], -1)))},
            export_with=self.backend,
        )
        outs: Ports = {}
        for name, head in self.heads.items():
            part = annotate.input_tensors(name, {"z": z})
            outs[f"{name}/out"] = annotate.output_tensors(
                name, {"out": torch.tanh(head(part))}, export_with=self.backend
            )
        self.memory = outs["memory/out"]
        return outs


@program()
class DistributedInputs(Policy):
    """Each sensor annotates its own readings as inputs of one node, in its own function."""

    def build(self) -> None:
        self.net = actor(4 + 3 + 2, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "pre/joints": normal(rng, 1, 4),
            "pre/imu": normal(rng, 1, 3),
            "pre/command": normal(rng, 1, 2),
        }

    def joints(self, raw: torch.Tensor) -> torch.Tensor:
        joints = annotate.input_tensors("pre", {"joints": raw})
        return joints - joints.mean()

    def imu(self, raw: torch.Tensor) -> torch.Tensor:
        imu = annotate.input_tensors("pre", {"imu": raw})
        return imu / (imu.norm(dim=-1, keepdim=True) + 1e-6)

    def command(self, raw: torch.Tensor) -> torch.Tensor:
        command: torch.Tensor = annotate.input_tensors("pre", {"command": raw})
        return command * torch.tensor([1.0, 0.5])

    def step(self, inputs: Ports) -> Ports:
        parts = [
            self.joints(inputs["pre/joints"]),
            self.imu(inputs["pre/imu"]),
            self.command(inputs["pre/command"]),
        ]
        features = annotate.output_tensors(
            "pre", {"features": torch.cat(parts, -1)}, export_with=self.backend
        )
        features = annotate.input_tensors("policy", {"features": features})
        action = annotate.output_tensors(
            "policy", {"action": self.net(features)}, export_with=self.backend
        )
        return {"policy/action": action}


@program()
class InterleavedNodes(Policy):
    """Two nodes are open at the same time and alternate."""

    def build(self) -> None:
        self.left, self.right = actor(4, 2), actor(4, 2)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"left/x": normal(rng, 1, 4), "right/x": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        a = annotate.input_tensors("left", {"x": inputs["left/x"]})
        b = annotate.input_tensors("right", {"x": inputs["right/x"]})
        a, b = self.left(a), self.right(b)
        a, b = a * 2, b - 1
        right = annotate.output_tensors("right", {"y": b}, export_with=self.backend)
        left = annotate.output_tensors("left", {"y": torch.tanh(a)}, export_with=self.backend)
        return {"left/y": left, "right/y": right}


@program()
class MethodNodes(Policy):
    """Decorated methods, defaults, plain arguments and keyword calls."""

    def build(self) -> None:
        self.net = actor(5, 2)
        backend = self.backend

        @annotate.method(node_name="scale", export_with=backend)
        def scale(
            x: torch.Tensor, factor: float, offset: torch.Tensor = torch.linspace(-1, 1, 5)
        ) -> torch.Tensor:
            scaled = x * factor + offset
            return scaled

        @annotate.method(node_name="act", export_with=backend)
        def act(features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            mean = self.net(features)
            value = features.square().sum(-1)
            return mean, value

        self.scale, self.act = scale, act

    def sense(self, rng: torch.Generator) -> Ports:
        return {"scale/x": normal(rng, 1, 5)}

    def step(self, inputs: Ports) -> Ports:
        mean, value = self.act(features=self.scale(inputs["scale/x"], 0.5))
        return {"act/mean": mean, "act/value": value}


@program()
class SameValueTwice(Policy):
    """One output feeds two inputs of one node."""

    def sense(self, rng: torch.Generator) -> Ports:
        return {"a/x": normal(rng, 3)}

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("a", {"x": inputs["a/x"]})
        y = annotate.output_tensors("a", {"y": x * 3}, export_with=self.backend)
        p, q = annotate.input_tensors("b", {"p": y, "q": y})
        z = annotate.output_tensors("b", {"z": p * 2 - q.flip(0)}, export_with=self.backend)
        return {"b/z": z}


@program()
class MixedExporters(Policy):
    """TorchScript and ONNX nodes in one pipeline."""

    def build(self) -> None:
        self.net = actor(4, 4)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"first/x": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        other = "onnx" if self.backend == "jit" else "jit"
        x = annotate.input_tensors("first", {"x": inputs["first/x"]})
        y = annotate.output_tensors("first", {"y": torch.sigmoid(x)}, export_with=self.backend)
        y = annotate.input_tensors("second", {"y": y})
        z = annotate.output_tensors("second", {"z": self.net(y)}, export_with=other)
        return {"second/z": z}


@program()
class SeveralCallSites(Policy):
    """Passes alternate between two call sites of one node."""

    def build(self) -> None:
        self.net = actor(4, 2)
        self.tick = 0

    def sense(self, rng: torch.Generator) -> Ports:
        return {"policy/x": normal(rng, 1, 4)}

    def step(self, inputs: Ports) -> Ports:
        self.tick += 1
        if self.tick % 2:
            x = annotate.input_tensors("policy", {"x": inputs["policy/x"]})
            y = annotate.output_tensors("policy", {"y": self.net(x)}, export_with=self.backend)
        else:
            x = annotate.input_tensors("policy", {"x": inputs["policy/x"]})
            y = annotate.output_tensors("policy", {"y": self.net(x)}, export_with=self.backend)
        return {"policy/y": y}


@program()
class Observer(Policy):
    """Predict and correct across nodes: two states cross in opposite directions."""

    def build(self) -> None:
        self.a, self.c = torch.eye(3) + 0.1 * torch.randn(3, 3), torch.randn(2, 3)
        self.gain = torch.randn(3, 2) * 0.1
        self.estimate = torch.zeros(3, 1)

    def sense(self, rng: torch.Generator) -> Ports:
        return {"correct/measured": normal(rng, 2, 1)}

    def step(self, inputs: Ports) -> Ports:
        x = annotate.input_tensors("predict", {"estimate": self.estimate})
        x = annotate.output_tensors(
            "predict", {"predicted": torch.tanh(self.a @ x)}, export_with=self.backend
        )
        x, y = annotate.input_tensors(
            "correct", {"predicted": x, "measured": inputs["correct/measured"]}
        )
        self.estimate = annotate.output_tensors(
            "correct", {"estimate": x + self.gain @ (y - self.c @ x)}, export_with=self.backend
        )
        return {"correct/estimate": self.estimate}


@program()
class DictPolicy(Policy):
    """A method over a nested observation that returns a dict of commands."""

    def build(self) -> None:
        net = actor(5, 4)

        @annotate.method(node_name="policy", export_with=self.backend)
        def policy(obs: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
            x = torch.cat([obs["joint"]["pos"], obs["joint"]["vel"], obs["goal"]], -1)
            arm, grip = net(x).split([3, 1], dim=-1)
            return arm, grip

        self.policy = policy

    def sense(self, rng: torch.Generator) -> Ports:
        return {
            "policy/obs_joint_pos": normal(rng, 1, 2),
            "policy/obs_joint_vel": normal(rng, 1, 2),
            "policy/obs_goal": normal(rng, 1, 1),
        }

    def step(self, inputs: Ports) -> Ports:
        arm, grip = self.policy(
            {
                "joint": {
                    "pos": inputs["policy/obs_joint_pos"],
                    "vel": inputs["policy/obs_joint_vel"],
                },
                "goal": inputs["policy/obs_goal"],
            }
        )
        return {"policy/arm": arm, "policy/grip": grip}
