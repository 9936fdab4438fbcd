"""Where the user's program stands, for errors found before the compiled module is asked."""

from __future__ import annotations

import sys


def placed(text: str) -> str:
    """Return the text of an error or warning, beginning with the user's line."""
    return f"{user_location()}: {text}"


def user_location() -> str:
    """Return ``"file.py:12 in function"`` of the nearest frame outside this package."""
    frame = sys._getframe(1)
    # By module rather than by file: what dataclasses generate has no file.
    while frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        if frame.f_back is None:
            break
        frame = frame.f_back
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)  # since Python 3.11
    return f"{code.co_filename}:{frame.f_lineno} in {name}"
