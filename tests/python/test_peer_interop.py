"""Bundles of NVIDIA's leapp run in ours, and ours in theirs.

Needs an environment with the peer: LEAPP_PEER_PYTHON names its interpreter (benchmarks/run.py says
how to make one). Skipped without.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from programs import PROGRAMS, runner

import leapp

PEER = os.environ.get("LEAPP_PEER_PYTHON")
HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    not PEER, reason="LEAPP_PEER_PYTHON is not set: no peer to exchange bundles with"
)

#: Programs that the peer exports right: several nodes, state, static outputs, masks, images.
SHARED = """observation_stack two_actions_back pd_controller low_pass_filter gait_phase
    history_newest_first gru_declared lstm_cell_list key_value_cache interleaved_nodes method_nodes
    camera_cnn byte_image flow_matching action_chunks quaternion_to_matrix embeddings""".split()

EXPORT = """
import sys, pathlib, torch
sys.path.insert(0, sys.argv[1])
from programs import PROGRAMS, runner
with torch.no_grad():
    runner.export(PROGRAMS[sys.argv[2]], sys.argv[3], pathlib.Path(sys.argv[4]))
"""
RUN = """
import sys, pathlib, torch
sys.path.insert(0, sys.argv[1])
from programs import PROGRAMS, runner
with torch.no_grad():
    found = runner.mismatches(PROGRAMS[sys.argv[2]], sys.argv[3], pathlib.Path(sys.argv[4]))
print("\\n".join(found), file=sys.stderr)
sys.exit(1 if found else 0)
"""


def peer(code: str, *arguments: str) -> None:
    assert PEER
    done = subprocess.run(
        [PEER, "-W", "ignore", "-c", code, str(HERE), *arguments],
        capture_output=True,
        text=True,
        cwd=HERE.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("exporter", ["jit", "onnx-torchscript"])
def test_theirs_in_ours(name: str, exporter: str, tmp_path: Path) -> None:
    if exporter != "jit" and name == "gait_phase":
        pytest.skip("torch's exporter has no converter for frac")
    peer(EXPORT, name, exporter, str(tmp_path))
    with torch.no_grad():
        assert not runner.mismatches(PROGRAMS[name], exporter, tmp_path)


@pytest.mark.parametrize("name", SHARED)
def test_ours_in_theirs(name: str, backend: str, tmp_path: Path) -> None:
    with torch.no_grad():
        runner.export(PROGRAMS[name], backend, tmp_path)
    peer(RUN, name, backend, str(tmp_path))


def test_same_yaml(tmp_path: Path) -> None:
    """The same program gives the same document, hashes and system information aside."""
    import yaml

    documents = []
    for side in ("peer", "ours"):
        folder = tmp_path / side
        if side == "peer":
            peer(EXPORT, "pd_controller", "jit", str(folder))
        else:
            with torch.no_grad():
                runner.export(PROGRAMS["pd_controller"], "jit", folder)
        document = yaml.safe_load((folder / "g" / "g.yaml").read_text())
        for model in document["models"].values():
            for key in ("md5sum", "sha256sum", "warp_segments"):
                model["parameters"].pop(key, None)
        documents.append(document)
    assert documents[0]["models"] == documents[1]["models"]
    theirs, ours = (document["pipeline"] for document in documents)
    assert theirs == ours


def test_their_package_is_not_ours() -> None:
    assert (
        Path(leapp.__file__).is_relative_to(Path(sys.prefix)) or "site-packages" in leapp.__file__
    )
    peer("import leapp; assert leapp.__version__ == '0.7.2', leapp.__version__")
