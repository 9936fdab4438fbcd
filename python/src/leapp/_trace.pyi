"""The compiled tracing module: ``include/leapp/leapp.h`` and ``src/session/front_end.h``.

An entry of a payload is ``(name, tensor, meaning)``. A meaning is ``(kind, element names per
dimension, period of the time axis in ms, additional keys)`` or None.
"""

from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, Literal

import numpy as np
from torch import Tensor
from typing_extensions import Self

from ._payload import Meaning

_Entries = Sequence[tuple[str, Tensor, Meaning | None]]
_Schedule = tuple[str, int, int, int, dict[str, str], str, str, list[str], dict[str, str]]

def start(
    name: str,
    save_path: str,
    verbose: bool,
    dry_run: bool,
    non_traced: Sequence[str],
    max_cached_io: int,
    schedule: Sequence[_Schedule],
    noise: str,
) -> None: ...
def prepare() -> None: ...
def warm_up() -> None: ...
def stop() -> None: ...
def drop() -> None: ...
def is_active() -> bool: ...
def compile_graph(
    visualize: bool,
    verbose: bool | None,
    validate: bool,
    dry_run: bool,
    rtol: float,
    atol: float,
    strict: bool,
    graph_configs: tuple[float | None, dict[str, Any]] | None,
    golden: int,
    thorough: bool,
    strict_constants: bool,
    rerun: list[str],
    progress: Callable[[int, int, str], None] | None,
    cancelled: Callable[[], bool],
) -> tuple[list[tuple[str, bool, str]], str, list[str]]:
    """Return (node, passed, error) of each node, ``validation.json``, and the schedule as text."""

def input_dict(node: object, payload: object) -> Any:
    """Implement ``input_tensors`` for a dict of tensors; else NotImplemented."""

def output_dict(node: object, payload: object, export_with: object) -> Any:
    """Implement ``output_tensors`` for a plain dict of tensors in the same way."""

def input_tensors(node: str, entries: _Entries) -> list[Tensor]: ...
def output_tensors(
    node: str,
    entries: _Entries,
    static_entries: _Entries,
    export_with: str | None,
    backend_params: dict[str, Any],
    constants: list[str | Tensor],
    schedule: _Schedule | None,
) -> list[Tensor]: ...
def state_tensors(node: str, entries: _Entries) -> list[Tensor]: ...
def update_state(node: str, entries: _Entries) -> list[Tensor]: ...
def module(node: str, entries: _Entries, current: Callable[[], list[Tensor]]) -> None: ...
def register_buffer(node: str, entries: _Entries) -> list[Tensor]: ...
def mirror_leapp_tags(source: Tensor, target: Tensor) -> None: ...
def abandon(node: str) -> None: ...
def diagnose(
    code: str,
    text: str,
    node: str = "",
    settled_by_another_pass: bool = False,
    where: str = "",
    aloud: bool = True,
) -> None:
    """Log a message once, at the user's line unless ``where`` gives another."""

def varied_example(example: Tensor, number: int, input: int) -> Tensor:
    """Return an example for a pass: unchanged for pass 0, with noise for the others."""

def inventory() -> list[tuple[str, list[tuple[Any, ...]], list[tuple[Any, ...]]]]: ...
def diagnostics() -> list[tuple[str, str, str, str, str, bool]]: ...
def any_open() -> bool: ...
def open_nodes() -> list[str]: ...
def pass_of(node: str) -> int:
    """Return the number of begun passes of a node; 1 during and after the first one."""

def enter_function(node: str) -> None: ...
def leave_function(node: str) -> None: ...
def is_traced(tensor: Tensor) -> bool: ...
def outside_of(tensor: Tensor) -> list[Tensor]: ...
def in_operator() -> bool:
    """Return whether the program's code implements an operator that is recorded itself."""

def note_made(tensor: Tensor) -> None: ...
def note_size(tensor: Tensor) -> None: ...
def note_escape(tensor: Tensor, text: str, pickled: bool = False) -> None: ...
def note_foreign(tensor: Tensor, written: bool, left_at: str) -> None:
    """Report an array that no recorded call computed, and that the open node uses as a tensor."""

def get_item(tensor: Tensor, index: Any) -> Any:
    """Return ``tensor[index]`` for indices that may vary; NotImplemented if there are none."""

def set_item(tensor: Tensor, index: Any, value: Any) -> bool:
    """Do ``tensor[index] = value`` in the same way; return False if there are none."""

def is_user_code(code: CodeType | str) -> bool:
    """Return whether code, or a file, belongs to the program and not to an installed library."""

def restore_sequence_slot() -> None: ...

class HeldArrays:
    """The arrays and NumPy numbers that the program holds now, with checksums of the arrays."""

    def verdict_on(self, array: np.ndarray[Any, Any]) -> Literal["held", "changed", "unknown"]:
        """Return whether the array's memory was held, and has the same content as then."""

    def holds_number(self, number: object) -> bool: ...

def frames() -> list[tuple[dict[str, Any], list[tuple[str, Any]]]]:
    """Return globals, and names and values of variables, of the program's frames.

    From the caller outwards.
    """

def begin_frames() -> list[tuple[dict[str, Any], list[tuple[str, Any]]]]:
    """Return the same; the front end then passes only other frames to ``_holders.note``."""

class Subscriptable:
    """Base of classes with ``self[index]``, through ``_item()``, that are not sequences."""

    def __getitem__(self, index: Any) -> Any: ...

class Unobserved:
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...

class Shadow:
    def __init__(
        self, yaml: str, rtol: float, atol: float, trust_code: bool, allow_outside_files: bool
    ) -> None: ...
    def reset(self) -> None: ...
    def stop(self) -> None: ...
    def report(self) -> tuple[str, str]:
        """Return the report as JSON and as text."""

class OnnxValue:
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...

class Op:
    @property
    def name(self) -> str: ...
    @property
    def opset_version(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def result_count(self) -> int: ...
    def is_none(self, parameter: str) -> bool: ...
    def tensor(self, parameter: str) -> OnnxValue | None: ...
    def tensors(self, parameter: str) -> list[OnnxValue | None]: ...
    def flag(self, parameter: str) -> bool: ...
    def integer(self, parameter: str) -> int: ...
    def number(self, parameter: str) -> float: ...
    def text(self, parameter: str) -> str: ...
    def integers(self, parameter: str) -> list[int]: ...
    def numbers(self, parameter: str) -> list[float]: ...
    def constant(self, value: Any) -> OnnxValue: ...
    def emit(
        self,
        op_type: str,
        inputs: Sequence[OnnxValue | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        dtype: str | None = None,
        shape: Sequence[int] | None = None,
        domain: str = "",
        domain_version: int = 1,
    ) -> OnnxValue: ...
    def emit_many(
        self,
        op_type: str,
        inputs: Sequence[OnnxValue | None],
        outputs: Sequence[tuple[str, Sequence[int]]],
        attributes: Mapping[str, Any] | None = None,
        *,
        domain: str = "",
        domain_version: int = 1,
    ) -> list[OnnxValue]: ...
    def result_dtype(self, index: int = 0) -> str: ...
    def result_shape(self, index: int = 0) -> tuple[int, ...]: ...
    def fail(self, reason: str, advice: str = "") -> None: ...

def register_onnx_converter(name: str, function: Callable[[Op], Any]) -> None: ...
def remove_onnx_converter(name: str) -> bool: ...
def onnx_convertible_ops() -> list[str]: ...
