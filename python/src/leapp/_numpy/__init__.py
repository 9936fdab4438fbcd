"""NumPy during tracing. The rest of the package uses only the names of this module.

Arrays over traced memory and their elements (``arrays``) record computations with them (``calls``,
by ``table``). The constructors of arrays and tensors (``constructors``), and a few functions on
lists of arrays (``lists``), are patched, see :func:`patches`. Arrays from other code are checked
when a node uses them (``foreign``).
"""

from __future__ import annotations

from collections.abc import Iterator

from .._function_patches import Patch
from .arrays import ARRAYS as ARRAYS
from .arrays import Number as Number
from .arrays import Traced as Traced
from .arrays import TracedArray as TracedArray
from .arrays import array_of as array_of
from .arrays import attached as attached
from .arrays import is_traced as is_traced
from .arrays import kept as kept
from .arrays import note_escape as note_escape
from .arrays import plain as plain
from .arrays import to_tensor as to_tensor
from .arrays import to_used_tensor as to_used_tensor
from .arrays import traced_view as traced_view
from .foreign import closing as closing
from .foreign import exposed as exposed
from .foreign import opened as opened
from .lists import holds_traced as holds_traced
from .lists import leaves as leaves
from .memory import new_array as new_array
from .memory import reset as reset


def patches() -> Iterator[Patch]:
    """Yield the patches for a new session."""
    from . import constructors, lists

    yield from lists.patches()
    yield from constructors.patches()
