"""Delays and histories of observation terms, in a form that can be state of a node."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from leapp.errors import LeappValueError

from ._mjlab_reads import derived


@contextlib.contextmanager
def buffers_as_state(manager: Any, groups: Sequence[str]) -> Iterator[None]:
    """Let the buffers of these groups' terms consist of tensors while the block runs.

    mjlab's rings count their position in a Python number, which a model cannot do. Here the frames
    are shifted instead; the values that are read are the same.
    """
    with contextlib.ExitStack() as stack:
        for group in groups:
            for term, delay in manager._group_obs_term_delay_buffer[group].items():
                _check_constant(delay, group, term)
                stack.enter_context(derived(delay, _constant(type(delay))))
                stack.enter_context(derived(delay._buffer, _shifting(type(delay._buffer))))
            for history in manager._group_obs_term_history_buffer[group].values():
                stack.enter_context(derived(history, _shifting(type(history))))
        yield


def _check_constant(delay: Any, group: str, term: str) -> None:
    """Refuse a delay that changes randomly while the policy runs."""
    if delay.min_lag == delay.max_lag and not delay.hold_prob and not delay.update_period:
        return
    raise LeappValueError.coded(
        "LP803",
        f"Observation term '{group}/{term}' is delayed by a random number of steps "
        f"({delay.min_lag} to {delay.max_lag}), which a policy cannot contain. Export the "
        "task with a constant delay: delay_min_lag equal to delay_max_lag, delay_hold_prob and "
        "delay_update_period 0; or without one (both 0) if the robot's own sensor has the same "
        "delay.",
    )


def _shifting(ring: Any) -> type:
    """Return a ring whose newest frame is always the last one."""

    class Shifting(ring):  # type: ignore[misc]
        _buffer: Any
        _pointer: int

        def append(self, data: Any) -> None:
            import torch

            if self._buffer is None or self._pointer != self._max_len - 1:
                self._pointer = self._max_len - 1
                self._buffer = data.new_zeros((self._max_len, *data.shape))
                self._num_pushes.zero_()
            first = (self._num_pushes == 0).view(1, self._batch_size, *[1] * (data.dim() - 1))
            moved = torch.cat([self._buffer[1:], data.unsqueeze(0)])
            self._buffer.copy_(torch.where(first, data.unsqueeze(0), moved))
            self._num_pushes += 1

    return Shifting


def _constant(delay: Any) -> type:
    """Return a delay with a constant lag."""

    class Constant(delay):  # type: ignore[misc]
        def _update_lags(self) -> None:
            self._current_lags.fill_(self.max_lag)

    return Constant
