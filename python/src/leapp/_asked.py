"""What code asks about before it uses it: is there such an attribute, such a key?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from ._reachable import Holder

_ASKING_METHODS = ("get", "pop", "setdefault")
_ASKING_FUNCTIONS = ("getattr", "hasattr")


class Asked:
    """The names and containers that the code of some modules asks about.

    An attribute or a key that comes up in the first pass of a node can be state only if the code
    did without it then: it must have asked whether it was there.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        """Read the code; what cannot be read asks nothing."""
        self._keys: set[Any] = set()
        self._containers: set[str] = set()
        for source in sources:
            try:
                tree = ast.parse(source)
            except SyntaxError:
                continue
            for key, container in _questions(tree):
                if isinstance(key, ast.Constant):
                    self._keys.add(key.value)
                self._containers.add(_last_name(container))
        self._containers.discard("")

    def may_ask(self, holder: Holder, key: Any) -> bool:
        """Whether some code asks for that key of a holder."""
        if holder.of is None and _last_word(holder.name) in self._containers:
            return True
        return isinstance(key, str) and key in self._keys


def _questions(tree: ast.AST) -> Iterator[tuple[ast.AST | None, ast.AST]]:
    """Yield what is asked for, and of what."""
    for part in ast.walk(tree):
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.In, ast.NotIn)):
            yield part.left, part.comparators[0]
        if not isinstance(part, ast.Call):
            continue
        asks, given = part.func, part.args
        if isinstance(asks, ast.Attribute) and asks.attr in _ASKING_METHODS:
            yield given[0] if given else None, asks.value
        if isinstance(asks, ast.Name) and asks.id in _ASKING_FUNCTIONS and len(given) > 1:
            yield given[1], given[0]


def _last_name(part: ast.AST) -> str:
    if isinstance(part, ast.Attribute):
        return part.attr
    return part.id if isinstance(part, ast.Name) else ""


def _last_word(name: str) -> str:
    return name.rpartition(".")[2].partition("[")[0]
