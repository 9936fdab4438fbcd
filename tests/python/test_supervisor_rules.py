"""The supervisor's tick, compared with a second implementation of docs/reference/supervisor.md.

The C++ program runs the pure ticks that the supervisor runs, without engines. Both must agree to
the last bit, in every tick: on the active policy, its inputs, the state, the actuators and the
counts.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest
from steps_program import CASES, ask, running, same
from supervisor_reference import EVENTS
from supervisor_sequences import make_case

BATCHES = 10


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    with running("supervisor_steps") as process:
        yield process


@pytest.mark.parametrize("batch", range(BATCHES))
def test_both_implementations_agree(program: subprocess.Popen[str], batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * CASES // BATCHES, (batch + 1) * CASES // BATCHES):
        case = make_case(seed)
        done = ask(program, case.line())
        assert "error" not in done, f"seed {seed}: {done['error']}"
        reference = case.reference()
        for tick, (given, actual) in enumerate(zip(case.sequence, done["ticks"], strict=True)):
            expected = reference.run_tick(given)
            for key, value in expected.items():
                assert same(value, actual[key]), f"seed {seed}, tick {tick}: {key}"
        for _, event, _, rule in reference.events:
            seen[event] += 1
            if rule is not None:
                seen[f"{event} by {case.rules[rule].source}"] += 1
    # The sequences cover every event, state and cause.
    for event in EVENTS:
        assert seen[event] > 0, event
    for source in ("flag", "sensor", "port"):
        assert seen[f"switched by {source}"] > 0, source
        assert seen[f"refused by {source}"] > 0, source
