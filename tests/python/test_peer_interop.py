"""Bundles of NVIDIA's leapp run here, and ours run there.

Needs an environment with the peer: LEAPP_PEER_PYTHON names its interpreter (benchmarks/run.py says
how to make one). Skipped without.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from programs import PROGRAMS, runner

PEER = os.environ.get("LEAPP_PEER_PYTHON")
HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    not PEER, reason="LEAPP_PEER_PYTHON is not set: no peer to exchange bundles with"
)

#: Programs that NVIDIA's leapp exports correctly: several nodes, state, static outputs, masks,
#: images.
SHARED = """observation_stack two_actions_back pd_controller low_pass_filter gait_phase
    history_newest_first gru_declared lstm_cell_list key_value_cache interleaved_nodes method_nodes
    camera_cnn byte_image flow_matching action_chunks quaternion_to_matrix embeddings""".split()

#: Exports or runs many programs in one process: a list of [action, name, backend, folder].
WORKER = """
import json, pathlib, sys, torch
sys.path.insert(0, sys.argv[1])
from programs import PROGRAMS, runner
for action, name, backend, folder in json.load(sys.stdin):
    try:
        with torch.no_grad():
            work = getattr(runner, action)
            found = work(PROGRAMS[name], backend, pathlib.Path(folder))
        answer = found if action == "mismatches" else []
    except Exception as error:
        answer = [f"{type(error).__name__}: {error}"]
    print(json.dumps(["#", name, backend, answer]))
"""


def peer(jobs: list[tuple[str, str, str, Path]]) -> dict[tuple[str, str], list[str]]:
    """Return the answers of NVIDIA's leapp by program and backend."""
    assert PEER
    done = subprocess.run(
        [PEER, "-W", "ignore", "-c", WORKER, str(HERE)],
        input=json.dumps([[*job[:3], str(job[3])] for job in jobs]),
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["#"')]
    return {(name, backend): answer for _, name, backend, answer in rows}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return every shared program, exported by NVIDIA's leapp."""
    folder = tmp_path_factory.mktemp("theirs")
    peer(
        [
            ("export", name, exporter, folder / exporter / name)
            for name in SHARED
            for exporter in ("jit", "onnx-torchscript")
        ]
    )
    return folder


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("exporter", ["jit", "onnx-torchscript"])
def test_theirs_in_ours(theirs: Path, name: str, exporter: str) -> None:
    if exporter != "jit" and name == "gait_phase":
        pytest.skip("torch's exporter has no converter for frac")
    with torch.no_grad():
        assert not runner.mismatches(PROGRAMS[name], exporter, theirs / exporter / name)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, str], list[str]]]:
    """Return every shared program, exported by LEAPP, with the differences that NVIDIA's leapp
    finds.
    """
    folder = tmp_path_factory.mktemp("ours")
    jobs: list[tuple[str, str, str, Path]] = []
    failed: dict[tuple[str, str], list[str]] = {}
    for backend in ("jit", "onnx"):
        for name in SHARED:
            try:
                with torch.no_grad():
                    runner.export(PROGRAMS[name], backend, folder / backend / name)
            except Exception as error:
                failed[name, backend] = [f"not exported: {error}"]
                continue
            jobs.append(("mismatches", name, backend, folder / backend / name))
    return folder, {**failed, **peer(jobs)}


@pytest.mark.parametrize("name", SHARED)
def test_ours_in_theirs(ours: Any, name: str, backend: str) -> None:
    assert ours[1][name, backend] == []


@pytest.mark.parametrize("name", ["pd_controller", "gru_declared", "method_nodes"])
def test_same_yaml(theirs: Path, ours: Any, name: str) -> None:
    """The same program gives the same document, except for hashes and system information."""
    import yaml

    documents = []
    for folder in (theirs, ours[0]):
        document = yaml.safe_load((folder / "jit" / name / "g" / "g.yaml").read_text())
        for model in document["models"].values():
            for key in ("md5sum", "sha256sum", "warp_segments"):
                model["parameters"].pop(key, None)
        for key in ("md5sum", "sha256sum"):  # only ours has them
            document["pipeline"].pop(f"initial_values_{key}", None)
        documents.append(document)
    assert documents[0]["models"] == documents[1]["models"]
    assert documents[0]["pipeline"] == documents[1]["pipeline"]
