"""The exceptions of LEAPP.

Every class also derives from the matching built-in type, so ``except LeappError``, ``except
TypeError`` and ``except Exception`` all work. Each exception has a ``code``, which keeps its
meaning in later releases and is at the end of the message. The compiled modules look up these
classes by name.
"""

from __future__ import annotations

import sys
import traceback
from types import CodeType
from typing import TYPE_CHECKING, Any

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


#: Characters of a message: a long argument must not fill the console.
_MOST = 2000


class LeappError(Exception):
    """A call in the wrong order or state; also the base class of all errors of LEAPP."""

    #: The code of the error, see docs/reference/diagnostics.md.
    code = "LP007"

    @classmethod
    def coded(cls, code: str, text: str) -> Self:
        """Return an error with that code, and at most the beginning and the end of a long text."""
        if len(text) > _MOST:
            text = f"{text[: _MOST // 2]} .. {text[-_MOST // 2 :]}"
        error = cls(f"{text} [{code}]")
        error.code = code
        return error

    @classmethod
    def at_caller(cls, code: str, text: str) -> Self:
        """Return an error with that code whose text begins with the user's line."""
        return cls.coded(code, f"{_callers_line()}: {text}")


class LeappTypeError(LeappError, TypeError):
    """An argument of the wrong type."""

    code = "LP002"

    @classmethod
    def of(cls, value: object, expected: str) -> Self:
        """Return an error with the expected type, and the type of the value."""
        return cls.at_caller("LP002", f"{expected}, got {type(value).__name__}.")


class LeappValueError(LeappError, ValueError):
    """An argument, a file or a bundle with a wrong value."""

    code = "LP003"


class LeappNotFoundError(LeappError, FileNotFoundError):
    """A missing file."""

    code = "LP004"


class LeappImportError(LeappError, ImportError):
    """A missing package or compiled module that this call needs."""

    code = "LP006"


class LeappIoError(LeappError, OSError):
    """Reading or writing a file failed."""

    code = "LP005"


class LeappExportError(LeappError):
    """A recorded operation that a backend cannot express."""

    code = "LP502"


class LeappValidationError(LeappError):
    """An exported model that differs from the trace, or could not be run."""

    code = "LP409"


def expect(kinds: Any, value: object, expected: str) -> None:
    """Raise an error with the expected types, unless the value has one of them."""
    if not isinstance(value, kinds):
        raise LeappTypeError.of(value, expected)


def expect_one_of(options: tuple[object, ...], value: object, name: str) -> None:
    """Raise an error that names the options, unless the value is one of them."""
    if not any(isinstance(value, type(option)) and value == option for option in options):
        named = " or ".join(map(repr, options))
        raise LeappValueError.coded("LP003", f"{name} must be {named}, not {value!r}")


def _callers_line() -> str:
    """Return ``"file.py:12 in function"`` of the nearest frame outside this package and PyTorch.

    For errors that are found before the compiled module is used, which may be missing.
    """
    for frame, _ in traceback.walk_stack(sys._getframe(1)):
        # By module and not by file, because generated code of dataclasses has no file.
        if frame.f_globals.get("__name__", "").partition(".")[0] not in (__package__, "torch"):
            break
    return describe_line(frame.f_code, frame.f_lineno)


def describe_line(code: CodeType, line: int) -> str:
    """Return ``"file.py:12 in function"``."""
    name = getattr(code, "co_qualname", code.co_name)  # since Python 3.11
    return f"{code.co_filename}:{line} in {name}"
