"""``leapp view`` and ``leapp diff``: the page in a browser, and differences as text and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import yaml
from browser import CHROMIUM, Browser, needs_browser
from onnx import TensorProto, helper, numpy_helper
from ready_bundle import Bundle
from safetensors.numpy import save_file
from test_inference_cli import COMMAND, leapp

pytestmark = pytest.mark.skipif(COMMAND is None, reason="the leapp command is not installed")

#: Names that would take effect if they were interpreted as markup or script.
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '"\'><img src=x onerror="window.hacked = 3">',
    "javascript:window.hacked=4",
    "<!--<script>",
    "]]>",
    "gnp.\u202eexe",
    "${window.hacked = 5}",
)


def write_model(file: Path, weight: np.ndarray[Any, Any], where: str = "walk.py:7 in step") -> None:
    """Return one operator that adds a weight, with its source line."""
    node = helper.make_node("Add", ["x", "bias"], ["y"], name="add")
    node.doc_string = where
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, list(weight.shape)) for name in "xy"
    ]
    graph = helper.make_graph(
        [node], "g", ports[:1], ports[1:], [numpy_helper.from_array(weight, "bias")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, str(file))


def make_bundle(
    folder: Path, weight: float = 1.0, names: tuple[str, str] = ("observe", "policy")
) -> str:
    """Two nodes in a row, with feedback, golden traces and a validation report."""
    folder.mkdir(parents=True, exist_ok=True)
    bundle = Bundle(folder)
    write_model(folder / "first.onnx", np.full((1, 4), 2, np.float32))
    write_model(folder / "second.onnx", np.array([[0, 1, 2, weight]], np.float32))
    bundle.node(names[0], folder / "first.onnx", ["x"], ["y"])
    bundle.node(names[1], folder / "second.onnx", ["x"], ["y"])
    port = bundle.models[names[1]]["outputs"][0]
    port["kind"] = "target/joint/position"
    port["element_names"] = [["hip", "knee", "ankle", HOSTILE[0]]]
    port["unit"] = "rad"
    bundle.wire(f"{names[0]}/y", f"{names[1]}/x").feedback(f"{names[1]}/y", f"{names[0]}/x")
    values = {}
    for tick in range(6):
        for side, node, name in (("outputs", names[0], "y"), ("outputs", names[1], "y")):
            row = np.array([[tick, -tick, 0.5, np.sin(tick)]], np.float32)
            values[f"{tick}/{side}/{node}/{name}"] = row
    golden = folder / "test_golden.safetensors"
    save_file(values, golden, metadata={"ticks": "6", "rtol": "0.001", "atol": "1e-05"})
    bundle.pipeline["golden"] = golden.name
    bundle.pipeline["golden_sha256sum"] = hashlib.sha256(golden.read_bytes()).hexdigest()
    bundle.pipeline["configs"] = {"frequency": 50}
    path = bundle.output(names[1], "y").write()
    output = {
        "name": "y",
        "passed": True,
        "verdict": "close",
        "difference": {"max": 1.25e-7, "mean": 1e-8, "p99": 1.2e-7},
    }
    report = {
        "version": 1,
        "yaml_sha256sum": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
        "passed": True,
        "rtol": 0.001,
        "atol": 1e-5,
        "nodes": [
            {
                "node": names[1],
                "passed": True,
                "samples": [{"label": "sample 0", "outputs": [output]}],
            }
        ],
    }
    (folder / "validation.json").write_text(json.dumps(report))
    return path


def make_page(folder: Path, *arguments: object, **options: Any) -> Path:
    page = folder / "page.html"
    leapp("view", make_bundle(folder / "bundle", **options), "--no-open", "--out", page, *arguments)
    return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt install chromium)")
    with Browser() as one:
        yield one


@pytest.fixture(autouse=True)
def _no_complaints(request: pytest.FixtureRequest) -> Iterator[None]:
    """In every test, the page's script reports no error and loads nothing."""
    yield
    if "browser" in request.fixturenames and CHROMIUM is not None:
        one = request.getfixturevalue("browser")
        complaints, requests = list(one.complaints), set(one.requests)
        one.complaints.clear()
        one.requests.clear()
        assert complaints == []
        assert all(url.startswith(("file:", "about:")) for url in requests)


