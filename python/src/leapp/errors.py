"""The one exception family of LEAPP.

Every class also derives from the built-in type a careful handler would name, so that
``except LeappError``, ``except TypeError`` and ``except Exception`` all do what they say.
The compiled modules look these classes up by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._location import placed

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "LeappError",
    "LeappExportError",
    "LeappImportError",
    "LeappIoError",
    "LeappNotFoundError",
    "LeappTypeError",
    "LeappValidationError",
    "LeappValueError",
]


class LeappError(Exception):
    """A call in the wrong order or state; also the base of all errors of LEAPP."""

    @classmethod
    def at_caller(cls, text: str) -> Self:
        """Return an error whose text begins with the user's line."""
        return cls(placed(text))


class LeappTypeError(LeappError, TypeError):
    """An argument of the wrong type."""


class LeappValueError(LeappError, ValueError):
    """An argument, a file or a bundle with a wrong value."""


class LeappNotFoundError(LeappError, FileNotFoundError):
    """A file that is not there."""


class LeappImportError(LeappError, ImportError):
    """A package or a compiled module that this call needs is missing."""


class LeappIoError(LeappError, OSError):
    """Reading or writing a file failed."""


class LeappExportError(LeappError):
    """A recorded operation that a backend cannot express."""


class LeappValidationError(LeappError):
    """An exported model that disagrees with what was traced, or could not be run."""
