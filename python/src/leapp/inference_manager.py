"""Run an exported pipeline.

    manager = InferenceManager("walker/walker.yaml")
    outputs = manager({"policy/obs": obs})

Inputs are torch tensors or NumPy arrays. Outputs are torch tensors if PyTorch is installed,
otherwise or on request NumPy arrays. The interpreter lock is released while the models run.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _console, _runtime
from .errors import LeappError, LeappImportError, expect, expect_one_of

__all__ = ["InferenceManager", "Node", "Verification"]

#: A torch tensor or a NumPy array.
Array = Any

_console.show()


@dataclass(frozen=True)
class Node:
    """One node of the pipeline, as described in the bundle.

    It can be called with one array per input, in order, and returns its output, or a tuple of them.
    This runs only its model and does not change the pipeline.
    """

    name: str
    #: The model's file, or None if the node has no model.
    model_path: str | None
    #: "jit", "onnx", "pt2", "cpp", or None.
    backend: str | None
    #: The ports as in the YAML: name, dtype, shape, and semantics.
    input_descriptions: list[dict[str, Any]]
    output_descriptions: list[dict[str, Any]]
    _manager: InferenceManager = field(repr=False, compare=False)

    @property
    def device(self) -> str:
        """The device of the pipeline's values."""
        return self._manager.device

    @property
    def input_names(self) -> list[str]:
        """The inputs, in the model's order."""
        return [port["name"] for port in self.input_descriptions]

    @property
    def input_shapes(self) -> list[list[int]]:
        """Their shapes."""
        return [port["shape"] for port in self.input_descriptions]

    @property
    def input_dtypes(self) -> list[str]:
        """Their element types, by name."""
        return [port["dtype"] for port in self.input_descriptions]

    @property
    def output_names(self) -> list[str]:
        """The outputs, in the model's order."""
        return [port["name"] for port in self.output_descriptions]

    @property
    def output_shapes(self) -> list[list[int]]:
        """Their shapes."""
        return [port["shape"] for port in self.output_descriptions]

    @property
    def output_dtypes(self) -> list[str]:
        """Their element types, by name."""
        return [port["dtype"] for port in self.output_descriptions]

    @property
    def mock_input(self) -> dict[str, Array]:
        """Zeros for every input, by its name."""
        return self._zeros(self.input_descriptions)

    @property
    def mock_output(self) -> dict[str, Array]:
        """Zeros for every output, by its name."""
        return self._zeros(self.output_descriptions)

    @property
    def model(self) -> Callable[..., list[Array]] | None:
        """The model alone, loaded at its first use; None if there is none."""
        return None if self.model_path is None else self._manager._node_model(self.name)

    def __call__(self, *inputs: Array) -> Array | tuple[Array, ...]:
        """Run only this node's model."""
        if self.model is None:
            raise LeappError.coded("LP403", f"node {self.name!r} has no model to run")
        outputs = self.model(*inputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _zeros(self, ports: list[dict[str, Any]]) -> dict[str, Array]:
        return {port["name"]: self._manager._zeros(port["dtype"], port["shape"]) for port in ports}


@dataclass(frozen=True)
class Verification:
    """Results of replaying the traced ticks on this machine. ``str()`` returns them as text."""

    #: True if all compared values agree within their tolerance.
    passed: bool
    #: Number of replayed ticks.
    ticks: int
    #: One dict for each output and tick: ``port``, ``tick``, ``run`` (``"node"`` or
    #: ``"pipeline"``), and every figure as in ``validation.json``.
    checks: list[dict[str, Any]]
    #: Outputs that could not be compared, with the reason.
    left_out: dict[str, str]
    _text: str = field(repr=False)

    def __str__(self) -> str:
        return self._text


class InferenceManager(_runtime.Manager):
    """A loaded bundle: every checksum verified, every buffer planned, every model loaded.

    Use one manager from one thread at a time; distinct managers are independent.

    Args:
        model_path: The ``.yaml`` file that ``compile_graph`` wrote.
        array: Type of the outputs: ``"torch"``, ``"numpy"``, or torch if it is installed.
        threads: Number of threads that share the work of one operator; 0 lets the engine decide.
        affinity: Processors (from 0) for the additional threads, one each. This and
            ``spinning`` are for ONNX models: libtorch's threads belong to the whole process.
        spinning: Idle threads keep a core busy, for a shorter latency.
        provider: Where models run: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or an execution
            provider of ONNX Runtime. Empty means the best available one for ONNX models, and the
            CPU for TorchScript. With all nodes on one CUDA device, tensors stay on it.
        translate: Run the ONNX translation that a TorchScript file of ``compile_graph()``
            contains, in ONNX Runtime on the CPU, which takes a fraction of the time. Files
            without one run in libtorch either way.
        nodes: Different values of threads, affinity, spinning, provider and translate for single
            nodes.
        merge: Run consecutive nodes of one backend as one, if the results agree.
        check_finite: Refuse NaN and infinity in these values; True means all of them. A tick that
            finds one fails and does not change the state.
        staleness: Maximum age of an input at the start of a tick, in seconds, by ``node/port``.
            deadline: Maximum duration of a tick in seconds. Longer ones are counted.
        on_deadline_miss: Called for each of them with (tick, seconds taken, deadline).
        noise_seed: Seed of the noise ports, from 0 to 2**64 - 1: equal seeds give equal bytes.
        measure: Keep latency histograms, see ``statistics()``.
        allow_outside_files: Allow model files outside the bundle's directory.
        trust: Permissions of the models. By default they may only compute: a TorchScript or
            torch.export model that does anything else is refused. ``"code"`` allows executable
            code, for bundles whose authors you trust. allow_native: Run the C++ nodes that ``leapp
            build`` compiled: machine code in this process, for bundles whose authors you trust.
            max_tensor_bytes: Memory limit for all tensors of one tick. Raise it for a large
            pipeline that you trust.

    Raises:
        LeappNotFoundError: A file is missing. LeappValueError: The bundle, a checksum, a wire or a
            model is invalid.
    """

    def __init__(
        self,
        model_path: str | Path,
        *,
        array: Literal["torch", "numpy"] | None = None,
        threads: int = 1,
        affinity: Sequence[int] = (),
        spinning: bool = False,
        provider: str = "",
        translate: bool = True,
        nodes: Mapping[str, Mapping[str, Any]] | None = None,
        merge: bool = True,
        check_finite: bool | Sequence[Literal["inputs", "state", "outputs"]] = False,
        staleness: Mapping[str, float] | None = None,
        deadline: float | None = None,
        on_deadline_miss: Callable[[int, float, float], None] | None = None,
        noise_seed: int = 0,
        measure: bool = False,
        allow_outside_files: bool = False,
        trust: Literal["code"] | None = None,
        allow_native: bool = False,
        max_tensor_bytes: int = 1 << 30,
    ) -> None:
        expected = "InferenceManager() takes the path of a bundle's .yaml file"
        expect((str, PathLike), model_path, expected)
        expect_one_of(("code", None), trust, "trust")
        find_onnxruntime()
        settings = {
            "engine": {
                "threads": threads,
                "affinity": affinity,
                "spinning": spinning,
                "provider": provider,
                "translate": translate,
            },
            "nodes": {} if nodes is None else nodes,
            "merge": merge,
            "check_finite": check_finite,
            "staleness": {} if staleness is None else staleness,
            "deadline": deadline,
            "on_deadline_miss": on_deadline_miss,
            "noise_seed": noise_seed,
            "measure": measure,
            "allow_outside_files": allow_outside_files,
            "trust": trust,
            "allow_native": allow_native,
            "max_tensor_bytes": max_tensor_bytes,
        }
        path = Path(model_path)
        super().__init__(path, settings, _array_module(array), {"pt2": _exported_program})
        #: The YAML file that was loaded.
        self.model_path = str(path)
        self._node_models: dict[str, _runtime.NodeModel] = {}

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name. They keep the manager alive; the manager does not keep them."""
        folder = Path(self.model_path).parent
        nodes = {}
        for name, model in self.models.items():
            file, backend = (model["parameters"][key] for key in ("model_path", "backend"))
            file = None if file is None else str(folder / file)
            nodes[name] = Node(name, file, backend, model["inputs"], model["outputs"], self)
        return nodes

    def _node_model(self, name: str) -> _runtime.NodeModel:
        if name not in self._node_models:
            self._node_models[name] = self._load_node(name)
        return self._node_models[name]

    def verify(self) -> Verification:
        """Replay the golden traces of the bundle on this machine.

        Each node runs alone, and then the pipeline with feedback, in separate buffers, so inputs,
        state and statistics do not change.

        Raises:
            LeappValueError: The bundle has no golden traces (``compile_graph(golden=N)``).
        """
        data, text = self._verify()
        found = json.loads(data)
        return Verification(found["ok"], found["ticks"], found["checks"], found["left_out"], text)

    @property
    def value_dict(self) -> Mapping[str, Mapping[str, Array]]:
        """The value of every port, ``value_dict[node][port]``, copied on access.

        Outputs have the values of the last tick, also inside merged nodes. An external input has
        the value that was set, a feedback input the value for the next tick.
        """
        return _Values(self.models, self._values_of)

    def _values_of(self, node: str) -> Mapping[str, Array]:
        model = self.models[node]
        ports = dict.fromkeys(port["name"] for port in [*model["inputs"], *model["outputs"]])

        def value(port: str) -> Array:
            if port not in ports and f"{port}_in" not in ports:
                raise KeyError(port)
            return self._value(node, port)

        return _Values(ports, value)

    def __repr__(self) -> str:
        return (
            f"InferenceManager({self.model_path!r}, inputs={self.inputs}, outputs={self.outputs})"
        )


class _Values(Mapping[str, Any]):
    """A mapping whose values are created on access."""

    def __init__(self, names: Collection[str], make: Callable[[str], Any]) -> None:
        self._names, self._make = names, make

    def __getitem__(self, name: str) -> Any:
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


def find_onnxruntime() -> None:
    """Set the path of Python's own ONNX Runtime in the runtime, without importing it."""
    spec = importlib.util.find_spec("onnxruntime")
    if spec is not None and spec.submodule_search_locations:
        _runtime.use_onnxruntime(Path(spec.submodule_search_locations[0]) / "capi")


def _exported_program(node: str, *file: Any) -> Any:
    """Return the engine of a program of ``torch.export``, which needs PyTorch."""
    try:
        from ._exported_program import ExportedProgramEngine
    except ImportError as error:
        raise LeappImportError.coded(
            "LP006",
            f"node {node!r} is a torch.export program, which needs PyTorch ('pip install torch')",
        ) from error
    return ExportedProgramEngine(node, *file)


def _array_module(array: str | None) -> Any:
    """Return torch, or None if outputs are NumPy arrays."""
    if array is not None:  # not a valid choice of users: torch, if it is installed
        expect_one_of(("torch", "numpy"), array, "array")
    if array == "numpy":
        return None
    try:
        import torch
    except ImportError as error:
        if array == "torch":
            raise LeappImportError.coded(
                "LP006", "array='torch' needs PyTorch ('pip install torch'); array='numpy' does not"
            ) from error
        return None
    return torch
