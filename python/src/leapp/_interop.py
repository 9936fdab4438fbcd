"""What is patched while a session is tracing, and put back when it ends.

The recorder itself patches nothing. PyTorch and NumPy exchange values beneath it, though: these
patches hand out arrays that stay traced, and name the values that leave. Functions of
``torch.compile`` run eagerly meanwhile, so that the recorder sees their operators.
"""

from __future__ import annotations

import functools
import random
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FrameType, ModuleType
from typing import Any, cast

import numpy as np
import torch

from . import _beside, _indexing, _numpy_lists, _state, _surroundings, _trace
from ._numpy import (
    LISTS,
    Number,
    TracedArray,
    attached,
    fresh,
    from_numpy,
    holds_traced,
    is_traced,
    may_hold_traced,
    note_escape,
    plain,
    to_tensor,
    traced_view,
)
from .patching import FunctionPatch

_PLAIN_SHAPE: Any = torch._C.TensorBase.shape


class _Patches:
    """Attributes that were replaced, and what they were."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, dict[str, Any], set[str]]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute of a module or class."""
        self.update(owner, {name: value})

    def update(self, owner: Any, values: dict[str, Any]) -> None:
        """Replace attributes of a module or class."""
        now = vars(owner)
        former = {name: now[name] for name in values if name in now}
        self._undo.append((owner, former, values.keys() - former.keys()))
        _assign(owner, values)

    def restore(self) -> None:
        """Put everything back, last first."""
        while self._undo:
            owner, former, added = self._undo.pop()
            _assign(owner, former)
            for name in added:
                delattr(owner, name)


def _assign(owner: Any, values: dict[str, Any]) -> None:
    if isinstance(owner, ModuleType):
        vars(owner).update(values)  # hundreds at once
        return
    for name, value in values.items():
        setattr(owner, name, value)


_patches = _Patches()
_stance: Any = None


def install(global_patching: bool, patching: Iterable[FunctionPatch]) -> None:
    """Patch for a session that has begun."""
    _run_compiled_functions_eagerly()
    if global_patching:
        _patch_tensor()
        _patch_constructors()
        _patch_random()
        for owner, values in _beside.patches().items():
            _patches.update(owner, values)
        _patch_checks()
        _surroundings.begin()
        _surroundings.put_everywhere(_beside.WatchedDatetime, _beside.plain_datetime)
        _state.watch(
            _surroundings.opened,
            _surroundings.closed,
            _surroundings.declared,
            _surroundings.may_be_state,
        )
    for patch in patching:
        _patch_function(patch)


def restore() -> None:
    """Leave PyTorch and NumPy as they were found."""
    global _stance
    _patches.restore()
    _state.watch()
    _surroundings.restore()
    _trace.restore_sequence_slot()
    if _stance is not None:
        _stance.__exit__(None, None, None)
        _stance = None


