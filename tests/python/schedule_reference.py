"""The meaning of a schedule in plain Python, and random bundles that have one.

:class:`Reference` follows rules B35 to B40 of docs/reference/bundle.md and shares no code with the
runtime. All numbers are small integers, so that results are equal bit by bit.
"""

from __future__ import annotations

import copy
import hashlib
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

SIZE = 2
Values = dict[str, np.ndarray[Any, Any]]


@dataclass
class Node:
    """y = floor(clip(sum of c * input, -9, 9)); z = y + 1; flag = y[0] > 0."""

    name: str
    inputs: list[str] = field(default_factory=list)  # float32 [SIZE]
    counts: dict[str, str] = field(default_factory=dict)  # int64 or int32 [1], by name
    gates: list[str] = field(default_factory=list)  # bool [1], which the node itself ignores
    factors: dict[str, float] = field(default_factory=dict)

    def run(self, given: Values) -> Values:
        """Return the outputs for these inputs."""
        total = np.zeros(SIZE, np.float32)
        for name in [*self.inputs, *self.counts]:
            total = total + np.float32(self.factors[name]) * given[name].astype(np.float32)
        for name in self.gates:
            total = total + given[name].astype(np.float32)
        y = np.floor(np.clip(total, -9, 9)).astype(np.float32)
        return {"y": y, "z": y + np.float32(1), "flag": y[:1] > 0}

    def ports(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the inputs and outputs in the form of the YAML."""

        def port(name: str, dtype: str, size: int) -> dict[str, Any]:
            return {"name": name, "dtype": dtype, "shape": [size], "type": "tensor"}

        inputs = [port(name, "float32", SIZE) for name in self.inputs]
        inputs += [port(name, dtype, 1) for name, dtype in self.counts.items()]
        inputs += [port(name, "bool", 1) for name in self.gates]
        outputs = [port("y", "float32", SIZE), port("z", "float32", SIZE), port("flag", "bool", 1)]
        return inputs, outputs

    def write_onnx(self, path: Path) -> None:
        """Return the node as an ONNX model."""
        import onnx
        from onnx import TensorProto, helper

        types = {"int64": TensorProto.INT64, "int32": TensorProto.INT32}
        inputs = [(name, TensorProto.FLOAT, SIZE) for name in self.inputs]
        inputs += [(name, types[dtype], 1) for name, dtype in self.counts.items()]
        inputs += [(name, TensorProto.BOOL, 1) for name in self.gates]
        ops, total = [], "zeros"
        constants = {"zeros": [0.0] * SIZE, "low": [-9.0], "high": [9.0], "one": [1.0]}
        for name, kind, _ in inputs:
            constants[f"c_{name}"] = [self.factors.get(name, 1.0)]
            ops += [
                helper.make_node("Cast", [name], [f"f_{name}"], to=TensorProto.FLOAT),
                helper.make_node("Mul", [f"f_{name}", f"c_{name}"], [f"m_{name}"]),
                helper.make_node("Add", [total, f"m_{name}"], [f"t_{name}"]),
            ]
            total = f"t_{name}"
            del kind
        ops += [
            helper.make_node("Max", [total, "low"], ["above"]),
            helper.make_node("Min", ["above", "high"], ["clipped"]),
            helper.make_node("Floor", ["clipped"], ["y"]),
            helper.make_node("Add", ["y", "one"], ["z"]),
            helper.make_node("Slice", ["y", "start", "end"], ["first"]),
            helper.make_node("Greater", ["first", "nothing"], ["flag"]),
        ]
        constants["nothing"] = [0.0]
        tensors = [
            helper.make_tensor(name, TensorProto.FLOAT, [len(numbers)], numbers)
            for name, numbers in constants.items()
        ]
        tensors += [
            helper.make_tensor("start", TensorProto.INT64, [1], [0]),
            helper.make_tensor("end", TensorProto.INT64, [1], [1]),
        ]
        graph = helper.make_graph(
            ops,
            self.name,
            [helper.make_tensor_value_info(name, kind, [size]) for name, kind, size in inputs],
            [
                helper.make_tensor_value_info("y", TensorProto.FLOAT, [SIZE]),
                helper.make_tensor_value_info("z", TensorProto.FLOAT, [SIZE]),
                helper.make_tensor_value_info("flag", TensorProto.BOOL, [1]),
            ],
            tensors,
        )
        opset = [helper.make_opsetid("", 20)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)


@dataclass
class Pipeline:
    """Nodes, wires, a schedule, and the bundle's initial values."""

    nodes: list[Node]
    forward: dict[str, str] = field(default_factory=dict)  # input -> output, "node/port" each
    feedback: dict[str, str] = field(default_factory=dict)
    schedule: dict[str, dict[str, Any]] = field(default_factory=dict)
    initial: Values = field(default_factory=dict)  # by input

    def fed_by_schedule(self) -> set[str]:
        """Return the inputs that receive a number from the runtime."""
        fed = set()
        for node, entry in self.schedule.items():
            if "index" in entry:
                fed.add(f"{node}/{entry['index']}")
            fed |= {f"{node}/{name}" for name in entry.get("age", {})}
        return fed

    def external(self) -> list[str]:
        """Return the inputs that the caller supplies."""
        inside = {*self.forward, *self.feedback, *self.fed_by_schedule()}
        names = [f"{n.name}/{i}" for n in self.nodes for i in [*n.inputs, *n.counts, *n.gates]]
        return [name for name in names if name not in inside]

    def write(self, folder: Path, backend: str = "onnx") -> Path:
        """Write the bundle; models of other backends must exist."""
        models: dict[str, Any] = {}
        for node in self.nodes:
            file = folder / f"{node.name}.{backend}"
            if backend == "onnx":
                node.write_onnx(file)
            inputs, outputs = node.ports()
            parameters = {
                "model_path": file.name,
                "md5sum": hashlib.md5(file.read_bytes()).hexdigest(),
                "sha256sum": hashlib.sha256(file.read_bytes()).hexdigest(),
                "backend": f"leapp/{backend}" if self.schedule else backend,
            }
            if backend == "onnx":
                parameters["opset_version"] = 20  # type: ignore[assignment]
            models[node.name] = {"inputs": inputs, "outputs": outputs, "parameters": parameters}
        pipeline: dict[str, Any] = {"data_flow": {}, "feedback_flow": {}}
        for key, wires in (("data_flow", self.forward), ("feedback_flow", self.feedback)):
            for target, source in wires.items():
                pipeline[key].setdefault(source, []).append(target)
        pipeline["inputs"] = {}
        for name in self.external():
            node_name, port = name.split("/")
            pipeline["inputs"].setdefault(node_name, []).append(port)
        pipeline["outputs"] = {node.name: ["y", "z", "flag"] for node in self.nodes}
        if self.schedule:
            pipeline["schedule"] = self.schedule
        if self.initial:
            from safetensors.numpy import save_file

            file = folder / "test_initial_values.safetensors"
            save_file(self.initial, file)
            pipeline["initial_values"] = file.name
            pipeline["initial_values_sha256sum"] = hashlib.sha256(file.read_bytes()).hexdigest()
        document = {
            "models": models,
            "pipeline": pipeline,
            "system information": {"leapp config version": "1.3"},
        }
        path = folder / "test.yaml"
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        return path


class Reference:
    """Runs a pipeline by its schedule."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.nodes = {node.name: node for node in pipeline.nodes}
        self.order = self._order()
        self.reset()

    def _order(self) -> list[str]:
        before: dict[str, set[str]] = {name: set() for name in self.nodes}
        for target, source in self.pipeline.forward.items():
            before[target.split("/")[0]].add(source.split("/")[0])
        for name, entry in self.pipeline.schedule.items():
            before[name] |= set(entry.get("age", {}).values())
            if "when" in entry and entry["when"].split("/")[1] == "flag":
                before[name].add(entry["when"].split("/")[0])
        order: list[str] = []
        while len(order) < len(self.nodes):
            order.append(next(n for n in self.nodes if n not in order and before[n] <= set(order)))
        return order

    def reset(self) -> None:
        """Start at tick 0, before any node has run."""
        self.tick_number = 0
        self.last_run: dict[str, int] = {}
        self.latest: dict[str, Values] = {}
        self.seen: dict[str, list[bytes]] = {}
        self.former: dict[str, Any] | None = None

    def state(self) -> dict[str, Any]:
        """Return everything that a tick changes."""
        keys = ("tick_number", "last_run", "latest", "seen")
        return copy.deepcopy({key: getattr(self, key) for key in keys})

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore such a state."""
        self.__dict__.update(copy.deepcopy(state))
        self.former = None

    def undo(self) -> None:
        """Undo the last tick, once."""
        if self.former is not None:
            self.set_state(self.former)

    def output(self, name: str) -> np.ndarray[Any, Any]:
        """Return the latest value of an output, or its readers' initial value."""
        node, port = name.split("/")
        if node in self.latest:
            return self.latest[node][port]
        for target, source in self.pipeline.forward.items():
            if source == name and target in self.pipeline.initial:
                return self.pipeline.initial[target]
        return np.zeros(1, bool) if port == "flag" else np.zeros(SIZE, np.float32)

    def age(self, node: str) -> int | None:
        """Return the number of ticks between the last tick and the node's last run."""
        return None if node not in self.last_run else self.tick_number - 1 - self.last_run[node]

    def tick(self, given: Values) -> None:
        """Run the nodes that are due."""
        self.former = self.state()
        before = copy.deepcopy(self.latest)

        def value(name: str) -> np.ndarray[Any, Any]:
            if name in given:
                return given[name]
            if name in self.pipeline.forward:
                return self.output(self.pipeline.forward[name])
            source, port = self.pipeline.feedback[name].split("/")
            if source in before:
                return before[source][port]
            zeros = np.zeros(1, bool) if port == "flag" else np.zeros(SIZE, np.float32)
            return self.pipeline.initial.get(name, zeros)

        for name in self.order:
            self._offer(name, given, value)
        self.tick_number += 1

    def _offer(self, name: str, given: Values, value: Any) -> None:
        entry = self.pipeline.schedule.get(name, {})
        node, now = self.nodes[name], self.tick_number
        since = now - entry.get("phase", 0)
        if since < 0 or since % entry.get("every", 1) != 0:
            return
        if "when" in entry:
            is_output = entry["when"].split("/")[1] == "flag"
            condition = self.output(entry["when"]) if is_output else value(entry["when"])
            if not condition[0]:
                return
        watched = [value(f"{name}/{port}").tobytes() for port in entry.get("on_change", [])]
        if watched and self.seen.get(name) == watched:
            return
        inputs: Values = {}
        for port in [*node.inputs, *node.gates]:
            inputs[port] = value(f"{name}/{port}")
        for port, dtype in node.counts.items():
            if port in entry.get("age", {}):
                source = entry["age"][port]
                age = now - self.last_run[source] if source in self.last_run else -1
                inputs[port] = np.array([age], dtype)
            elif port != entry.get("index"):
                inputs[port] = given[f"{name}/{port}"]
        for run in range(entry.get("repeat", 1)):
            if "index" in entry:
                inputs[entry["index"]] = np.array([run], node.counts[entry["index"]])
            outputs = node.run(inputs)
            for source, target in entry.get("carry", {}).items():
                inputs[target] = outputs[source]
        self.latest[name] = outputs
        self.last_run[name] = now
        self.seen[name] = watched


def random_pipeline(seed: int) -> Pipeline:
    """Return a pipeline of two to five nodes, most of them with a schedule."""
    draw = random.Random(seed)
    names = [f"n{i}" for i in range(draw.randint(2, 5))]
    nodes = [Node(name) for name in names]
    rank = {name: i for i, name in enumerate(draw.sample(names, len(names)))}
    pipeline = Pipeline(nodes)

    def earlier(name: str) -> list[str]:
        return [other for other in names if rank[other] < rank[name]]

    for node in nodes:
        for i in range(draw.randint(1, 3)):
            node.inputs.append(f"x{i}")
            node.factors[f"x{i}"] = draw.choice([-1.0, 0.5, 1.0, 2.0])
            source = draw.choice(["external", "forward", "forward", "feedback"])
            port = draw.choice(["y", "z"])
            if source == "forward" and earlier(node.name):
                pipeline.forward[f"{node.name}/x{i}"] = f"{draw.choice(earlier(node.name))}/{port}"
            elif source == "feedback":
                pipeline.feedback[f"{node.name}/x{i}"] = f"{draw.choice(names)}/{port}"
    for node in nodes:
        entry: dict[str, Any] = {}
        if draw.random() < 0.5:
            entry["every"] = draw.randint(1, 4)
            entry["phase"] = draw.randint(0, 3)
        if draw.random() < 0.25:
            entry["repeat"] = draw.randint(1, 4)
            if draw.random() < 0.8:
                entry["carry"] = {draw.choice(["y", "z"]): draw.choice(node.inputs)}
            if draw.random() < 0.5:
                entry["index"] = "i"
                node.counts["i"] = draw.choice(["int64", "int32"])
        if draw.random() < 0.3:
            _add_condition(draw, pipeline, node, entry, earlier(node.name))
        free = [name for name in node.inputs if name not in entry.get("carry", {}).values()]
        if free and draw.random() < 0.3:
            entry["on_change"] = draw.sample(free, draw.randint(1, len(free)))
        if earlier(node.name) and draw.random() < 0.3:
            entry["age"] = {"a": draw.choice(earlier(node.name))}
            node.counts["a"] = draw.choice(["int64", "int32"])
        for name in node.counts:
            node.factors[name] = 1.0
        if entry:
            pipeline.schedule[node.name] = entry
    if not pipeline.schedule:
        pipeline.schedule[names[0]] = {"every": 2}
    if draw.random() < 0.5:
        _add_initial_values(draw, pipeline)
    return pipeline


def _add_condition(
    draw: random.Random, pipeline: Pipeline, node: Node, entry: dict[str, Any], earlier: list[str]
) -> None:
    kind = draw.choice(["output", "input", "feedback"])
    if kind == "output" and earlier:
        entry["when"] = f"{draw.choice(earlier)}/flag"
        return
    other = draw.choice(pipeline.nodes)
    if "g" not in other.gates:
        other.gates.append("g")
        if kind == "feedback":
            source = draw.choice(pipeline.nodes).name
            pipeline.feedback[f"{other.name}/g"] = f"{source}/flag"
    entry["when"] = f"{other.name}/g"


def _add_initial_values(draw: random.Random, pipeline: Pipeline) -> None:
    def value(name: str) -> np.ndarray[Any, Any]:
        if name.endswith("/g"):
            return np.array([draw.random() < 0.5])
        return np.array([draw.randint(-3, 3) for _ in range(SIZE)], np.float32)

    for target in pipeline.feedback:
        pipeline.initial[target] = value(target)
    by_source: dict[str, np.ndarray[Any, Any]] = {}
    for target, source in pipeline.forward.items():
        if draw.random() < 0.6:
            pipeline.initial[target] = by_source.setdefault(source, value(target))


def random_inputs(draw: random.Random, pipeline: Pipeline, former: Values) -> Values:
    """Return the inputs of a tick; many are equal to those of the previous tick."""
    given: Values = {}
    for name in pipeline.external():
        if name in former and draw.random() < 0.6:
            given[name] = former[name]
        elif name.endswith("/g"):
            given[name] = np.array([draw.random() < 0.5])
        else:
            given[name] = np.array([draw.randint(-3, 3) for _ in range(SIZE)], np.float32)
    return given
