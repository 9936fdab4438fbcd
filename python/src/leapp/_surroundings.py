"""What lies around a node and takes part in it without any operator showing it.

When a node is first opened, the objects that the calling code can reach are looked through, once:

- NumPy arrays they hold are replaced by traced ones over the same memory, so that a buffer that
  is written inside a node becomes state like any other;
- random generators are remembered: one that was used while the node was open gave it numbers that
  are exported as constants;
- plain numbers and tensors are remembered: what has been replaced by the end of a session in which
  the node ran once may be a counter, or state, that only a second pass would show.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import random
import re
import sys
import sysconfig
import textwrap
from collections.abc import Iterator, MutableSequence
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

from . import _state, _trace
from ._numpy import TracedArray, attached, is_traced

#: How much is looked at: enough for a policy, a moment for a simulator.
_MOST_OBJECTS, _MOST_FRAMES = 1000, 12

_LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_NUMBERS = (bool, int, float)
_Generator = np.random.Generator | np.random.RandomState | random.Random

#: A name for it, the dict that holds it, its key there, its value, the class or module it is of.
_Number = tuple[str, dict[str, Any], str, Any, Any]

#: (where it is held, key, the array, its traced view), to be put back.
_replaced: list[tuple[Any, Any, Any, Any]] = []
#: Generators by id, with a name for each and the state it was last seen in.
_generators: dict[int, tuple[_Generator, str, Any]] = {}
#: Numbers as a node's first pass found them, by node.
_numbers: dict[str, list[_Number]] = {}
#: Tensors and arrays likewise, in the order in which a value holds them.
_tensors: dict[str, list[tuple[str, Any, Any, list[Any]]]] = {}
#: What the same places held after the first pass.
_after: dict[str, list[list[Any]]] = {}
#: What annotations named in the first pass of each node.
_named: dict[str, list[Any]] = {}
#: How often each node was opened.
_passes: collections.Counter[str] = collections.Counter()
#: Where each node was opened first.
_places: dict[str, str] = {}
#: What to say of a node that is traced only once.
_suspicions: dict[str, list[str]] = {}
_said: set[str] = set()


def reset() -> None:
    """Begin a session."""
    restore()
    _generators.clear()
    _numbers.clear()
    _tensors.clear()
    _after.clear()
    _named.clear()
    _passes.clear()
    _places.clear()
    _suspicions.clear()
    _said.clear()


def restore() -> None:
    """Put the arrays back that were replaced, where they still are."""
    while _replaced:
        holder, key, array, view = _replaced.pop()
        try:
            if holder[key] is view:
                holder[key] = array
        except (KeyError, IndexError):
            pass  # the program has let go of it


def opened(node: str, *objects: Any) -> None:
    """Look around when a node is opened: in its first pass, and shortly in the others."""
    _passes[node] += 1
    if _passes[node] == 2:
        _after[node] = [_leaves_of(holder.get(key)) for _, holder, key, _ in _tensors[node]]
    if _passes[node] > 1:
        return
    _places[node] = _trace.user_location()
    walk = _Walk(_numbers.setdefault(node, []), _tensors.setdefault(node, []))
    for frame in _user_frames():
        walk.visit_globals(frame)
        for name, value in frame.f_locals.items():
            walk.visit(value, name, None, None)
    for value in objects:
        walk.visit(value, type(value).__name__, None, None)
    for generator, name, _ in list(_generators.values()):
        _generators[id(generator)] = (generator, name, _position(generator))


def closed(node: str) -> None:
    """Look for random numbers when the first pass of a node ends."""
    if _passes[node] == 1:
        drawn(f"while node '{node}' was open")


def declared(node: str, values: Any) -> None:
    """Note what an annotation of the first pass names."""
    if _passes[node] == 1:
        _named.setdefault(node, []).extend(_leaves_of(values))


def drawn(when: str = "") -> None:
    """Name the generators that were used since they were last looked at."""
    for key, (generator, name, before) in list(_generators.items()):
        now = _position(generator)
        if now == before:
            continue
        _generators[key] = (generator, name, now)
        warn_once(
            f"{type(generator).__name__} '{name}' drew random numbers"
            f"{' ' + when if when else ' that come in here'}: what a node uses of them is exported "
            f"as a constant. If they are meant to change, pass them through "
            f"annotate.input_tensors()."
        )


def suspect(text: str) -> None:
    """Remember something to say of the open nodes, should they be traced only once."""
    place = f"{_trace.user_location()}: {text}"
    for node in _state.open_nodes:
        if _passes[node] == 1 and place not in _suspicions.setdefault(node, []):
            _suspicions[node].append(place)


def called_by_user() -> bool:
    """Whether the function that calls a patched one is the user's."""
    return _is_users(sys._getframe(2))


