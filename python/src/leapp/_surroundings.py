"""What lies around a node and takes part in it without any operator showing it.

The objects that the calling code can reach are looked through, see _reachable:

- NumPy arrays they hold are replaced by traced ones over the same memory, so that a buffer that
  is written inside a node becomes state like any other; so are numbers of NumPy's that a method
  reads and assigns to;
- a tensor that several places hold, as in ``[zeros] * 3``, is replaced by one of its own in each,
  over the same memory: which place a node reads it from tells what it will read there next;
- random generators are remembered: one that was used while the node was open gave it numbers that
  are exported as constants;
- plain numbers and tensors are remembered: what has been replaced by the end of a session in which
  the node ran once may be a counter, or state, that only a second pass would show.

Nodes that open before any has a second pass share one look, in the name of the first of them.
"""

from __future__ import annotations

import ast
import collections
import dis
import functools
import gc
import inspect
import random
import re
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from types import FunctionType, GeneratorType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from . import _state, _trace
from ._asked import Asked
from ._numpy import TracedArray, is_traced, kept, new_array, to_tensor
from ._numpy_number import number_of
from ._reachable import (
    Place,
    Reachable,
    Snapshot,
    holds_numbers,
    is_iterator,
    is_queue,
    is_users,
    leaves_of,
    may_hold_state,
    size_of,
)

#: What can be reached, and the node that opened first since that was last looked through.
_reachable, _first_node = Reachable(), ""
#: (where it is held, key, the array or tensor, what is there instead), to be put back.
_replaced: list[tuple[Any, Any, Any, Any]] = []
#: Generators by id, with a name for each and the state it was last seen in.
_generators: dict[int, tuple[Any, str, Any]] = {}
#: What there was when the first pass of a node began, and when its second did.
_before: dict[str, Snapshot] = {}
_after: dict[str, Snapshot] = {}
#: What annotations named in the first pass of a node.
_named: list[Any] = []
#: How often each node was opened.
_passes: collections.Counter[str] = collections.Counter()
#: What to say of a node that is traced only once.
_suspicions: dict[str, list[str]] = {}
_said: set[str] = set()
#: What there was when the session began.
_at_start: list[Snapshot] = []

#: So many sentences of one kind are said of a node; the others are in log.txt.
_MOST_SENTENCES = 5


class Doubt(NamedTuple):
    """Something to say at the end of a session."""

    text: str  # begins with a line of the user's
    aloud: bool  # not only in log.txt


def begin() -> None:
    """Begin a session: look at what is there already."""
    restore()
    _clear()
    _reachable.visit_frames()
    gc.collect(0)  # what was made here is due for it, and would have it in the first pass


def put_everywhere(other: Any, value: Any) -> None:
    """Let the modules of the program that hold a value by name hold another meanwhile."""
    for variables in _reachable.modules():
        for name in [name for name, held in variables.items() if held is value]:
            _replace(variables, name, value, other)


def rehearse() -> None:
    """Go through what the first pass will, so that it finds everything at hand."""
    global _first_node
    opened("start")
    closed("start")
    _clear()
    _first_node = ""
    _at_start.append(_reachable.snapshot())


def _clear() -> None:
    for table in (_generators, _before, _after, _named, _passes, _suspicions, _said, _at_start):
        table.clear()


def restore() -> None:
    """Put back what was replaced, where that still is, and let go of everything."""
    global _reachable, _first_node
    _reachable, _first_node = Reachable(), ""
    while _replaced:
        holder, key, value, other = _replaced.pop()
        if _is_there(holder, key, other):
            holder[key] = value


