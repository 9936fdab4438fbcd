"""The annotate calls while a shadow run is on: payloads are shown to it, and go on as they are.

The program goes on with what it has. Whatever is odd about a payload is not said here: then the
bundle is not given the value, and the report says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from . import _tracing, _untraced
from .errors import LeappError

quietly = contextlib.suppress(LeappError, TypeError)  # for example an array of strings


def _shown(name: str) -> Callable[..., Any]:
    """Return a call that is shown, as a session would be, and does what it does without one."""

    def call(*arguments: Any) -> Any:
        with quietly:
            getattr(_tracing, name)(*arguments)
        return getattr(_untraced, name)(*arguments)

    return call


input_tensors, output_tensors = _shown("input_tensors"), _shown("output_tensors")
declare, module, abandon = _shown("declare"), _shown("module"), _shown("abandon")
mirror_leapp_tags = _untraced.mirror_leapp_tags
