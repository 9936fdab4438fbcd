"""Random numbers of NumPy and of Python, and values of iterators: constants once they are exported.

The functions of the two ``random`` modules are replaced. Generators and iterators cannot be, so
those that the program holds are remembered with the position they were seen in: one that has moved
while a node was open gave it values.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import random
import warnings
from types import GeneratorType
from typing import Any

import numpy as np

from .. import _trace
from .._held import state_of
from .._program import iterates
from .._replacing import Patch, in_node, replaced

_NUMPY_DRAWS = (
    "choice exponential normal permutation rand randint randn random random_sample standard_normal "
    "uniform"
)
_PYTHON_DRAWS = (
    "choice choices expovariate gauss normalvariate randint random randrange sample shuffle "
    "triangular uniform"
)
_CURE = "If they are meant to change, pass them through annotate.input_tensors()."


#: By id: a generator or iterator, a name for it and the position it was last seen in.
_followed: dict[int, tuple[Any, str, Any]] = {}
#: How often the system was asked for numbers, which come in no sequence.
_asked = itertools.count()


def patches() -> list[Patch]:
    """Return what to replace: the functions that draw, and what makes generators."""
    return [
        replaced(np.random, _NUMPY_DRAWS, _naming),
        replaced(random, _PYTHON_DRAWS, _naming),
        replaced(np.random, "default_rng", _following),
        replaced(random.SystemRandom, "random getrandbits", _counting),
    ]


def forget() -> None:
    """Let go of the generators of the former session."""
    _followed.clear()


def _naming(original: Any, /, *args: Any, **options: Any) -> Any:
    if in_node():
        module = "random" if isinstance(original.__self__, random.Random) else "np.random"
        _trace.diagnose(
            "LP204",
            f"{module}.{original.__name__}() draws random numbers while a node is open: what it "
            f"uses of them is exported as a constant. {_CURE}",
        )
    return original(*args, **options)


def _following(original: Any, *args: Any, **options: Any) -> Any:
    generator = original(*args, **options)
    if in_node():
        follow(generator, "np.random.default_rng()")
        _trace.await_ends()
    return generator


def _counting(original: Any, *args: Any) -> Any:
    next(_asked)
    return original(*args)


def follow(generator: Any, name: str) -> None:
    """Remember what the program holds, and how far it has come."""
    _followed[id(generator)] = (generator, name, _position(generator))


def drawn(when: str = "that come in here") -> None:
    """Name what was used since it was last looked at."""
    for generator, name, before in list(_followed.values()):
        follow(generator, name)
        if _followed[id(generator)][2] == before:
            continue
        gives = iterates(type(generator))
        what = "gave out values" if gives else "drew random numbers"
        _trace.diagnose(
            "LP221" if gives else "LP204",
            f"{type(generator).__name__} '{name}' {what} {when}: what a node uses of them is "
            f"exported as a constant. {_CURE}",
        )


def _position(generator: Any) -> Any:
    """Return where a generator is in its sequence, as something to compare."""
    if isinstance(generator, random.SystemRandom):
        return repr(_asked)
    if iterates(type(generator)):
        return _step(generator)
    with _trace.Unobserved():  # NumPy makes arrays to answer
        return repr(state_of(generator)[0])


def _step(value: Any, depth: int = 16) -> tuple[Any, ...]:
    """Return the numbers that tell how far an iterator has come, with those it takes from."""
    if issubclass(type(value), (int, float)):
        return (value,)
    if depth == 0:  # they may go round in a circle
        return ()
    if isinstance(value, tuple):
        return tuple(number for item in value for number in _step(item, depth - 1))
    if isinstance(value, GeneratorType):
        variables = tuple(inspect.getgeneratorlocals(value).values())
        return (getattr(value.gi_frame, "f_lasti", None), *_step(variables, depth - 1))
    if not iterates(type(value)):
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python means to give this up
            return _step(tuple(value.__reduce__()[1:]), depth - 1)
    except TypeError:  # from Python 3.14 on; what it shows and holds mostly moves with it
        held = gc.get_referents(value)
        lengths = (len(each) for each in held if type(each) is list)
        return (repr(value), *lengths, *_step(tuple(held), depth - 1))