def finish() -> list[str]:
    """Return what only a second pass could have decided, at the end of a session."""
    sentences: list[str] = []
    for node, numbers in _numbers.items():
        sentences += _changed_numbers(node, numbers)
        if _passes[node] != 1:
            sentences += _kept_tensors(node)
            continue
        for place in _suspicions.get(node, []):
            sentences.append(
                f"{place} while node '{node}' is open, which was traced once. What it computes "
                f"with it is exported as a constant: pass it through annotate.input_tensors(), or "
                f"trace a second pass to find out."
            )
        sentences += _replaced_tensors(node)
    return sentences


def _changed_numbers(node: str, numbers: list[_Number]) -> Iterator[str]:
    """Yield a sentence for each number of the program that the node may depend on."""
    for owner, holder, key, before, of in numbers:
        now = _size_of(holder.get(key))
        if now is None or type(now) is not type(before) or now == before:
            continue
        if isinstance(of, ModuleType) and not _is_rebound(of, key):
            continue  # a loop's variable, say
        if _passes[node] == 1:
            yield (
                f"'{owner}' was {before} when node '{node}' was opened ({_places[node]}) and is "
                f"{now} now. If the node computes with it, its value is exported as a constant: "
                f"keep it in a tensor to make it state, or trace a second pass to find out."
            )
        elif any(_decides(part, key) for part in getattr(of, "__mro__", (of,))):
            yield (
                f"'{owner}' went from {before} to {now} over {_passes[node]} passes of node "
                f"'{node}' ({_places[node]}), and the program chooses by it: what none of these "
                f"passes did is not exported. Keep it in a tensor, and choose with torch.where()."
            )


@functools.cache
def _source_of(owner: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(owner))
    except (OSError, TypeError):
        return ""


def _is_rebound(module: ModuleType, name: str) -> bool:
    """Whether a function of the module assigns to that variable of it."""
    return re.search(rf"^\s*global\b.*\b{re.escape(name)}\b", _source_of(module), re.M) is not None


@functools.cache
def _decides(owner: Any, name: str) -> bool:
    """Whether code of the class or module chooses by that attribute or variable."""
    try:
        tree = ast.parse(_source_of(owner))
    except SyntaxError:
        return False
    choices: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            choices.append(node.test)
        elif isinstance(node, ast.Subscript):
            choices.append(node.slice)
        elif isinstance(node, ast.Match):
            choices.append(node.subject)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            choices.append(node)
    return any(
        (isinstance(part, ast.Attribute) and part.attr == name)
        or (isinstance(part, ast.Name) and part.id == name and isinstance(owner, ModuleType))
        for choice in choices
        for part in ast.walk(choice)
    )


def _replaced_tensors(node: str) -> Iterator[str]:
    """Yield a sentence for each value of the program that may be state of the node."""
    named = {id(value) for value in _named.get(node, [])}
    for owner, holder, key, before in _tensors[node]:
        known = {id(value) for value in before}
        new = [value for value in _leaves_of(holder.get(key)) if id(value) not in known]
        if before:
            suspicious = any(id(value) not in named and _was_read(value) for value in before)
        else:  # nothing was there yet
            new = [value for value in new if id(value) not in named and _is_value(value)]
            suspicious = True
        if not new or not suspicious:
            continue
        yield (
            f"'{owner}' was replaced while node '{node}' ({_places[node]}) was traced once. If the "
            f"node reads it in the next tick, it is state, and what it held at first is exported "
            f"as a constant: trace a second pass, or declare it with annotate.state_tensors()."
        )


def _kept_tensors(node: str) -> Iterator[str]:
    """Yield a sentence for each value of the first pass that no later one has used so far."""
    for (owner, holder, key, before), after in zip(_tensors[node], _after[node], strict=True):
        now = {id(value) for value in _leaves_of(holder.get(key))}
        known = {id(value) for value in before}
        kept = [value for value in after if id(value) in now and id(value) not in known]
        if not before or not any(_is_value(value) and not _was_read(value) for value in kept):
            continue
        yield (
            f"'{owner}' holds a value that the first pass of node '{node}' ({_places[node]}) put "
            f"there and that no later pass has read yet: if one will, as at the end of a delay, it "
            f"is state that {_passes[node]} passes do not show. Trace more passes, or declare it "
            f"with annotate.state_tensors()."
        )


def _is_value(value: Any) -> bool:
    """Whether a tensor or array was computed by a node."""
    if isinstance(value, torch.Tensor):
        return _trace.is_traced(value)
    return isinstance(value, TracedArray) and is_traced(value)


def _was_read(value: Any) -> bool:
    """Whether a node read a tensor or array that was there before it."""
    if isinstance(value, torch.Tensor):
        # A counter may be read as a number, as by tensor[counter], which no operator shows.
        counts = value.numel() == 1 and not value.is_floating_point()
        return counts or _trace.was_read(value)
    return isinstance(value, np.ndarray)


def _may_hold_state(value: Any) -> bool:
    return value is None or isinstance(
        value, (torch.Tensor, np.ndarray, list, tuple, dict, collections.deque)
    )