def opened(node: str, *objects: Any) -> None:
    """Look around when a node is opened: in its first pass, and shortly in the second."""
    global _reachable, _first_node
    _passes[node] += 1
    if _passes[node] > 1:
        if node in _before and node not in _after:
            _after[node] = _reachable.snapshot()
        _state.settled.add(node)
        return
    if _after:  # others are in their second pass: what was found before their first is old
        _reachable, _first_node = Reachable(), ""
    is_first = not _first_node
    if is_first:
        _reachable.look_again()
    if not (_reachable.visit_frames() or is_first or objects or _reachable.generators):
        return  # the same call as before, further down
    for value in objects:
        _reachable.visit(value, type(value).__name__)
    _replace_values()
    for generator, name in _reachable.generators:
        follow(generator, name)
    if is_first:
        _first_node = node
        _before[node] = _reachable.snapshot()


def _replace_values() -> None:
    """Put traced arrays in the places of arrays, and own tensors in those of shared ones."""
    while _reachable.arrays:
        holder, key, array = _reachable.arrays.pop()
        if _is_there(holder, key, array):
            _replace(holder, key, array, kept(array))
    while _reachable.numbers:
        holder, key, number = _reachable.numbers.pop()
        if _is_there(holder, key, number) and _carries(_reachable.class_of(holder), key):
            _replace(holder, key, number, number_of(kept(new_array(number))))
    if not _reachable.shared:
        return
    with _trace.Unobserved():
        while _reachable.shared:
            holder, key, tensor = _reachable.shared.pop()
            if _is_there(holder, key, tensor):
                _replace(holder, key, tensor, tensor.detach())


def _replace(holder: Any, key: Any, value: Any, other: Any) -> None:
    holder[key] = other
    _replaced.append((holder, key, value, other))


def _is_there(holder: Any, key: Any, value: Any) -> bool:
    try:
        return holder[key] is value
    except (KeyError, IndexError):
        return False  # the program has let go of it


def closed(node: str) -> None:
    """Look for random numbers when the first pass of a node ends."""
    if _generators and _passes[node] == 1:
        drawn(f"while node '{node}' was open")


def declared(node: str, values: Any) -> None:
    """Note what an annotation of the first pass names."""
    if _passes[node] == 1:
        _named.append(dict(values) if type(values) is dict else values)


def may_be_state(values: Iterable[torch.Tensor]) -> bool:
    """Whether each of these comes from something that the program replaces as it goes."""
    kept = {
        leaf.untyped_storage()._cdata
        for snapshot in _before.values()
        for place in snapshot.places()
        if _is_replaced(place)
        for leaf in map(to_tensor, snapshot.leaves_of(place.value))
    }
    return all(
        any(tensor.untyped_storage()._cdata in kept for tensor in _trace.outside_of(value))
        or _trace.is_traced(value)
        for value in values
    )


def _is_replaced(place: Place) -> bool:
    """Whether code of the program replaces what is there, or what a container there holds."""
    if not may_hold_state(place.value) or place.value is None:
        return False
    of = place.holder.of
    if isinstance(of, ModuleType):
        return _is_rebound(of, place.key)
    inside = not isinstance(place.value, (torch.Tensor, np.ndarray))
    return not isinstance(of, type) or inside or _carries(of, place.key)


def follow(generator: Any, name: str) -> None:
    """Remember a random generator, to say so when it is used."""
    _generators[id(generator)] = (generator, name, _position(generator))


