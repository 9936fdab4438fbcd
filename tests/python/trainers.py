"""A bundle, compared with the trainer's own policy: the same actions, tick by tick, with resets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

import leapp

#: A reset follows these ticks; the first of them is the first tick.
RESETS = (0, 7, 31)
TICKS = 50


def assert_same_actions(
    yaml: str,
    observe: Callable[[], Mapping[str, Any]],
    act: Callable[[Mapping[str, Any]], Any],
    reset: Callable[[], None] = lambda: None,
    *,
    output: str = "action",
    tolerance: float = 1e-5,
) -> None:
    """Run 50 ticks; ``act`` gets the result of ``observe`` and returns the trainer's action."""
    robot = leapp.InferenceManager(yaml, array="numpy")
    seen = []
    for tick in range(TICKS):
        if tick in RESETS:
            robot.reset()
            reset()
        inputs = {name: np.asarray(value) for name, value in observe().items()}
        outputs = robot.run_policy({f"policy/{name}": value for name, value in inputs.items()})
        expected = act(inputs)
        if isinstance(expected, torch.Tensor):
            expected = expected.detach().numpy()
        found = outputs[f"policy/{output}"]
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        seen.append(found)
    # A policy with constant actions would equal any other constant policy.
    assert any((action != seen[0]).any() for action in seen)
