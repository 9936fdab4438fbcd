"""NumPy arrays whose memory is traced.

``Tensor.numpy()`` of a traced tensor returns a :class:`TracedArray`: an ordinary array over the
same memory with a reference to its tensor. Its views refer to the corresponding view of the tensor,
calls on it are recorded (``calls``), and code that takes its values out of the graph is reported
with the user's line. The compiled module also knows traced memory by its address, so
``torch.from_numpy`` of any array over it is traced too.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from .. import _state, _trace
from . import foreign
from .memory import (
    backwards_in,
    covers,
    from_numpy,
    keep,
    layout_in,
    quietly,
    tensor_of_memory,
    torch_type,
)


class Traced:
    """The common base of arrays and their elements. Showing a value does not count as a use."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return calls.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return calls.function(func, args, kwargs)


class TracedArray(Traced, np.ndarray[Any, Any]):
    """A NumPy array in traced memory: behaves like any other array, and its use is recorded."""

    #: The tensor over these elements, or over a larger part, if it is known; see to_tensor().
    _tensor: torch.Tensor | None = None

    def __getitem__(self, index: Any) -> Any:
        return calls.get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        calls.set_item(self, index, value)

    def view(self, *args: Any, **options: Any) -> Any:
        """Return the array with another type, or as an instance of another class."""
        kind = args[0] if args else options.get("type")
        if kind is np.ndarray and _state.is_active():  # the program must not see this class
            return attached(plain(self), self._tensor)
        if isinstance(kind, type) and issubclass(kind, np.ndarray):
            # Other subclasses, such as NumPy's masked arrays, access the memory directly.
            return left(self, f"a {kind.__name__} of an array").view(*args, **options)
        return super().view(*args, **options)

    def _sized(self) -> np.ndarray[Any, Any]:
        """Return the array to query for a size, which becomes part of the model."""
        if self._tensor is not None and _trace.any_open():
            _trace.note_size(self._tensor)
        return plain(self)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self._sized())

    @property
    def size(self) -> int:
        return self._sized().size

    @property
    def shape(self) -> tuple[int, ...]:
        return self._sized().shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, value: Any) -> None:
        np.ndarray.shape.__set__(self, value)  # type: ignore[attr-defined]

    @property
    def T(self) -> Any:  # noqa: N802
        return self.transpose()

    __hash__ = None

    def __contains__(self, value: Any) -> bool:
        return plain(value) in left(self, "in")

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        return self.copy(order="K")

    __copy__ = __deepcopy__


