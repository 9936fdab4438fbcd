"""NumPy arrays whose memory is traced.

``Tensor.numpy()`` of a traced tensor gives a :class:`TracedArray`: an ordinary array over the same
memory that remembers its tensor. Views of it remember the view of the tensor, calls on it are
recorded (``_numpy_calls``), and what takes its values out of the graph is named with the user's
line. The compiled module also knows traced memory by its address, so that ``torch.from_numpy`` of
any array over it is traced as well.
"""

from __future__ import annotations

import collections
import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from . import _state, _trace

if TYPE_CHECKING:
    from types import ModuleType

#: NumPy's own functions: while a session is tracing, the names in its module make traced arrays.
new_array, new_empty = np.array, np.empty
#: What NumPy takes for a list of items.
LISTS = (list, tuple, collections.deque)

#: PyTorch's likewise.
from_numpy = torch.from_numpy

#: Tensors over memory of NumPy's own that was written to, by address. They keep that memory known
#: for the rest of the session: tensors made for single operations are gone before the next one.
_written: dict[int, torch.Tensor] = {}

#: By the id of an array that owns memory, the array and the tensor over it. All tensors over that
#: memory share its storage, whichever part of it a node meets first.
_owners: dict[int, tuple[np.ndarray[Any, Any], torch.Tensor]] = {}


def reset() -> None:
    """Forget the memory of the former session."""
    _written.clear()
    _owners.clear()


