"""Policies in the form that other projects export, as ONNX files with metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper, numpy_helper

import leapp

Array = Any
TICKS = 50
JOINTS = ["hip", "thigh", "calf"]
POSE = [0.1, 0.8, -1.5]


class Policy:
    """actions = tanh(obs W + b), as an ONNX file and in NumPy."""

    def __init__(self, observations: int, actions: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        scale = 1 / np.sqrt(observations)
        self.weight = (rng.standard_normal((observations, actions)) * scale).astype(np.float32)
        self.bias = (rng.standard_normal(actions) * 0.1).astype(np.float32)
        self.observations, self.actions = observations, actions

    def __call__(self, obs: Array) -> Array:
        return np.tanh(obs.astype(np.float32) @ self.weight + self.bias)

    def write(
        self,
        path: Path,
        metadata: Mapping[str, str],
        *,
        obs: str = "obs",
        actions: str = "actions",
        shape: Sequence[int | str] = (),
        motion: Mapping[str, Array] | None = None,
        opset: int = 17,
    ) -> Path:
        """Write the file; `motion` adds references that the input time_step looks up."""
        flat = helper.make_node("Reshape", [obs, "flat_shape"], ["flat"])
        nodes = [
            flat,
            helper.make_node("Gemm", ["flat", "weight", "bias"], ["hidden"]),
            helper.make_node("Tanh", ["hidden"], [actions]),
        ]
        weights = {
            "flat_shape": np.array([1, self.observations]),
            "weight": self.weight,
            "bias": self.bias,
        }
        inputs = [_value(obs, list(shape) or [1, self.observations])]
        outputs = [_value(actions, [1, self.actions])]
        if motion is not None:
            last = len(next(iter(motion.values()))) - 1
            weights["last"] = np.array([[last]], np.float32)
            weights["one"] = np.array([1])
            nodes += [
                helper.make_node("Min", ["time_step", "last"], ["clamped"]),
                helper.make_node("Cast", ["clamped"], ["whole"], to=TensorProto.INT64),
                helper.make_node("Reshape", ["whole", "one"], ["frame"]),
            ]
            inputs.append(_value("time_step", [1, 1]))
            for name, values in motion.items():
                weights[f"{name}_all"] = values.astype(np.float32)
                nodes.append(helper.make_node("Gather", [f"{name}_all", "frame"], [name], axis=0))
                outputs.append(_value(name, [1, *values.shape[1:]]))
        return _save(path, nodes, inputs, outputs, weights, metadata, opset)


def _value(name: str, shape: Sequence[int | str], dtype: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, list(shape))


def _save(
    path: Path,
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    weights: Mapping[str, Array],
    metadata: Mapping[str, str],
    opset: int = 17,
) -> Path:
    graph = helper.make_graph(
        nodes,
        "policy",
        inputs,
        outputs,
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def write_recurrent(path: Path, metadata: Mapping[str, str], observations: int) -> Path:
    """h_out = h_in / 2 + sum of obs, actions = h_out: a policy with memory, on one joint."""
    nodes = [
        helper.make_node("ReduceSum", ["obs", "axes"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["h_in", "half"], ["kept"]),
        helper.make_node("Add", ["kept", "sum"], ["h_out"]),
        helper.make_node("Identity", ["h_out"], ["actions"]),
    ]
    return _save(
        path,
        nodes,
        [_value("obs", [1, observations]), _value("h_in", [1, 1])],
        [_value("actions", [1, 1]), _value("h_out", [1, 1])],
        {"axes": np.array([1]), "half": np.array([[0.5]], np.float32)},
        metadata,
    )


def write_exploy(path: Path, metadata: Mapping[str, str]) -> Path:
    """As Exploy writes them: sensors in, targets out, memory and a count of steps.

    pos = q + memory + 0.01 steps; memory' = 0.5 memory + w (2 joints).
    """
    memory = "memory.filter"
    target = "output.joint_targets.legs"
    nodes = [
        helper.make_node("Cast", ["ctx.step_count"], ["steps"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["steps", "rate"], ["drift"]),
        helper.make_node("Add", ["obj.dog.joints.pos", f"{memory}.in"], ["sum"]),
        helper.make_node("Add", ["sum", "drift"], [f"{target}.pos"]),
        helper.make_node("Mul", [f"{memory}.in", "half"], ["kept"]),
        helper.make_node(
            "Slice", ["obj.dog.base.ang_vel_b_rt_w_in_b", "zero", "two", "axis"], ["w"]
        ),
        helper.make_node("Add", ["kept", "w"], [f"{memory}.out"]),
        helper.make_node("Mul", ["obj.dog.joints.vel", "half"], [f"{target}.vel"]),
    ]
    return _save(
        path,
        nodes,
        [
            _value("obj.dog.joints.pos", [1, 2]),
            _value("obj.dog.joints.vel", [1, 2]),
            _value("obj.dog.base.ang_vel_b_rt_w_in_b", [1, 3]),
            _value(f"{memory}.in", [1, 2]),
            _value("ctx.step_count", [1, 1], TensorProto.INT32),
        ],
        [
            _value(f"{target}.pos", [1, 2]),
            _value(f"{target}.vel", [1, 2]),
            _value(f"{memory}.out", [1, 2]),
        ],
        {
            "rate": np.array([[0.01]], np.float32),
            "half": np.array([[0.5]], np.float32),
            "zero": np.array([0]),
            "two": np.array([2]),
            "axis": np.array([1]),
        },
        metadata,
    )


def csv(values: Sequence[Any]) -> str:
    """Return a list as mjlab and BeyondMimic write it: three decimals, ';' inside of an entry."""

    def entry(value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return ";".join(entry(one) for one in value)
        return f"{value:.3f}" if isinstance(value, (bool, int, float)) else str(value)

    return ",".join(entry(value) for value in values)


class Stack:
    """The history of a controller: frames of terms, and the observation that they form."""

    def __init__(self, ages: Sequence[Sequence[int]], *, time_major: bool, backfill: bool) -> None:
        self.ages, self.time_major, self.backfill = ages, time_major, backfill
        self.frames: list[list[Array]] = [[] for _ in ages]

    def __call__(self, terms: Sequence[Array]) -> Array:
        for frames, ages, term in zip(self.frames, self.ages, terms, strict=True):
            length = max(ages) + 1
            if not frames:
                first = term if self.backfill else np.zeros_like(term)
                frames.extend([first] * length)
            frames.append(term)
            del frames[:-length]
        seen = [
            [frames[-1 - age] for age in ages]
            for frames, ages in zip(self.frames, self.ages, strict=True)
        ]
        if self.time_major:
            parts = [frame for step in zip(*seen, strict=True) for frame in step]
        else:
            parts = [frame for term in seen for frame in term]
        return np.concatenate(parts)[None]


def run(bundle: Path) -> Any:
    return leapp.InferenceManager(bundle, array="numpy")


def sensed(rng: np.random.Generator, **sizes: int) -> dict[str, Array]:
    """Return random measurements of these sizes, by port of ``observe``."""
    return {
        f"observe/{name}": rng.standard_normal((1, size)).astype(np.float32)
        for name, size in sizes.items()
    }


def port(bundle: Path, node: str, name: str) -> dict[str, Any]:
    model = yaml.safe_load(bundle.read_text())["models"][node]
    return next(one for one in [*model["inputs"], *model["outputs"]] if one["name"] == name)


def mjlab_metadata(**other: str) -> dict[str, str]:
    """Five terms of 3 joints: 3 + 3 x 3 + 3 + 2 x 3 + 3 = 24 values."""
    return {
        "run_path": "local",
        "joint_names": csv(JOINTS),
        "joint_stiffness": csv([20.0, 21.0, 22.0]),
        "joint_damping": csv([0.5, 0.6, 0.7]),
        "default_joint_pos": csv(POSE),
        "command_names": csv(["twist"]),
        "observation_names": csv(["base_ang_vel", "joint_pos", "joint_vel", "actions", "command"]),
        "observation_terms_scale": csv([0.25, 1.0, 0.05, 1.0, [2.0, 2.0, 0.5]]),
        "observation_terms_clip": csv([[-np.inf, np.inf], [-0.5, 0.6], *[[-np.inf, np.inf]] * 3]),
        "observation_terms_history_length": csv([0, 3, 0, 2, 0]),
        "observation_terms_flatten_history_dim": csv([True] * 5),
        "action_scale": csv([0.25, 0.3, 0.35]),
        **other,
    }