class Number(_trace.Subscriptable, Traced):
    """An element of a traced array, or the result of a reduction: a number that stays traced.

    NumPy reads the memory of an array directly, whatever its class, so ``np.float32(array[0])``
    would leave the graph unnoticed. Therefore an element is not an array but contains one: code
    that needs its value must call a method, and is reported.
    """

    __slots__ = ("_array",)

    def __init__(self, array: TracedArray) -> None:
        self._array = array

    #: It behaves like a NumPy number, because programs check the types of values.
    __class__ = property(lambda self: self._array.dtype.type)
    __iter__ = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = left(self, "A NumPy number or array made of a traced element")
        return array.astype(dtype or array.dtype)

    def __hash__(self) -> int:
        return hash(left(self, "use as a key")[()])

    def _item(self, index: Any) -> Any:
        """Implement ``self[index]``."""
        return self if index == () else self._array[index]

    def __getattr__(self, name: str) -> Any:
        kind = self.__class__
        if name.startswith("__") or name in ("data", "ctypes") or not hasattr(kind, name):
            raise AttributeError(f"'{kind.__name__}' object has no attribute {name!r}")
        if hasattr(np.ndarray, name):
            return getattr(self._array, name)
        return getattr(left(self, f".{name}")[()], name)

    def __round__(self, digits: int | None = None) -> Any:
        rounded = self._array.round(digits or 0)
        return Integer(array_of(rounded.astype(np.int64))) if digits is None else rounded

    @classmethod
    def __torch_function__(cls, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return calls.of_torch(call, args, kwargs or {})

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        return self

    __copy__ = __deepcopy__


class Integer(Number):
    """The result of ``round()`` of an element: a Python number without a type."""

    __slots__ = ()
    __class__ = property(lambda self: int)


def _unless(others: Any, of_arrays: Any) -> Any:
    """Return an operator that defers to the other operand if it has one of these types."""

    def compute(self: Number, *other: Any) -> Any:
        if other and isinstance(other[0], others):
            return NotImplemented
        return of_arrays(self, *other)

    return compute


#: NumPy's operators for computing. Numbers are immutable and have no in-place operators.
_operators = vars(np.lib.mixins.NDArrayOperatorsMixin)
_in_place = {f"__i{_name[2:]}" for _name in _operators}
for _name, _operator in _operators.items():
    if callable(_operator) and _name not in _in_place:
        _repeated = (list, tuple, str) if _name in ("__mul__", "__rmul__") else ()
        setattr(Number, _name, _unless((torch.Tensor, *_repeated), _operator))


def _method(name: str) -> Any:
    """Return a method of TracedArray that runs ndarray's method on NumPy and PyTorch."""

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        return calls.method(name, (self, *args), kwargs)

    return functools.wraps(getattr(np.ndarray, name))(method)


def _leaving(name: str, how: str) -> Any:
    """Return a method that takes values out of the graph."""

    def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(left(self, how), name)(*args, **kwargs)

    leave.__name__ = name
    return leave


def _showing(name: str) -> Any:
    """Return a method that shows or serialises a value, as NumPy does."""
    return lambda self, *args: getattr(plain(self), name)(*args)


def _leaving_by(name: str) -> Any:
    return property(
        lambda self: getattr(left(self, f".{name}"), name),
        lambda self, value: self.__setitem__(..., np.resize(value, self.shape)),  # array.flat = ..
    )


def _part(name: str) -> Any:
    """Return an attribute that is a view, which one of NumPy's functions also returns."""
    part = getattr(np, name)
    return property(part, lambda self, value: part(self).__setitem__(..., value))


#: Methods that take values out of the graph, with the expression that the program wrote.
_LEAVING = {
    "__bool__": "if array", "__int__": "int()", "__float__": "float()",
    "__complex__": "complex()", "__index__": "use as an index", "item": ".item()",
    "tolist": ".tolist()", "tobytes": ".tobytes()", "tofile": ".tofile()", "dump": ".dump()",
    "dumps": ".dumps()",
}  # fmt: skip
for _name, _how in _LEAVING.items():
    setattr(Traced, _name, _leaving(_name, _how))
for _name in ("__format__", "__repr__", "__str__", "__reduce_ex__"):
    setattr(Traced, _name, _showing(_name))
for _name in ("ctypes", "flat"):
    setattr(TracedArray, _name, _leaving_by(_name))
for _name in ("real", "imag"):
    setattr(TracedArray, _name, _part(_name))

for _name in (
    "all any argmax argmin argpartition argsort astype byteswap choose clip compress conj "
    "conjugate copy cumprod cumsum diagonal dot fill flatten max mean min nonzero partition prod "
    "put ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take trace "
    "transpose var"
).split():
    setattr(TracedArray, _name, _method(_name))


#: Types of values that are followed if they are traced.
ARRAYS = (torch.Tensor, np.ndarray, Number)


def array_of(value: Any) -> Any:
    """Return the array of an element; anything else unchanged."""
    return value._array if isinstance(value, Number) else value


def plain(value: Any) -> Any:
    """Return the array or number without its class; anything else unchanged."""
    if isinstance(value, Number):
        number = np.ndarray.view(value._array, np.ndarray)[()]
        return int(number) if type(value) is Integer else number
    return np.ndarray.view(value, np.ndarray) if isinstance(value, TracedArray) else value


def traced_view(tensor: torch.Tensor) -> TracedArray:
    """Return an array over the tensor's memory whose use is recorded."""
    return attached(torch._C.TensorBase.numpy(tensor.detach()), tensor)


def attached(array: np.ndarray[Any, Any], tensor: torch.Tensor | None = None) -> TracedArray:
    """Return the array as a traced one. The tensor is valid while it is over these elements."""
    foreign.exposed(tensor)
    return _with(tensor, array)


def _with(tensor: torch.Tensor | None, array: np.ndarray[Any, Any]) -> TracedArray:
    view = np.ndarray.view(array, TracedArray)
    view._tensor = tensor
    return view


def to_tensor(value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory; a tensor is returned unchanged."""
    if isinstance(value, torch.Tensor):
        return value
    value = array_of(value)
    array, is_known = plain(value), isinstance(value, TracedArray)
    over: torch.Tensor | None = value._tensor if is_known else None
    if over is not None and covers(over, array):
        return over
    if backwards := backwards_in(array):  # PyTorch does not support negative strides
        forwards = np.flip(array, backwards)
        return torch.flip(to_tensor(attached(forwards, over) if is_known else forwards), backwards)
    if (
        over is not None
        and not _trace.any_open()
        and over.dtype == torch_type(array.dtype)
        and (layout := layout_in(over, array))
    ):
        return over.as_strided(*layout)  # nodes use memory, but wires start at tensors
    if (known := tensor_of_memory(array)) is not None:
        return known
    # Traced memory is used directly, also by code that does not know this class.
    with quietly(unobserved=is_known):
        return from_numpy(array)


def to_written_tensor(value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory before a write to it."""
    keep(value)
    tensor = to_tensor(value)
    foreign.check_first_use(tensor)
    return tensor


def note_written(value: Any) -> None:
    """Report that a node writes to an array that the program owns."""
    if type(value) is np.ndarray and _trace.any_open():
        foreign.written(to_written_tensor(value))


def to_used_tensor(value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory for a recorded call that reads it."""
    tensor = to_tensor(value)
    if isinstance(value, Traced):
        foreign.check_first_use(tensor)
    elif isinstance(value, np.ndarray):
        foreign.check(value, tensor)
    return tensor


def kept(array: np.ndarray[Any, Any]) -> TracedArray:
    """Return an array that the program keeps as a traced one.

    It always has the same tensor, so that passes can recognise the array.
    """
    keep(array)
    return attached(array, tensor_of_memory(array))


def fresh(array: Any) -> Any:
    """Return a new array of constants in memory that belongs to the open node.

    Traced values that are written to it are then recorded, and its content is not mistaken for
    state. Its content is that of its first use, because NumPy's generators fill it after its
    creation.
    """
    if type(array) is not np.ndarray or not _trace.any_open():
        return array
    if not array.flags.owndata:  # a view of memory that nothing else uses
        array = array.copy()
    try:
        dtype = torch_type(array.dtype)
        steps = [step // array.itemsize for step in array.strides]
        tensor = torch.empty_strided(array.shape, steps, dtype=dtype)
        view = _with(tensor, torch._C.TensorBase.numpy(tensor.detach()))
    except (TypeError, ValueError, RuntimeError):
        # PyTorch does not support the type or layout, or wraps tensors, as in torch.func.grad().
        return array
    np.copyto(plain(view), array)
    foreign.made(tensor, array)
    return view


def tensor_or_none(value: Any) -> torch.Tensor | None:
    """Return a tensor over the array's memory, if PyTorch supports its type and layout."""
    try:
        return to_tensor(value)
    except (TypeError, ValueError):
        return None


def is_traced(value: Any) -> bool:
    """Return whether the value is a tensor or an array that the session knows."""
    tensor = tensor_or_none(value) if isinstance(value, ARRAYS) else None
    return tensor is not None and _trace.is_traced(tensor)


def note_escape(value: Any, how: str, reason: str = "", *, pickled: bool = False) -> None:
    """Warn that a value leaves the graph, if it is traced or is found to be state."""
    tensor = tensor_or_none(value)
    if tensor is None:
        return
    foreign.exposed(tensor)
    _trace.note_escape(
        tensor,
        f"{how} takes a traced value out of the graph{reason and f' ({reason})'}. Results "
        "computed from it are exported as constants. Use PyTorch operators to keep it in the "
        "model.",
        pickled,
    )


def left(value: Any, how: str) -> np.ndarray[Any, Any]:
    """Report that values leave the graph, and return them in an array without its class."""
    if _state.is_active():
        note_escape(value, how)
    return np.ndarray.view(array_of(value), np.ndarray)


from . import calls  # noqa: E402 - which is made of what stands here