def _leaves_of(value: Any) -> list[Any]:
    """Return the tensors and arrays in a value that may be nested."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, collections.deque)):
        return [leaf for item in list(value)[:64] for leaf in _leaves_of(item)]
    inner = getattr(value, "ref", None)  # TensorSemantics
    return [inner] if isinstance(inner, (torch.Tensor, np.ndarray)) else []


def warn_once(text: str) -> None:
    """Warn with the user's line, once for each."""
    where = _trace.user_location()
    if (where + text) not in _said:
        _said.add(where + text)
        _trace.warn(text)


class _Walk:
    """One look through everything that can be reached."""

    def __init__(
        self,
        numbers: list[_Number],
        tensors: list[tuple[str, Any, Any, list[Any]]],
    ) -> None:
        self._numbers = numbers
        self._tensors = tensors
        self._seen: set[int] = set()

    def visit_globals(self, frame: FrameType) -> None:
        """Look at the variables of the module that a frame runs in."""
        self._visit_module(sys.modules.get(frame.f_globals.get("__name__", "")))
        for name in frame.f_code.co_names:
            if name in frame.f_globals and type(frame.f_globals[name]) not in _NUMBERS:
                self.visit(frame.f_globals[name], name, frame.f_globals, name)

    def _visit_module(self, module: ModuleType | None) -> None:
        """Look at the numbers among a module's variables."""
        if module is None or id(module) in self._seen:
            return
        self._seen.add(id(module))
        for name, value in list(vars(module).items()):
            if type(value) in _NUMBERS:
                self.visit(value, name, vars(module), name, module)

    def visit(self, value: Any, name: str, holder: Any, key: Any, of: Any = None) -> None:
        """Look at a value that is `holder[key]`; `holder` is None where it cannot be replaced."""
        leaves = _leaves_of(value) if _may_hold_state(value) else []
        if isinstance(holder, dict) and _may_hold_state(value):
            self._tensors.append((name, holder, key, leaves))
        if type(value) is np.ndarray:
            leaves += self._replace(value, holder, key)
            return
        if isinstance(holder, dict) and _size_of(value) is not None:
            self._numbers.append((name, holder, key, _size_of(value), of))
        if isinstance(value, _NUMBERS) or id(value) in self._seen:
            return
        if len(self._seen) > _MOST_OBJECTS:
            return
        self._seen.add(id(value))
        if isinstance(value, _Generator):
            _generators.setdefault(id(value), (value, name, _position(value)))
        elif type(value) is dict:
            for inner, item in list(value.items()):
                self.visit(item, f"{name}[{inner!r}]", value, inner)
        elif isinstance(value, (list, tuple, collections.deque)):
            inside = value if isinstance(value, MutableSequence) else None
            for index, item in enumerate(list(value)[:64]):
                self.visit(item, f"{name}[{index}]", inside, index)
        elif _is_users_object(value):
            self._visit_module(sys.modules.get(type(value).__module__))
            attributes = vars(value)
            for inner, item in list(attributes.items()):
                self.visit(item, f"{name}.{inner}", attributes, inner, type(value))
        elif isinstance(value, torch.nn.Module):
            for inner, item in value.named_children():
                self.visit(item, f"{name}.{inner}", None, None)

    def _replace(self, array: np.ndarray[Any, Any], holder: Any, key: Any) -> list[Any]:
        """Put a traced array in its place, and return it."""
        if holder is None or array.dtype.kind not in "fiub" or not array.flags.writeable:
            return []
        view = attached(array, None)
        view._kept = True
        holder[key] = view
        _replaced.append((holder, key, array, view))
        return [view]


def _size_of(value: Any) -> Any:
    """Return a number as it is, a list of numbers as its length and anything else as None."""
    if type(value) in _NUMBERS:
        return value
    if type(value) is list and all(type(item) in _NUMBERS for item in value):
        return f"of length {len(value)}"
    return None


def _position(generator: _Generator) -> Any:
    """Return where a generator is in its sequence, as something to compare."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    with _trace.Unobserved():  # NumPy makes arrays to answer
        if isinstance(generator, np.random.Generator):
            return repr(generator.bit_generator.state)
        return repr(generator.get_state(legacy=False))


def _is_users_object(value: Any) -> bool:
    if isinstance(value, (type, ModuleType, FunctionType, MethodType, torch.Tensor, TracedArray)):
        return False
    if not hasattr(value, "__dict__"):
        return False
    module = sys.modules.get(type(value).__module__)
    file = getattr(module, "__file__", None)
    return type(value).__module__ == "__main__" or (
        file is not None and not file.startswith(_LIBRARIES)
    )


def _is_users(frame: FrameType | None) -> bool:
    return frame is not None and not frame.f_code.co_filename.startswith((*_LIBRARIES, "<"))


def _user_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        own = frame.f_globals.get("__name__", "").partition(".")[0] == __package__
        if not own and _is_users(frame):
            yield frame
        frame = frame.f_back
