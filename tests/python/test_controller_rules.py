"""The controller's tick against a second implementation of docs/reference/controller.md.

The C++ program runs the pure tick that the controller runs, without an engine. Both must agree to
the last bit, in every tick: on the policy's inputs, the state, the actuators and the counts.
LEAPP_LONG=1 (``make test-long``) runs ten times as many cases.
"""

from __future__ import annotations

import math
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controller_reference import (
    CAUSES,
    FALLBACK,
    RUNNING,
    STOPPED,
    WAITING,
    Options,
    Reference,
    to_type,
)
from controller_sequences import Generator, make_case, to_yaml
from ready_bundle import Bundle
from steps_program import CASES, ask, running, same

import leapp

BATCHES = 10


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    with running("controller_steps") as process:
        yield process


@pytest.mark.parametrize("batch", range(BATCHES))
def test_both_implementations_agree(program: subprocess.Popen[str], batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * CASES // BATCHES, (batch + 1) * CASES // BATCHES):
        case = make_case(seed)
        done = ask(program, case.line())
        if case.refused:
            assert "a rate must be positive" in done["error"], f"seed {seed}"
            continue
        reference = case.reference()
        for tick, (given, actual) in enumerate(zip(case.sequence, done["ticks"], strict=True)):
            expected = reference.run_tick(given)
            for key, value in expected.items():
                assert same(value, actual[key]), f"seed {seed}, tick {tick}: {key}"
            seen[f"state {expected['state']}"] += 1
            seen["discard"] += expected["discard"]
        for cause, count in reference.counts.items():
            seen[cause] += count
    # The sequences cover every cause, state and kind.
    for what in (*CAUSES, "discard"):
        assert seen[what] > 0, what
    for state in (WAITING, RUNNING, FALLBACK, STOPPED):
        assert seen[f"state {state}"] > 20, state


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_a_rate_that_is_not_positive_is_refused(
    program: subprocess.Popen[str], rate: float
) -> None:
    case = make_case(0)
    case.bundle["models"]["pi"]["outputs"][0]["limits"] = {"rate": rate}
    assert "a rate must be positive" in ask(program, case.line())["error"]


STATES = {WAITING: "waiting", RUNNING: "running", FALLBACK: "fallback", STOPPED: "stopped"}
ANGLES: list[str | None] = [None, "rad", "deg"]


def affine(inputs: list[list[float]]) -> dict[str, Any]:
    """Compute the function of affine.onnx: 2 x + 1."""
    try:
        values = [to_type(to_type(2 * x, "float32") + 1, "float32") for x in inputs[0]]
    except OverflowError:
        values = [math.inf] * len(inputs[0])
    return {"kind": "good", "late": False, "outputs": [values]}


def policy_case(seed: int, folder: Path) -> tuple[leapp.Controller, Reference, Generator]:
    """Return a controller of affine.onnx on a random robot with a random contract."""
    made = Generator(seed)
    made.varied = False  # the model has one row of four
    made.joints = ["a", "b", "c", "d"]
    for side, name, kind in (
        ("sensors", "q", "state/joint/position"),
        ("actuators", "m", "target/joint/position"),
    ):
        made.add_signal(side, name, kind, made.shuffled(made.joints), ANGLES)
    bundle = Bundle(folder).node("pi", "affine.onnx", ["x"], ["y"])
    made.add_input("x", "state/joint/position", made.joints, ANGLES, False)
    made.add_output("y", "target/joint/position", "position", ANGLES, False)
    for side, ports in (("inputs", made.inputs), ("outputs", made.outputs)):
        described, port = ports[0]
        port.dtype = described["dtype"] = "float32"
        bundle.models["pi"][side][0].update(described)
    bundle.pipeline.update(
        inputs={"pi": ["x"]},
        outputs={"pi": ["y"]},
        configs={"frequency": made.rate / made.decimation},
    )
    robot = folder / "robot.yaml"
    robot.write_text(to_yaml({**made.robot, "joints": made.joints}))
    tick_ns = round(1e9 / made.rate)
    options = Options(
        made.rate,
        made.decimation,
        linear=made.maybe(0.5),
        blend_in=made.random.choice([0, 3 * tick_ns]),
    )
    path = Path(bundle.write())
    if made.refused:
        with pytest.raises(ValueError, match="a rate must be positive"):
            leapp.Controller(path, robot)
        pytest.skip("refused, as it should be")
    controller = leapp.Controller(
        path,
        robot,
        interpolation="linear" if options.linear else "hold",
        blend_in=options.blend_in / 1e9,
        clock=lambda: made.clock / 1e9,
    )
    reference = Reference(options, [made.inputs[0][1]], [made.outputs[0][1]], [4], [4])
    return controller, reference, made


@pytest.mark.parametrize("seed", range(200 if CASES == 10_000 else 20))
def test_the_controller_follows_them_end_to_end(seed: int, tmp_path: Path) -> None:
    controller, reference, made = policy_case(seed, tmp_path)
    controller.start()
    for tick in range(40):
        made.clock = tick * 10_000_000  # exact in seconds and in nanoseconds
        given = made.measurement(4, made.random.choice([0, 0, 0, 40_000_000]))
        measured = made.maybe(0.8)
        if measured:
            controller.set_sensor("q", given["values"], age=given["age"] / 1e9)
        state = controller.update()
        expected = reference.run_tick(
            {"clock": made.clock, "sensors": [given if measured else None], "policy": affine}
        )
        assert state == STATES[expected["state"]], tick
        assert same(controller.actuator("m"), expected["actuators"][0]), tick
        assert list(controller.counts().values()) == expected["counts"], tick
