"""``leapp diff``: the differences between two bundles, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from ready_bundle import Bundle
from test_inference_cli import COMMAND, leapp
from test_view import make_bundle

pytestmark = pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")


def test_equal_bundles_do_not_differ(tmp_path: Path) -> None:
    one, two = make_bundle(tmp_path / "a"), make_bundle(tmp_path / "b")
    assert leapp("diff", one, two).stdout == "the bundles are the same\n"
    assert json.loads(leapp("diff", one, two, "--json").stdout) == {
        "same": True,
        "equal_weights": 2,
        "differences": [],
    }


def test_merged_nodes(tmp_path: Path) -> None:
    before, after = make_bundle(tmp_path / "a"), make_bundle(tmp_path / "b")
    document = yaml.safe_load(Path(after).read_text())
    document["pipeline"]["merged"] = [["observe", "policy"]]
    Path(after).write_text(yaml.safe_dump(document, sort_keys=False))
    found = leapp("diff", before, after, code=5).stdout
    assert found == "~ node merged nodes: not stated, now [observe, policy]\n"


def test_translations(tmp_path: Path) -> None:
    bundles = []
    for model in ("affine.pt", "affine_translated.pt"):
        folder = tmp_path / model
        folder.mkdir()
        bundle = Bundle(folder).node("n", model, ["x"], ["y"]).input("n", "x").output("n", "y")
        bundles.append(bundle.write())
    found = json.loads(leapp("diff", *bundles, "--json", code=5).stdout)["differences"]
    translation = next(each for each in found if each["where"] == "n: its ONNX translation")
    assert translation["before"] is None


def test_diff_names_everything(tmp_path: Path) -> None:
    before = make_bundle(tmp_path / "a")
    after = make_bundle(tmp_path / "b", weight=1.5)
    document = yaml.safe_load(Path(after).read_text())
    document["models"]["policy"]["outputs"][0]["unit"] = "deg"
    document["models"]["observe"]["inputs"][0]["kind"] = "state/joint/position"
    document["pipeline"]["configs"]["frequency"] = 100
    document["pipeline"].pop("feedback_flow")
    document["pipeline"]["inputs"] = {"observe": ["x"]}
    Path(after).write_text(yaml.safe_dump(document, sort_keys=False))
    lines = leapp("diff", before, after, code=5).stdout.splitlines()
    assert lines == [
        "+ semantics observe/x kind: state/joint/position",
        "~ semantics policy/y unit: rad, now deg",
        "+ wire input observe/x",
        "- wire policy/y => observe/x",
        "~ config frequency: 50, now 100",
        "~ weight policy: bias: worst error 0.5 at element 3 (1, now 1.5)",
    ]
    found = json.loads(leapp("diff", before, after, "--json", code=5).stdout)
    assert found["differences"][-1]["worst"] == {
        "index": 3,
        "before": 1,
        "after": 1.5,
        "error": 0.5,
    }
