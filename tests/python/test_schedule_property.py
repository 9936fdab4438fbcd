"""Random bundles with a schedule: the runtime follows the rules, tick by tick."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schedule_reference import Reference, Values, random_inputs, random_pipeline

from leapp import InferenceManager

EXAMPLES = int(os.environ.get("LEAPP_PROPERTY_EXAMPLES", "320"))
FIRST = int(os.environ.get("LEAPP_PROPERTY_FIRST", "0"))
PARTS = 8
STEPS = 24


def check(seed: int, folder: Path) -> set[str]:
    """Run one bundle and its reference next to each other. Return their results."""
    pipeline = random_pipeline(seed)
    manager = InferenceManager(pipeline.write(folder), array="numpy", merge=seed % 2 == 0)
    reference = Reference(pipeline)
    draw = random.Random(seed)
    given: Values = {}
    kept: tuple[Any, Any] | None = None
    did = set()
    for step in range(STEPS):
        action = draw.choice(["tick"] * 8 + ["undo", "undo", "reset", "keep", "restore"])
        if action == "undo" and reference.former is not None:
            manager.undo_tick()
            reference.undo()
        elif action == "reset":
            manager.reset()
            reference.reset()
        elif action == "keep":
            kept = manager.state(), reference.state()
        elif action == "restore" and kept is not None:
            manager.set_state(kept[0])
            reference.set_state(kept[1])
        else:
            action = "tick"
            given = random_inputs(draw, pipeline, given)
            found = manager.run_policy(given)
            reference.tick(given)
            for name, value in found.items():
                np.testing.assert_array_equal(
                    value, reference.output(name), f"seed {seed}, step {step}, {name}"
                )
                assert manager.output_age(name) == reference.age(name.split("/")[0]), (seed, step)
        did.add(action)
    return did


@pytest.mark.parametrize("part", range(PARTS))
def test_random_schedules_follow_the_rules(part: int, tmp_path: Path) -> None:
    did = set()
    for seed in range(FIRST + part, FIRST + EXAMPLES, PARTS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        did |= check(seed, folder)
    assert did == {"tick", "undo", "reset", "keep", "restore"}


def test_the_random_bundles_use_every_key() -> None:
    used: set[str] = set()
    for seed in range(100):
        for entry in random_pipeline(seed).schedule.values():
            used |= set(entry)
    assert used == {"every", "phase", "repeat", "carry", "index", "when", "on_change", "age"}