class TracedArray(np.ndarray[Any, Any]):
    """A NumPy array in traced memory: behaves like any other, and its use is recorded."""

    #: The tensor over exactly these elements, where it is known.
    _tensor: torch.Tensor | None = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Run a ufunc on NumPy and on PyTorch."""
        return _calls().ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Run any other NumPy function on NumPy and on PyTorch."""
        return _calls().function(func, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        """Index; an element comes back as a number that stays traced."""
        return _calls().get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write; PyTorch does it, so that it is recorded."""
        _calls().set_item(self, index, value)

    def _note_size(self) -> None:
        if self._tensor is not None and _state.open_nodes:
            _trace.note_size(self._tensor)

    def __len__(self) -> int:
        """Count the items; where values decided that, it is said."""
        self._note_size()
        return len(plain(self))

    @property
    def size(self) -> int:
        """The number of elements."""
        self._note_size()
        return plain(self).size  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        self._note_size()
        return plain(self).shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, value: Any) -> None:
        np.ndarray.shape.__set__(self, value)  # type: ignore[attr-defined]

    @property
    def T(self) -> Any:  # noqa: N802
        """The array with its dimensions reversed."""
        return self.transpose()

    @property
    def ctypes(self) -> Any:
        """The memory for C functions, which leaves the graph."""
        return left(self, ".ctypes").ctypes

    @property
    def flat(self) -> Any:
        """An iterator over the elements, which leaves the graph."""
        return left(self, ".flat").flat

    def __bool__(self) -> bool:
        """Leave the graph."""
        return bool(left(self, "if array"))

    def __int__(self) -> int:
        """Leave the graph."""
        return int(left(self, "int()"))

    def __float__(self) -> float:
        """Leave the graph."""
        return float(left(self, "float()"))

    def __complex__(self) -> complex:
        """Leave the graph."""
        return complex(left(self, "complex()"))

    def __index__(self) -> int:
        """Leave the graph."""
        return left(self, "use as an index").__index__()

    def __hash__(self) -> int:  # type: ignore[override]
        """Leave the graph; only an element has a hash, as in NumPy."""
        if self.ndim:
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return hash(left(self, "use as a key")[()])

    def __contains__(self, value: Any) -> bool:
        """Leave the graph."""
        return plain(value) in left(self, "in")

    def __round__(self, digits: int = 0) -> Any:
        """Round as NumPy's numbers do, staying traced."""
        return self.round(digits)

    def item(self, *args: Any) -> Any:
        """Return an element as a Python number, which leaves the graph."""
        return left(self, ".item()").item(*args)

    def tolist(self) -> Any:
        """Return the elements as Python numbers, which leaves the graph."""
        return left(self, ".tolist()").tolist()

    def tobytes(self, *args: Any, **kwargs: Any) -> bytes:
        """Return the elements as bytes, which leaves the graph."""
        return left(self, ".tobytes()").tobytes(*args, **kwargs)

    def __format__(self, spec: str) -> str:
        """Format as NumPy does; showing a value is not using it."""
        array = plain(self)
        return format(array[()] if array.ndim == 0 else array, spec)

    def __repr__(self) -> str:
        """Show as NumPy does."""
        return repr(plain(self))

    def __str__(self) -> str:
        """Show as NumPy does."""
        return str(plain(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as a plain array."""
        return plain(self).__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Any:
        """Copy, staying traced."""
        return self.copy()


class Number:
    """An element of a traced array, in an array of its own; see ``_numpy_number``."""

    __slots__ = ("_array",)

    def __init__(self, array: TracedArray) -> None:
        """Take an array without dimensions."""
        self._array = array


def _method(name: str) -> Any:
    """Return a method of TracedArray that does on NumPy and PyTorch what ndarray's does."""
    original = getattr(np.ndarray, name)

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        return _calls().method(name, (self, *args), kwargs)

    method.__name__ = name
    method.__doc__ = original.__doc__
    return method


for _name in (
    "all any argmax argmin argpartition argsort astype byteswap choose clip compress conj "
    "conjugate copy cumprod cumsum diagonal dot fill flatten max mean min nonzero partition prod "
    "put ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take trace "
    "transpose var"
).split():
    setattr(TracedArray, _name, _method(_name))


def plain(value: Any) -> Any:
    """Return the array or number without its class; anything else as it is."""
    if isinstance(value, Number):
        return value._array.view(np.ndarray)[()]
    return value.view(np.ndarray) if isinstance(value, TracedArray) else value


def traced_view(tensor: torch.Tensor) -> TracedArray:
    """Return an array over the tensor's memory whose use is recorded."""
    return attached(torch._C.TensorBase.numpy(tensor.detach()), tensor)


def attached(array: np.ndarray[Any, Any], tensor: torch.Tensor | None) -> TracedArray:
    """Return the array as a traced one. The tensor counts if it is over exactly these elements."""
    view = array.view(TracedArray)
    if tensor is not None and _covers(tensor, array):
        view._tensor = tensor
    return view


def to_tensor(value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory; a tensor is returned as it is."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, Number):
        value = value._array
    array = plain(value)
    if isinstance(value, TracedArray):
        tensor = value._tensor
        if tensor is not None and _covers(tensor, array):
            return tensor
    backwards = tuple(axis for axis, stride in enumerate(array.strides) if stride < 0)
    if backwards:  # PyTorch knows no negative strides
        return torch.flip(to_tensor(np.flip(array, backwards)), backwards)
    known = _in_known_memory(array)
    if known is not None:
        return known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # read-only memory: nobody writes to it here
        if not isinstance(value, TracedArray):
            return from_numpy(array)
        with _trace.Unobserved():  # its memory is met as it is, by whatever works on it
            return from_numpy(array)


def to_written_tensor(value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory that is about to be written to."""
    tensor = to_tensor(value)
    owner = value
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if not isinstance(owner, torch.Tensor):
        _written[torch._C.TensorBase.data_ptr(tensor)] = tensor
    return tensor


def kept(array: np.ndarray[Any, Any]) -> TracedArray:
    """Return an array that the program keeps as a traced one.

    It has one tensor for good, so that passes can tell whether they met the same array.
    """
    owner = _owner_of(array)
    view = array.view(TracedArray)
    with warnings.catch_warnings(), _trace.Unobserved():
        warnings.simplefilter("ignore", UserWarning)  # read-only memory: nobody writes to it here
        try:
            if isinstance(owner, np.ndarray) and id(owner) not in _owners:
                _owners[id(owner)] = (owner, from_numpy(owner))
        except (TypeError, ValueError):  # a type or layout that PyTorch does not have
            return view
    tensor = _in_known_memory(array)
    if tensor is not None and _covers(tensor, array):
        view._tensor = tensor
    return view


def fresh(array: Any) -> Any:
    """Return a new array of constants in memory that the open node knows as its own.

    Traced values written to it are seen then, and its content is not mistaken for state. It is
    what the array holds when it is first used: NumPy's generators fill theirs after asking for it.
    """
    if type(array) is not np.ndarray or not _state.open_nodes or not array.flags.owndata:
        return array
    try:
        dtype = torch_type(array.dtype)
        steps = [step // array.itemsize for step in array.strides]
        view = traced_view(torch.empty_strided(array.shape, steps, dtype=dtype))
    except (TypeError, ValueError):  # a type or layout that PyTorch does not have
        return array
    np.copyto(view.view(np.ndarray), array)
    return view


@functools.cache
def torch_type(dtype: np.dtype[Any]) -> torch.dtype:
    """Return PyTorch's name for a type of elements; TypeError where it has none."""
    with _trace.Unobserved():
        return from_numpy(new_empty(0, dtype)).dtype


def is_traced(value: Any) -> bool:
    """Whether the value is a tensor or an array that the session knows."""
    if isinstance(value, torch.Tensor):
        return _trace.is_traced(value)
    if isinstance(value, (np.ndarray, Number)):
        try:
            return _trace.is_traced(to_tensor(value))
        except TypeError:  # a type that PyTorch does not have
            return False
    return False


def holds_traced(value: Any) -> bool:
    """Whether anything traced is in the value, which may be nested."""
    if isinstance(value, LISTS):
        return any(map(holds_traced, value))
    if isinstance(value, dict):
        return any(map(holds_traced, value.values()))
    return is_traced(value)


def may_hold_traced(data: Any) -> bool:
    """Whether a traced value may be in there; quick for numbers."""
    if isinstance(data, LISTS):
        kinds = set(map(type, data))
        if not any(issubclass(kind, (torch.Tensor, np.ndarray, Number, *LISTS)) for kind in kinds):
            return False
        return any(map(may_hold_traced, data))
    return isinstance(data, (TracedArray, Number, torch.Tensor))


def note_escape(value: Any, how: str, reason: str = "") -> None:
    """Warn that a value leaves the graph, if it is traced or turns out to be state."""
    because = f" ({reason})" if reason else ""
    try:
        tensor = to_tensor(value)
    except TypeError:  # a type that PyTorch does not have
        return
    _trace.note_escape(
        tensor,
        f"{how} takes a traced value out of the graph{because}: whatever is computed from it is "
        f"exported as a constant. Stay with PyTorch to keep it in the model.",
    )


def left(array: TracedArray, how: str) -> np.ndarray[Any, Any]:
    """Say that the array's values leave the graph, and return it without its class."""
    if _state.is_active():
        note_escape(array, how)
    return array.view(np.ndarray)


def _owner_of(array: np.ndarray[Any, Any]) -> Any:
    """Return the tensor whose memory an array lies in, or else the array that it is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base if isinstance(array.base, torch.Tensor) else array


def _in_known_memory(array: np.ndarray[Any, Any]) -> torch.Tensor | None:
    """Return a tensor over an array in memory of a tensor, or of an array that is kept."""
    owner = _owner_of(array)
    if not isinstance(owner, torch.Tensor):
        owner = _owners.get(id(owner), (None, None))[1]
    if owner is None or not array.itemsize:
        return None
    if any(step < 0 or step % array.itemsize for step in array.strides):
        return None
    with _trace.Unobserved():
        memory = owner.untyped_storage()
        distance = array.__array_interface__["data"][0] - memory.data_ptr()
        if distance < 0 or distance % array.itemsize:
            return None
        steps = [step // array.itemsize for step in array.strides]
        made = torch.empty(0, dtype=torch_type(array.dtype))
        return made.set_(memory, distance // array.itemsize, array.shape, steps)


def _covers(tensor: torch.Tensor, array: np.ndarray[Any, Any]) -> bool:
    """Whether the tensor is over exactly the array's elements."""
    if tuple(tensor.shape) != array.shape or tensor.element_size() != array.itemsize:
        return False
    return not array.size or (
        torch._C.TensorBase.data_ptr(tensor) == array.__array_interface__["data"][0]
        and all(
            stride * array.itemsize == step or size == 1
            for stride, step, size in zip(tensor.stride(), array.strides, array.shape, strict=True)
        )
    )


def _calls() -> ModuleType:
    from . import _numpy_calls

    return _numpy_calls