def _run_compiled_functions_eagerly() -> None:
    """Take the compiler aside, if there is one; importing it takes seconds."""

    def force() -> None:
        global _stance
        if _stance is None:
            _stance = torch.compiler.set_stance("force_eager")

    original = torch.compile

    @functools.wraps(original)
    def compile_later(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        force()
        return result

    if "torch._dynamo" in sys.modules:
        force()
    else:
        _patches.set(torch, "compile", compile_later)


def _patch_tensor() -> None:
    """Let traced tensors become traced arrays, and name the values that leave."""
    tensor: Any = torch.Tensor
    originals = (getattr(tensor, name) for name in _TENSOR_METHODS)
    methods = dict(zip(_TENSOR_METHODS, _tensor_methods(*originals), strict=True))
    _patches.update(tensor, {**methods, "shape": _SHAPE})
    _trace.restore_sequence_slot()


def _shape(tensor: torch.Tensor) -> torch.Size:
    """Return the shape, and say so if it is that of a selection: its number would be exported."""
    if _state.open_nodes and _reads_sizes(sys._getframe(1)):
        _trace.note_size(tensor)
    return cast(torch.Size, _PLAIN_SHAPE.__get__(tensor))


_SHAPE = property(_shape)


def _size_method(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def measure(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _state.open_nodes and _reads_sizes(sys._getframe(1)):
            _trace.note_size(self)
        return original(self, *args, **kwargs)

    return measure


def _reads_sizes(frame: FrameType) -> bool:
    """Whether what the code does with a size may become part of the model: not so in ours."""
    return not frame.f_globals.get("__name__", "").startswith(("leapp.", "torch._numpy"))


_TENSOR_METHODS = (
    "numpy", "__array__", "tolist", "__deepcopy__", "data_ptr", "__repr__", "__format__",
    "__getitem__", "__setitem__", "__len__", "size", "numel", "nelement",
)  # fmt: skip


@functools.cache
def _tensor_methods(
    to_numpy: Any,
    to_array: Any,
    to_list: Any,
    deep_copy: Any,
    address: Any,
    show: Any,
    to_text: Any,
    get_item: Any,
    set_item: Any,
    *sizes: Any,
) -> tuple[Callable[..., Any], ...]:
    """Return what takes the place of these methods, in their order."""

    @functools.wraps(to_numpy)
    def numpy(self: torch.Tensor, *, force: bool = False) -> Any:
        array = to_numpy(self, force=force)
        # While a node is open, traced values may be written to the memory of any tensor.
        return attached(array, self) if _state.open_nodes or _trace.is_traced(self) else array

    @functools.wraps(to_array)
    def __array__(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if _trace.is_traced(self):
            note_escape(self, "A NumPy function on a tensor")
        array = to_array(self, *args, **kwargs)
        return array.view(np.ndarray)

    @functools.wraps(to_list)
    def tolist(self: torch.Tensor) -> Any:
        if _trace.is_traced(self):
            note_escape(self, ".tolist()")
        with _trace.Unobserved():
            return to_list(self)

    @functools.wraps(deep_copy)
    def __deepcopy__(self: torch.Tensor, memo: dict[int, Any]) -> Any:  # noqa: N807
        # PyTorch copies the memory itself, which no operator shows.
        if id(self) in memo or not self.is_leaf or not _trace.is_traced(self):
            return deep_copy(self, memo)
        made = self.detach().clone().requires_grad_(self.requires_grad)
        memo[id(self)] = made
        return made

    @functools.wraps(address)
    def data_ptr(self: torch.Tensor) -> int:
        if _state.open_nodes and _surroundings.called_by_user() and _trace.is_traced(self):
            note_escape(self, ".data_ptr()")
        return int(address(self))

    @functools.wraps(show)
    def __repr__(self: torch.Tensor, **kwargs: Any) -> Any:  # noqa: N807
        with _trace.Unobserved():  # showing a value is not using it
            return show(self, **kwargs)

    @functools.wraps(to_text)
    def __format__(self: torch.Tensor, spec: str) -> Any:  # noqa: N807
        with _trace.Unobserved():
            return to_text(self, spec)

    @functools.wraps(get_item)
    def __getitem__(self: torch.Tensor, index: Any) -> Any:  # noqa: N807
        dynamic = _indexing.split(index)
        return get_item(self, index) if dynamic is None else _indexing.get(self, index, *dynamic)

    @functools.wraps(set_item)
    def __setitem__(self: torch.Tensor, index: Any, value: Any) -> None:  # noqa: N807
        if isinstance(value, (TracedArray, Number)):
            value = to_tensor(value)
        dynamic = _indexing.split(index)
        if dynamic is None:
            set_item(self, index, value)
        else:
            _indexing.put(self, index, *dynamic, value)

    return (
        numpy,
        __array__,
        tolist,
        __deepcopy__,
        data_ptr,
        __repr__,
        __format__,
        __getitem__,
        __setitem__,
        *map(_size_method, sizes),
    )


def _patch_constructors() -> None:
    """Let arrays and tensors made of traced values stay traced."""
    for owner, values in _numpy_lists.replacements():
        _patches.update(owner, values)
    _replace(np, ("array", "asarray", "asanyarray", "ascontiguousarray"), _array_constructor)
    constants = ("zeros", "ones", "empty", "eye", "identity", "arange", "linspace")
    _replace(np, constants, _constant_constructor)
    _replace(np, ("full",), _full_constructor)
    _replace(torch, ("tensor", "as_tensor"), _tensor_constructor)
    _replace(torch, ("from_numpy",), _from_numpy)
    _replace(np, ("from_dlpack",), _from_dlpack)


def _replace(owner: Any, names: Iterable[str], wrap: Callable[[Any], Any]) -> None:
    """Put around these functions of a module or class what wrap() makes of them."""
    _patches.update(owner, {name: wrap(getattr(owner, name)) for name in names})


#: Random functions of NumPy and of Python. Those of a NumPy Generator cannot be replaced.
_NUMPY_DRAWS = (
    "choice", "exponential", "normal", "permutation", "rand", "randint", "randn", "random",
    "random_sample", "standard_normal", "uniform",
)  # fmt: skip
_PYTHON_DRAWS = (
    "choice", "choices", "expovariate", "gauss", "normalvariate", "randint", "random", "randrange",
    "sample", "shuffle", "triangular", "uniform",
)  # fmt: skip


def _patch_random() -> None:
    """Name the numbers that are drawn inside a node."""
    _replace(np.random, _NUMPY_DRAWS, functools.partial(_drawing, "np.random"))
    _replace(np.random, ("default_rng",), _generator_constructor)
    _replace(random, _PYTHON_DRAWS, functools.partial(_drawing, "random"))


@functools.cache
def _drawing(module: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def draw(*args: Any, **options: Any) -> Any:
        if _state.open_nodes and _surroundings.called_by_user():
            _surroundings.warn_once(
                f"{module}.{original.__name__}() draws random numbers while a node is open: what "
                f"it uses of them is exported as a constant. If they are meant to change, pass "
                f"them through annotate.input_tensors()."
            )
        return original(*args, **options)

    return draw


@functools.cache
def _generator_constructor(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def construct(*args: Any, **options: Any) -> Any:
        generator = original(*args, **options)
        if _state.open_nodes and _surroundings.called_by_user():
            _surroundings.follow(generator, "np.random.default_rng()")
        return generator

    return construct


def _patch_checks() -> None:
    """Let distributions check their parameters without it counting as a branch of the program."""
    _replace(torch.distributions.Distribution, ("__init__", "_validate_sample"), _unobserved)


@functools.cache
def _unobserved(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def check(*args: Any, **options: Any) -> Any:
        with _trace.Unobserved():
            return original(*args, **options)

    return check


@functools.cache
def _array_constructor(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's ``array`` or a relative of it that keeps traced values traced."""
    copies = original.__name__ == "array"

    @functools.wraps(original)
    def construct(*args: Any, **options: Any) -> Any:
        if not args or type(args[0]) is np.ndarray:
            return original(*args, **options)
        data = args[0]
        if not may_hold_traced(data):
            return fresh(original(*args, **options))
        if isinstance(data, LISTS):
            return _array_of(data, original(_numbers(data), *args[1:], **options))
        if isinstance(data, Number):
            data = data._array
        if isinstance(data, torch.Tensor):
            if not _state.open_nodes and not is_traced(data):
                return original(*args, **options)
            data = data.numpy()
        dtype = args[1] if len(args) > 1 else options.get("dtype")
        result = data if dtype is None else data.astype(dtype, copy=False)
        if result is data and options.get("copy", copies):
            result = data.copy()
        if original.__name__ == "ascontiguousarray" and not result.flags.c_contiguous:
            result = result.copy()
        while result.ndim < options.get("ndmin", 0):
            result = result[None]
        return result

    return construct


def _array_of(data: Sequence[Any], made: np.ndarray[Any, Any]) -> Any:
    """Return the array NumPy made of a list, put together out of the traced values in it."""
    if not _state.open_nodes and not holds_traced(data):
        return made
    try:
        stacked = _stacked(data, from_numpy(made))
    except TypeError:  # a type that PyTorch does not have
        stacked = None
    if stacked is not None:
        return traced_view(stacked)
    for value in _leaves(data):
        if is_traced(value):
            note_escape(value, "An array made of a list")
            return made
    return fresh(made)


@functools.cache
def _constant_constructor(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def construct(*args: Any, **options: Any) -> Any:
        return fresh(original(*args, **options))

    return construct


@functools.cache
def _full_constructor(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def construct(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
        if not isinstance(fill_value, (TracedArray, Number)) and not is_traced(fill_value):
            return fresh(original(shape, fill_value, dtype, **options))
        result = np.empty(shape, fill_value.dtype if dtype is None else dtype, **options)
        result[...] = fill_value
        return result

    return construct


@functools.cache
def _tensor_constructor(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``torch.tensor`` or ``torch.as_tensor`` that keep traced values in lists traced."""

    @functools.wraps(original)
    def construct(*args: Any, **options: Any) -> Any:
        data = args[0] if args else options.get("data")
        if _state.open_nodes and isinstance(data, (np.ndarray, np.generic)):
            _surroundings.drawn()
        if isinstance(data, (TracedArray, Number)):
            made = to_tensor(data).to(dtype=options.get("dtype"), device=options.get("device"))
            if original.__name__ == "as_tensor":
                return made
            made = made.detach().clone()
            return made.requires_grad_() if options.get("requires_grad") else made
        if not isinstance(data, LISTS) or not may_hold_traced(data):
            made = original(*args, **options)
            if isinstance(data, np.ndarray) and not _state.open_nodes:
                _trace.note_made(made)
            return made
        # Elements of arrays may be state that is in its first pass.
        elements = any(isinstance(leaf, (TracedArray, Number)) for leaf in _leaves(data))
        if not elements and not holds_traced(data):
            return original(*args, **options)
        with _trace.Unobserved():  # raises what it would raise without LEAPP
            made = original(_numbers(data), *args[1:], **_without(options, "data"))
        stacked = _stacked(data, made)
        if stacked is None:
            return original(*args, **options)  # reads numbers, each with its warning
        stacked = stacked.to(made.device)
        return stacked.requires_grad_() if options.get("requires_grad") else stacked

    return construct


@functools.cache
def _from_numpy(original: Callable[[Any], torch.Tensor]) -> Callable[[Any], torch.Tensor]:
    @functools.wraps(original)
    def construct(array: Any) -> torch.Tensor:
        if _state.open_nodes:
            _surroundings.drawn()
            if isinstance(array, TracedArray) and min(array.strides, default=0) >= 0:
                return to_tensor(array).detach()  # which the recorder sees being made
            return original(array)
        made = original(array)
        _trace.note_made(made)
        return made

    return construct


@functools.cache
def _from_dlpack(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def from_dlpack(given: Any, /, **options: Any) -> Any:
        array = original(given, **options)
        if isinstance(given, torch.Tensor) and (_state.open_nodes or is_traced(given)):
            return attached(array, given)
        return array

    return from_dlpack


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != name}


def _numbers(data: Any) -> Any:
    """Return nested lists with NumPy's own numbers where elements of traced arrays were."""
    if isinstance(data, LISTS):
        return [_numbers(item) for item in data]
    if isinstance(data, Number):
        return plain(data)
    return data.view(np.ndarray)[()] if isinstance(data, TracedArray) else data


def _stacked(data: Sequence[Any], made: torch.Tensor) -> torch.Tensor | None:
    """Return what was made of a list, put together out of its values; None if that fails."""
    try:
        found = _stack(data).to(made.dtype)
        if found.shape != made.shape:
            found = found.reshape(made.shape)
    except (RuntimeError, TypeError):
        return None
    with _trace.Unobserved():
        same = torch.allclose(found.detach().cpu(), made.detach().cpu(), equal_nan=True)
    return found if same else None


def _leaves(data: Any) -> list[Any]:
    if isinstance(data, LISTS):
        return [leaf for item in data for leaf in _leaves(item)]
    return [data]


def _stack(data: Any) -> torch.Tensor:
    if isinstance(data, LISTS):
        items = [_stack(item) for item in data]
        dtype = functools.reduce(torch.promote_types, (item.dtype for item in items))
        return torch.stack([i if i.dtype == dtype else i.to(dtype) for i in items])
    if isinstance(data, (np.ndarray, Number)):
        return to_tensor(data)
    return data if isinstance(data, torch.Tensor) else torch.scalar_tensor(data)


def _patch_function(patch: FunctionPatch) -> None:
    """Put a user's replacement in place; inside of it the original is back."""
    original = getattr(patch.module, patch.function_name)
    inside = threading.local()

    @functools.wraps(original)
    def patched(*args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        if getattr(inside, "now", False) or not any(map(holds_traced, values)):
            return original(*args, **kwargs)
        inside.now = True
        try:
            return patch.replacement(*args, **kwargs)
        finally:
            inside.now = False

    _patches.set(patch.module, patch.function_name, patched)
