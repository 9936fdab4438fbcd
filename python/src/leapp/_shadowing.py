"""The annotate calls during a shadow run: it reads payloads, and returns them unchanged.

An invalid payload is not an error here: the bundle does not receive the value, and the report
states it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from . import _tracing, _untraced
from .errors import LeappError

quietly = contextlib.suppress(LeappError, TypeError)  # for example an array of strings


def _shown(name: str) -> Callable[..., Any]:
    """Return a call that shows its payload to the run and otherwise has no effect."""

    def call(*arguments: Any) -> Any:
        with quietly:
            getattr(_tracing, name)(*arguments)
        return getattr(_untraced, name)(*arguments)

    return call


input_tensors, output_tensors = _shown("input_tensors"), _shown("output_tensors")
declare, module, abandon = _shown("declare"), _shown("module"), _shown("abandon")
mirror_leapp_tags = _untraced.mirror_leapp_tags