def drawn(when: str = "") -> None:
    """Name the generators that were used since they were last looked at."""
    for key, (generator, name, before) in list(_generators.items()):
        now = _position(generator)
        if now == before:
            continue
        _generators[key] = (generator, name, now)
        what = "gave out values" if is_iterator(generator) else "drew random numbers"
        warn_once(
            f"{type(generator).__name__} '{name}' {what}"
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
    return is_users(sys._getframe(2))


def finish() -> list[Doubt]:
    """Return what only a second pass could have decided, at the end of a session."""
    doubts: list[Doubt] = []
    for node, before in _before.items():
        of_tensors = _replaced_tensors(node) if _passes[node] == 1 else _kept_tensors(node)
        doubts += _limited(node, _changed_numbers(node, before))
        doubts += _limited(node, of_tensors)
    for node, passes in _passes.items():
        if passes == 1:
            doubts += _limited(node, _raw_tensors(node))
    for node, suspicions in _suspicions.items():
        doubts += _limited(node, _suspected(node, suspicions if _passes[node] == 1 else []))
    return doubts


def _limited(node: str, sentences: Iterator[str]) -> Iterator[Doubt]:
    """Yield doubts of one kind, and after some of them only how many more there are."""
    all_of_them = list(sentences)
    more = len(all_of_them) - _MOST_SENTENCES
    for count, sentence in enumerate(all_of_them):
        if count == _MOST_SENTENCES:
            others = "another one" if more == 1 else f"{more} others"
            yield Doubt(
                f"{_trace.opened_at(node)}: of node '{node}' the same holds for {others}, which "
                f"log.txt lists.",
                aloud=True,
            )
        yield Doubt(sentence, aloud=count < _MOST_SENTENCES)


def _suspected(node: str, suspicions: list[str]) -> Iterator[str]:
    for place in suspicions:
        yield (
            f"{place} while node '{node}' is open, which was traced once. What it computes "
            f"with it is exported as a constant: pass it through annotate.input_tensors(), or "
            f"trace a second pass to find out."
        )


def _changed_numbers(node: str, snapshot: Snapshot) -> Iterator[str]:
    """Yield a sentence for each number of the program that the node may depend on."""
    for place in snapshot.places():
        owner, holder, key, _ = place
        of, before, now = holder.of, snapshot.size_of(place.value), size_of(place.now())
        if now is None or type(now) is not type(before) or now == before:
            continue
        once = _passes[node] == 1
        if once and not holds_numbers(place.value):
            continue  # what a list of tensors holds is looked at elsewhere
        if isinstance(of, ModuleType) and not _is_rebound(of, key):
            continue  # a loop's variable, say
        if once:
            yield (
                f"{_trace.opened_at(node)}: '{owner}' was {before} when node '{node}' was opened "
                f"and is {now} now. If the node computes with it, its "
                f"value is exported as a constant: keep it in a tensor to make it state, or trace "
                f"a second pass to find out."
            )
        elif _is_chosen_by(place, snapshot):
            before, now = (str(size).removeprefix("of ") for size in (before, now))
            yield (
                f"{_trace.opened_at(node)}: '{owner}' went from {before} to {now} over the passes "
                f"of node '{node}', and the program chooses by it: what none of "
                f"these passes did is not exported. Keep it in a tensor, and choose with "
                f"torch.where()."
            )


@functools.cache
def _source_of(owner: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(owner))
    except (OSError, TypeError):
        if not isinstance(owner, type):
            return ""
        # A class of a module that is not registered is found by its functions.
        functions = [item for item in vars(owner).values() if isinstance(item, FunctionType)]
        return "\n".join(map(_source_of, functions))


def _is_rebound(module: ModuleType, name: str) -> bool:
    """Whether a function of the module assigns to that variable of it."""
    return re.search(rf"^\s*global\b.*\b{re.escape(name)}\b", _source_of(module), re.M) is not None


def _is_chosen_by(place: Place, snapshot: Snapshot) -> bool:
    """Whether code that works with a place of the program chooses by what is there."""
    words, of = _words(place.name), place.holder.of
    owners = of.__mro__ if isinstance(of, type) else () if of is None else (of,)
    if any(words & _names_of(owner, choices=False) for owner in owners):
        return any(words & _names_of(owner, choices=True) for owner in owners)
    # Nobody in particular works with it: a plain container, or an object that only holds values.
    return any(words & _names_of(module, choices=True) for module in snapshot.modules())


def _words(owner: str) -> set[str]:
    """Return the last name in a label like ``agent.counts['n']``, and its keys."""
    return set(re.findall(r"[A-Za-z_]\w*", owner.rpartition(".")[2]))


@functools.cache
def _names_of(owner: Any, choices: bool) -> set[str]:
    """Return the names in the code of a class, module or function: all, or those it chooses by."""
    try:
        tree = ast.parse(_source_of(owner))
    except SyntaxError:
        return set()
    if choices:
        return _names_in(_choices_in(tree))
    fields = [item for item in ast.walk(tree) if isinstance(item, ast.AnnAssign)]  # of a dataclass
    return _names_in([tree]) - {
        item.target.id for item in fields if isinstance(item.target, ast.Name)
    }


def _choices_in(tree: ast.AST) -> list[ast.AST]:
    choices: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            choices.append(node.test)
        elif isinstance(node, ast.Match):
            choices.append(node.subject)
        elif isinstance(node, ast.Compare) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv))
        ):
            choices.append(node)
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            choices.append(node.slice)
        elif isinstance(node, ast.Return) and isinstance(node.value, (ast.Attribute, ast.Name)):
            choices.append(node.value)
    return choices


