"""Exported bundles compute the same on ARM: the cross-built programs run under an emulator.

``make test-aarch64`` builds them and passes their directory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARM = Path(os.environ.get("LEAPP_AARCH64", ""))

pytestmark = pytest.mark.skipif(
    "LEAPP_AARCH64" not in os.environ, reason="needs the cross-built programs: make test-aarch64"
)

#: Example, and the bundle that it writes.
BUNDLES = {
    "01_minimal_pipeline": "minimal/minimal.yaml",
    "03_stateful_gru_export": "gru/gru.yaml",
    "04_explicit_state": "history/history.yaml",
    "06_robot_loop": "walker/walker.yaml",
    "09_controller": "legs/legs.yaml",
}
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]


def run(command: list[str | Path], **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def on_arm(program: Path, *arguments: str | Path) -> str:
    library = ROOT / ".cache/aarch64/onnxruntime/capi"
    return run([*EMULATOR, program, *arguments], LEAPP_ONNXRUNTIME=str(library))


@pytest.fixture(scope="module", params=BUNDLES)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the name of an example, and the bundle that it has just written."""
    folder = tmp_path_factory.mktemp(request.param)
    run([sys.executable, ROOT / "examples" / f"{request.param}.py", folder])
    return request.param, folder / BUNDLES[request.param]


def test_the_same_numbers_come_out_of_the_same_ticks(exported: Any) -> None:
    command = ("run", "--json", "--ticks", "20", "--seed", "7", exported[1])
    here = json.loads(run(["leapp", *command]))
    there = json.loads(on_arm(ARM / "bin/leapp", *command))
    assert here.keys() == there.keys()
    for name, port in here.items():
        assert there[name]["shape"] == port["shape"]
        assert there[name]["values"] == pytest.approx(port["values"], rel=1e-5, abs=1e-5), name


def test_the_bundle_checks(exported: Any) -> None:
    on_arm(ARM / "bin/leapp", "check", exported[1])


def test_the_example_prints_the_same_as_here(exported: Any) -> None:
    name, yaml = exported
    here = run([Path(os.environ["LEAPP_BUILD"]) / "examples" / name, yaml])
    there = on_arm(ARM / "examples" / name, yaml)
    untimed = [[line for line in text.splitlines() if " us " not in line] for text in (here, there)]
    assert untimed[0] == untimed[1]


def test_nothing_but_the_c_and_cpp_libraries_is_needed() -> None:
    needed = run(["readelf", "-d", ARM / "lib/libleapp_runtime.so.0.1"])
    names = {line.split("[")[1].split(".so")[0] for line in needed.splitlines() if "NEEDED" in line}
    assert names <= {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-aarch64"}
