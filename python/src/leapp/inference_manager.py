"""Run an exported pipeline.

    manager = InferenceManager("walker/walker.yaml")
    outputs = manager({"policy/obs": obs})

Torch tensors or NumPy arrays go in. Torch tensors come out where PyTorch is installed, NumPy arrays
otherwise or on request. The interpreter lock is released while the models run.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _console, _runtime
from ._exported_program import ExportedProgramEngine
from .errors import LeappError, LeappImportError, LeappTypeError, LeappValueError

__all__ = ["InferenceManager", "Node"]

#: A torch tensor or a NumPy array.
Array = Any

_console.show()


@dataclass(frozen=True)
class Node:
    """One node of the pipeline, as the bundle describes it.

    It can be called with one array per input, in order, and returns its output, or a tuple of
    them. That runs its model by itself and leaves the pipeline as it is.
    """

    name: str
    #: The model's file, or None when the node has no model.
    model_path: str | None
    #: "jit", "onnx", "pt2", or None.
    backend: str | None
    #: The ports as in the YAML: name, dtype, shape, and what else is known of them.
    input_descriptions: list[dict[str, Any]]
    output_descriptions: list[dict[str, Any]]
    _manager: _runtime.Manager = field(repr=False, compare=False)

    @property
    def device(self) -> str:
        """Where the pipeline's values are."""
        return self._manager.device

    @property
    def input_names(self) -> list[str]:
        """The inputs, in the order that the model takes them."""
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
        """The outputs, in the order that the model returns them."""
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

    @functools.cached_property
    def model(self) -> Callable[..., list[Array]] | None:
        """The model by itself, loaded when it is first asked for; None when there is none."""
        return None if self.model_path is None else self._manager.load_node(self.name)

    def __call__(self, *inputs: Array) -> Array | tuple[Array, ...]:
        """Run the model by itself."""
        if self.model is None:
            raise LeappError.coded("LP403", f"node {self.name!r} has no model to run")
        outputs = self.model(*inputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _zeros(self, ports: list[dict[str, Any]]) -> dict[str, Array]:
        return {port["name"]: self._manager.zeros(port["dtype"], port["shape"]) for port in ports}


class InferenceManager:
    """A loaded bundle: every checksum verified, every buffer planned, every model loaded.

    Use one manager from one thread at a time; distinct managers are independent.

    Args:
        model_path: The ``.yaml`` file that ``compile_graph`` wrote.
        array: What comes out: ``"torch"``, ``"numpy"``, or torch where it is installed.
        threads: Threads that share the work inside one operator; 0 lets the engine decide.
        affinity: Processors (from 0) for the threads beside the caller's, one each. This and
            ``spinning`` are for ONNX models: libtorch's threads belong to the whole process.
        spinning: Whether idle threads burn a core to answer sooner.
        provider: Where models run: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or an execution
            provider of ONNX Runtime. Empty means the best that it has for ONNX models and the
            CPU for TorchScript. With all nodes on one CUDA device, tensors stay on it.
        translate: Let TorchScript models on the CPU run in ONNX Runtime, which takes a fraction
            of the time; results are the same up to rounding. Models that cannot be translated
            run in libtorch either way.
        nodes: Other values of threads, affinity, spinning, provider and translate for single
            nodes.
        merge: Run nodes of one backend that follow each other as one, where results agree.
        check_finite: Refuse NaN and infinity in these values; True means all of them. A tick
            that meets one fails and leaves the state as it was.
        staleness: How old, in seconds, an input may be when a tick begins, by ``node/port``.
        deadline: How long a tick may take, in seconds. Longer ones are counted.
        on_deadline_miss: Called for each of them with (tick, seconds taken, deadline).
        measure: Keep latency histograms, see ``statistics()``.
        allow_outside_files: Let model files lie outside the bundle's folder.
        max_tensor_bytes: How much memory a bundle may ask for: all tensors of one tick
            together. Raise it for a large pipeline that you trust.

    Raises:
        LeappNotFoundError: A file is not there.
        LeappValueError: The bundle, a checksum, a wire or a model is wrong.
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
        measure: bool = False,
        allow_outside_files: bool = False,
        max_tensor_bytes: int = 1 << 30,
    ) -> None:
        if not isinstance(model_path, (str, PathLike)):
            raise LeappTypeError.of(
                model_path, "InferenceManager() takes the path of a bundle's .yaml file"
            )
        find_onnxruntime()
        self._path = Path(model_path)
        settings = {
            "engine": {
                "threads": threads,
                "affinity": affinity,
                "spinning": spinning,
                "provider": provider,
                "translate": translate,
            },
            "nodes": {name: dict(values) for name, values in (nodes or {}).items()},
            "merge": merge,
            "finite": _finite_guard(check_finite),
            "staleness": dict(staleness or {}),
            "deadline": deadline,
            "on_deadline_miss": on_deadline_miss,
            "measure": measure,
            "allow_outside_files": allow_outside_files,
            "max_tensor_bytes": max_tensor_bytes,
        }
        self._manager = _runtime.Manager(
            self._path, settings, _array_module(array), {"pt2": ExportedProgramEngine}
        )
        #: What a caller has to supply, gets back, and what comes from the last tick.
        self.inputs: list[str] = self._manager.inputs
        self.outputs: list[str] = self._manager.outputs
        self.feedback_inputs: list[str] = self._manager.feedback_inputs
        #: The sections of the YAML.
        self.models: dict[str, Any] = self._manager.models
        self.pipeline: dict[str, Any] = self._manager.pipeline
        self.system_info: dict[str, Any] = self._manager.system_info
        self.nodes: dict[str, Node] = {
            name: self._node(name, model) for name, model in self.models.items()
        }

    def _node(self, name: str, model: dict[str, Any]) -> Node:
        parameters, folder = model["parameters"], self._path.parent
        path = parameters["model_path"]
        file = None if path is None else str(folder / path)
        return Node(
            name, file, parameters["backend"], model["inputs"], model["outputs"], self._manager
        )

    @property
    def device(self) -> str:
        """Where the values are: ``"cpu"``, or ``"cuda:0"`` when every node runs there."""
        return self._manager.device

    @property
    def model_path(self) -> str:
        """The YAML file that was loaded."""
        return str(self._path)

    def run_policy(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Run every node once.

        Args:
            inputs: A value for each of ``inputs``, by ``node/port``, except those that
                ``set_input_value`` has set.

        Returns:
            A new array for each of ``outputs``; it is the caller's to keep.
        """
        if type(inputs) is not dict:
            if not isinstance(inputs, Mapping):
                raise LeappTypeError.coded(
                    "LP002",
                    f"run_policy() takes a dict of values by 'node/port', got "
                    f"{type(inputs).__name__}; this pipeline takes: {', '.join(self.inputs)}",
                )
            inputs = dict(inputs)
        return self._manager.run(inputs)

    __call__ = run_policy

    def get_mock_input(self, seed: int = 0) -> dict[str, Array]:
        """Return made-up values for ``inputs``: random numbers, ones for integers."""
        return self._manager.mock_input(seed)

    def set_input_value(self, node_name: str, input_name: str, value: Array) -> None:
        """Set an input: a feedback input for the next tick, an external one until it is given."""
        self._manager.set_input_value(node_name, input_name, value)

    def reset(self) -> None:
        """Give every feedback input its initial value again; other inputs are zero until set."""
        self._manager.reset()

    def state(self) -> dict[str, Array]:
        """Return a copy of every feedback input."""
        return self._manager.state()

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Go back to what ``state()`` returned."""
        self._manager.set_state(dict(state))

    @property
    def value_dict(self) -> Mapping[str, Mapping[str, Array]]:
        """The value of every port, ``value_dict[node][port]``, as a copy made when it is asked for.

        What nodes computed is that of the last tick, also where nodes run merged. An external
        input shows what was given, a feedback input what the next tick would read.
        """
        return _Values(self._manager, self.models)

    def prepare(self, ticks: int = 2) -> None:
        """Run on mock input, so that the engines have allocated what they need; then undo it."""
        self._manager.prepare(ticks)

    def bind_input(self, name: str, array: Array | None) -> None:
        """Read an input from this array in every tick, without copying; None ends it.

        The array must be contiguous, in host memory, of the port's type and shape.
        """
        self._manager.bind_input(name, array)

    def bind_output(self, name: str, array: Array | None) -> None:
        """Write an output into this array in every tick; None ends it."""
        self._manager.bind_output(name, array)

    def tick(self) -> None:
        """Run every node once on the inputs as they are, for callers that bound their arrays."""
        self._manager.tick()

    def description(self) -> list[str]:
        """Say what runs where, one line per step."""
        return self._manager.description()

    def statistics(self) -> dict[str, Any]:
        """Return latencies in seconds: ``tick``, ``nodes`` by name, and ``deadline_misses``.

        All zero unless the manager was made with ``measure=True``.
        """
        return self._manager.statistics()

    def reset_statistics(self) -> None:
        """Forget the latencies measured so far."""
        self._manager.reset_statistics()

    def __repr__(self) -> str:
        return (
            f"InferenceManager({str(self._path)!r}, inputs={self.inputs}, outputs={self.outputs})"
        )


class _Values(Mapping[str, Mapping[str, Array]]):
    """``value_dict``: nodes to ports."""

    def __init__(self, manager: _runtime.Manager, models: dict[str, Any]) -> None:
        self._manager = manager
        self._models = models

    def __getitem__(self, node: str) -> Mapping[str, Array]:
        model = self._models[node]
        names = [port["name"] for port in [*model["inputs"], *model["outputs"]]]
        return _NodeValues(self._manager, node, list(dict.fromkeys(names)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __repr__(self) -> str:
        return repr({node: dict(values) for node, values in self.items()})


class _NodeValues(Mapping[str, Array]):
    """``value_dict[node]``: ports to values."""

    def __init__(self, manager: _runtime.Manager, node: str, ports: list[str]) -> None:
        self._manager = manager
        self._node = node
        self._ports = ports

    def __getitem__(self, port: str) -> Array:
        if port not in self._ports and f"{port}_in" not in self._ports:
            raise KeyError(port)
        return self._manager.value(self._node, port)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def __repr__(self) -> str:
        return repr(dict(self))


def find_onnxruntime() -> None:
    """Tell the runtime where Python's own ONNX Runtime lies, without importing it."""
    spec = importlib.util.find_spec("onnxruntime")
    if spec is not None and spec.submodule_search_locations:
        _runtime.use_onnxruntime(Path(spec.submodule_search_locations[0]) / "capi")


def _array_module(array: str | None) -> Any:
    """Return torch, or None when NumPy arrays are to come out."""
    if array not in (None, "torch", "numpy"):
        raise LeappValueError.coded("LP003", f"array must be 'torch' or 'numpy', not {array!r}")
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


def _finite_guard(check_finite: bool | Sequence[str]) -> tuple[bool, bool, bool]:
    """Return whether inputs, state and outputs are guarded."""
    kinds = ("inputs", "state", "outputs")
    if isinstance(check_finite, bool):
        return (check_finite, check_finite, check_finite)
    unknown = set(check_finite) - set(kinds)
    if unknown:
        raise LeappValueError.coded(
            "LP003", f"check_finite knows {', '.join(kinds)}, not {sorted(unknown)[0]!r}"
        )
    return ("inputs" in check_finite, "state" in check_finite, "outputs" in check_finite)