def _names_in(trees: list[ast.AST]) -> set[str]:
    found: set[str] = set()
    for part in (part for tree in trees for part in ast.walk(tree)):
        if isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
    return found


def _raw_tensors(node: str) -> Iterator[str]:
    """Yield a sentence for each tensor that came up during the session and may do so again."""
    raw = _trace.raw_constants_of(node)
    if not raw:
        return
    _reachable.look_again()
    held = {
        leaf.untyped_storage()._cdata: place
        for place in _reachable.snapshot().places()
        if place.holder.of is not None or "." in place.name.partition("[")[0]
        for leaf in leaves_of(place.value)
        if isinstance(leaf, torch.Tensor)
    }
    for tensor, where in raw:
        place = held.get(tensor.untyped_storage()._cdata)
        if place is not None and not _is_another_than_at_start(place):
            continue  # made once, and kept
        what = "a tensor" if place is None else f"'{place.name}', a tensor"
        yield (
            f"{where}: node '{node}' uses {what} of shape {list(tensor.shape)} that "
            f"{'' if place is None else 'was replaced during the session and '}is not among its "
            f"inputs: its present value is exported as a constant. If it varies, pass it "
            f"through annotate.input_tensors()."
        )


def _is_another_than_at_start(place: Place) -> bool:
    """Whether a place held another tensor when the session began."""
    before = _at_start[0].find(place) if _at_start else None
    return isinstance(before, torch.Tensor) and before is not place.value


def _carries(owner: Any, name: str) -> bool:
    """Whether code of the class carries a value in that attribute from one call to the next."""
    return isinstance(owner, type) and any(name in _carried_by(part) for part in owner.__mro__)


@functools.cache
def _carried_by(owner: type) -> set[str]:
    """Return the attributes that a method of the class both reads and assigns to."""
    found: set[str] = set()
    for name, method in vars(owner).items():
        if not isinstance(method, FunctionType) or name == "__init__":
            continue
        used: dict[str, set[Any]] = {"LOAD": set(), "STORE": set()}
        for step in dis.get_instructions(method):
            how, _, what = step.opname.partition("_")
            if what in ("ATTR", "METHOD") and how in used:
                used[how].add(step.argval)
        found |= used["LOAD"] & used["STORE"]
    return found


def _kept_state(snapshot: Snapshot) -> Iterator[tuple[Place, list[Any]]]:
    """Yield the places that may hold state, with the tensors and arrays they held."""
    for place in snapshot.places():
        of = place.holder.of
        plain = holds_numbers(place.value) and not is_queue(place.value)
        if plain and isinstance(of, ModuleType) and not _is_rebound(of, place.key):
            continue  # a loop's variable, say
        if may_hold_state(place.value):
            yield place, snapshot.leaves_of(place.value)