def node_at(name: str) -> str:
    """Return an expression for a node of the drawing."""
    every = "[...document.querySelectorAll('#drawing .node')]"
    return f"{every}.find((e) => e.textContent.includes({json.dumps(name)}))"


def link_to(text: str) -> str:
    """Return an expression for a link of the panel."""
    every = "[...document.querySelectorAll('#panel .link')]"
    return f"{every}.find((e) => e.innerText.startsWith({json.dumps(text)}))"


def test_the_page_is_one_file_named_after_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_bundle(tmp_path / "bundle")
    monkeypatch.chdir(tmp_path)
    assert leapp("view", path, "--no-open").stdout == "test.html\n"
    text = (tmp_path / "test.html").read_text()
    assert "Content-Security-Policy" in text
    assert "src=" not in text and "href=" not in text.partition('id="data"')[0]


def test_the_whole_bundle(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    panel = browser.text("#panel")
    assert browser.text("#title") == "test"
    assert "policy/y" in panel and "float32 [1, 4]" in panel
    assert "observe/y → policy/x" in panel and "feedback" in panel.lower()
    assert "1.25e-7" in panel  # the worst error of the validation
    assert "6 ticks kept" in panel
    assert browser.evaluate("document.querySelectorAll('#drawing .node').length") == 3


def test_a_click_opens_a_node(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    browser.click(node_at("policy"))
    panel = browser.text("#panel")
    assert "Add" in panel and "walk.py:7 in step" in panel  # the operator and its line
    assert "target/joint/position" in panel and "knee" in panel and "unit: rad" in panel
    assert "bias" in panel and "mean 1" in panel
    assert browser.evaluate("document.querySelectorAll('#panel .histogram rect').length") == 40
    assert browser.evaluate("location.hash") == "#node=policy"
    assert browser.evaluate("document.querySelectorAll('#drawing .chosen').length") == 1


def test_a_click_on_a_wire_shows_its_values(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    browser.click(link_to("observe/y"))
    assert "y → x" in browser.text("#panel h2")
    lines = (
        "[...document.querySelectorAll('#panel polyline')]"
        ".map((e) => e.getAttribute('points').split(' ').length)"
    )
    assert browser.evaluate(lines) == [6, 6, 6, 6]


def test_a_wire_in_the_drawing_can_be_hit(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    browser.evaluate("""(() => {
        const path = document.querySelector('[aria-label="wire observe/y to policy/x"] .wide');
        const middle = path.getPointAtLength(path.getTotalLength() / 2);
        const point = middle.matrixTransform(path.getScreenCTM());
        const hit = document.elementFromPoint(point.x, point.y);
        hit.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    })()""")
    browser.evaluate("new Promise((done) => setTimeout(done, 30))")
    assert "y → x" in browser.text("#panel h2")


def test_keys_search_and_themes(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    browser.key("j")
    assert browser.text("#panel h2").startswith("observe")
    browser.key("j")
    assert browser.text("#panel h2").startswith("policy")
    browser.key("/")
    for letter in "knee":
        browser.key(letter)
    assert "1 result" in browser.text("#panel") and "policy/y" in browser.text("#panel")
    browser.key("Escape")
    browser.key("Escape")
    assert browser.text("#panel h2") == "test"
    theme = browser.evaluate("document.documentElement.dataset.theme")
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.key("t")
    assert browser.evaluate("document.documentElement.dataset.theme") != theme
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") != background
    browser.key("t")


def test_zoom_keeps_the_point_under_the_pointer(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    box = f"({node_at('policy')}).getBoundingClientRect()"
    where = f"(() => {{ const b = {box}; return [b.x, b.width]; }})()"
    x, width = browser.evaluate(where)
    browser.evaluate(
        f"document.getElementById('drawing').dispatchEvent(new WheelEvent('wheel',"
        f" {{ deltaY: -400, clientX: {x}, clientY: 300, bubbles: true, cancelable: true }}))"
    )
    after, wider = browser.evaluate(where)
    assert wider > width * 1.3
    assert after == pytest.approx(x, abs=1)


@pytest.mark.parametrize(
    "address", ["", "node=", "wire=1", "node=%", "constructor", "inputs=policy/y"]
)
def test_unknown_addresses_show_the_bundle(address: str, tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path), address)
    assert browser.text("#panel h2") == "test"


def test_hostile_names_are_names(tmp_path: Path, browser: Browser) -> None:
    bundle = Bundle(tmp_path)
    write_model(tmp_path / "m.onnx", np.ones((1, 4), np.float32), where=HOSTILE[1])
    for i, name in enumerate(HOSTILE):
        node = name.replace("/", "\u2215")  # a node's name contains no slash
        bundle.node(f"n{i}", tmp_path / "m.onnx", ["x"], ["y"])
        bundle.models[node] = bundle.models.pop(f"n{i}")
        port = bundle.models[node]["outputs"][0]
        port.update(kind=name, element_names=[[name, "b", "c", "d"]], colour=name)
        bundle.input(node, "x").output(node, "y")
    bundle.pipeline["configs"] = {HOSTILE[0]: HOSTILE[1]}
    page = tmp_path / "page.html"
    leapp("view", bundle.write(), "--no-open", "--out", page)
    browser.open(page)
    for node in range(len(HOSTILE)):
        browser.evaluate(f"go(addressOf({{ kind: 'node', node: data.nodes[{node}] }}))")
        browser.evaluate("new Promise((done) => setTimeout(done, 10))")
        shown = browser.text("#panel")
        kind = HOSTILE[node].replace("\u202e", "\\u202e")
        assert kind in shown
    assert "gnp.\\u202eexe" in browser.text("#drawing")  # nothing reverses the text
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.evaluate("typeof window.hacked") == "undefined"
    assert (
        browser.evaluate("document.querySelectorAll('main img, main script, #printed img').length")
        == 0
    )


def test_print_has_everything(tmp_path: Path, browser: Browser) -> None:
    browser.open(make_page(tmp_path))
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    printed = browser.evaluate("document.getElementById('printed').textContent")
    assert "observe" in printed and "walk.py:7 in step" in printed and "bias" in printed
    assert browser.pdf().startswith(b"%PDF")


def test_many_nodes_are_drawn_by_the_page_itself(tmp_path: Path, browser: Browser) -> None:
    bundle = Bundle(tmp_path)
    write_model(tmp_path / "m.onnx", np.ones((1, 4), np.float32))
    entry = bundle.node("n0", tmp_path / "m.onnx", ["x"], ["y"]).models["n0"]
    for i in range(1, 1000):
        bundle.models[f"n{i}"] = entry
        bundle.wire(f"n{i - 1}/y", f"n{i}/x")
    page = tmp_path / "page.html"
    leapp("view", bundle.input("n0", "x").output("n999", "y").write(), "--no-open", "--out", page)
    browser.open(page)
    assert "Drawn by this page itself: this bundle has 1000 nodes" in browser.text(
        "#drawing .remark"
    )
    assert browser.evaluate("document.querySelectorAll('#drawing .node').length") == 1000
    browser.click("[...document.querySelectorAll('#drawing .node')][500]")
    assert browser.text("#panel h2").startswith("n500")


def test_latencies_robot_and_recording(tmp_path: Path, browser: Browser) -> None:
    runtime = pytest.importorskip("leapp")
    path = make_bundle(tmp_path / "bundle")
    document = yaml.safe_load(Path(path).read_text())
    port = document["models"]["observe"]["inputs"][0]
    port.update(kind="state/joint/position", element_names=[["a", "b", "c", "d"]], unit="rad")
    document["pipeline"].pop("feedback_flow")
    document["pipeline"]["inputs"] = {"observe": ["x"]}
    Path(path).write_text(yaml.safe_dump(document, sort_keys=False))
    robot = tmp_path / "robot.yaml"
    names = json.dumps(["hip", "knee", "ankle", HOSTILE[0]])
    robot.write_text(
        "rate: 50\nsensors:\n"
        "  encoders: {kind: state/joint/position, elements: [d, c, b, a], unit: deg}\n"
        "actuators:\n"
        f"  motors: {{kind: target/joint/position, elements: {names}, unit: rad}}\n"
    )
    report = tmp_path / "bench.json"
    report.write_text(leapp("bench", path, "--ticks", 20, "--json").stdout)
    time = 0.0
    controller = runtime.Controller(
        path, robot, recording=tmp_path / "run.mcap", clock=lambda: time
    )
    controller.start()
    for tick in range(30):
        controller.set_sensor("encoders", [tick, 0, 0, 0])
        controller.update()
        time += 0.02
    del controller
    page = tmp_path / "page.html"
    leapp("view", path, "--no-open", "--out", page, "--bench", report, "--robot", robot,
          "--recording", tmp_path / "run.mcap")  # fmt: skip
    browser.open(page)
    panel = browser.text("#panel")
    assert "20 ticks · 50 Hz" in panel
    assert "encoders[3] a" in panel and "0.01745" in panel and "fits" in panel
    assert "30 ticks of the loop" in panel and "start" in panel
    browser.evaluate("go('inputs=' + encodeURIComponent('observe/x'))")
    browser.evaluate("new Promise((done) => setTimeout(done, 30))")
    assert browser.evaluate("document.querySelectorAll('#panel polyline').length") == 4


def test_a_file_that_is_not_a_bench_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("{}")
    path = make_bundle(tmp_path / "bundle")
    done = leapp("view", path, "--no-open", "--bench", tmp_path / "report.json", code=1)
    assert "leapp bench bundle.yaml --json" in done.stderr and "[LP961]" in done.stderr


def test_unreadable_models_become_remarks(tmp_path: Path, browser: Browser) -> None:
    path = make_bundle(tmp_path / "bundle")
    (tmp_path / "bundle" / "policy.onnx").write_bytes(b"\0broken")
    (tmp_path / "bundle" / "test_golden.safetensors").write_bytes(b"short")
    (tmp_path / "bundle" / "validation.json").write_text("[")
    page = tmp_path / "page.html"
    leapp("view", path, "--no-open", "--out", page)
    browser.open(page)
    assert "SHA256 checksum mismatch" in browser.text("#panel .remark")
    assert "golden traces" in browser.text("#panel")
    browser.open(page, "node=policy")
    assert "policy.onnx" in browser.text("#panel .remark")


def test_torchscript_shows_its_source_and_weights(tmp_path: Path, browser: Browser) -> None:
    bundle = Bundle(tmp_path)
    bundle.node("policy", "affine.pt", ["x"], ["y"]).input("policy", "x").output("policy", "y")
    page = tmp_path / "page.html"
    leapp("view", bundle.write(), "--no-open", "--out", page)
    browser.open(page, "node=policy")
    assert "def forward" in browser.text("#panel pre")


@needs_browser
def test_diff_as_a_page(tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "changes.html"
    before, after = make_bundle(tmp_path / "a"), make_bundle(tmp_path / "b", weight=1.5)
    leapp("diff", before, after, "--html", page, code=5)
    browser.open(page)
    assert "worst error 0.5, element 3" in browser.text("#panel")
    assert browser.evaluate("document.querySelectorAll('#drawing .changed').length") == 1
    browser.click(link_to("policy: bias"))
    assert browser.text("#panel h2").startswith("policy")