def _replaced_tensors(node: str) -> Iterator[str]:
    """Yield a sentence for each value of the program that may be state of the node."""
    named = {id(value) for values in _named for value in leaves_of(values)}
    for place, before in (*_kept_state(_before[node]), *_made_places(_before[node])):
        known = set(map(id, before))
        new = [value for value in leaves_of(place.now()) if id(value) not in known]
        if before:
            suspicious = any(id(value) not in named and _was_read(value) for value in before)
        else:  # nothing was there yet
            new = [value for value in new if id(value) not in named and _is_value(value)]
            suspicious = True
        if not new or not suspicious:
            continue
        yield (
            f"{_trace.opened_at(node)}: '{place.name}' was replaced while node '{node}' was "
            f"traced once. If the node reads it in the next tick, it is state, and what it held "
            f"at first is exported as a constant: trace a second pass, or declare it with "
            f"annotate.state_tensors()."
        )


def _made_places(snapshot: Snapshot) -> Iterator[tuple[Place, list[Any]]]:
    """Yield the places that came up since and that the program had asked for."""
    made = list(snapshot.new_places())
    asked = Asked([_source_of(module) for module in snapshot.modules()]) if made else None
    for place in made:
        of = place.holder.of
        if isinstance(of, ModuleType) and not _is_rebound(of, place.key):
            continue
        if asked is not None and asked.may_ask(place.holder, place.key):
            yield place, []


def _kept_tensors(node: str) -> Iterator[str]:
    """Yield a sentence for each value of the first pass that no later one has used so far."""
    places = list(_kept_state(_before[node]))
    known = {id(value) for _, before in places for value in before}
    now = {id(value) for place, _ in places for value in leaves_of(place.now())}
    for place, before in places:
        after = _after[node].leaves_of(_after[node].find(place))
        kept = [value for value in after if id(value) in now and id(value) not in known]
        if not before or not any(_is_value(value) and not _was_read(value) for value in kept):
            continue
        yield (
            f"{_trace.opened_at(node)}: '{place.name}' holds a value that the first pass of node "
            f"'{node}' put there and that no later pass has read yet: if one "
            f"will, as at the end of a delay, it is state that the passes so far do not show. "
            f"Trace more passes, or declare it with annotate.state_tensors()."
        )


def _is_value(value: Any) -> bool:
    """Whether a tensor or array was computed by a node, or went into one."""
    if isinstance(value, torch.Tensor):
        return _trace.is_traced(value) or _trace.was_input(value)
    return isinstance(value, TracedArray) and is_traced(value)


def _was_read(value: Any) -> bool:
    """Whether a node read a tensor or array that was there before it."""
    if isinstance(value, torch.Tensor):
        # A counter may be read as a number, as by tensor[counter], which no operator shows.
        counts = value.numel() == 1 and not value.is_floating_point()
        return counts or _trace.was_read(value)
    return isinstance(value, np.ndarray)


def warn_once(text: str) -> None:
    """Warn with the user's line, once for each."""
    where = _trace.user_location()
    if (where + text) not in _said:
        _said.add(where + text)
        _trace.warn(text)


def _position(generator: Any) -> Any:
    """Return where a generator is in its sequence, as something to compare."""
    if is_iterator(generator):
        return _step(generator)
    if isinstance(generator, random.Random):
        return generator.getstate()
    with _trace.Unobserved():  # NumPy makes arrays to answer
        if isinstance(generator, np.random.Generator):
            return repr(generator.bit_generator.state)
        return repr(generator.get_state(legacy=False))


def _step(value: Any) -> tuple[Any, ...]:
    """Return the numbers that tell how far an iterator has come."""
    if isinstance(value, (int, float)):
        return (value,)
    if isinstance(value, tuple):
        return tuple(number for item in value for number in _step(item))
    if isinstance(value, GeneratorType):
        frame = value.gi_frame
        return () if frame is None else (frame.f_lasti, *_step(tuple(frame.f_locals.values())))
    if not is_iterator(value):
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python means to give this up
            return _step(tuple(value.__reduce__()[1:]))
    except TypeError:  # one that cannot be copied
        return ()
