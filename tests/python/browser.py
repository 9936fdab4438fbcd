"""A headless Chromium, controlled by its own protocol through two pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed (apt install chromium)"
)


class Browser:
    """One tab. ``complaints`` has the errors that the page's scripts reported."""

    def __init__(self, width: int = 1400, height: int = 860) -> None:
        assert CHROMIUM is not None
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_test, to_browser = os.pipe()
        from_browser, to_test = os.pipe()

        def pipes() -> None:  # the browser reads from 3 and writes to 4
            ends = os.dup(from_test), os.dup(to_test)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--window-size={width},{height}",
                f"--user-data-dir={self._folder.name}",
                "about:blank",
            ],
            preexec_fn=pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_test)
        os.close(to_test)
        self._out = os.fdopen(to_browser, "wb", buffering=0)
        self._in = os.fdopen(from_browser, "rb", buffering=0)
        self._pending = b""
        self._last = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def open(self, page: Path, address: str = "") -> None:
        """Load a file and wait until its script has drawn it."""
        self._call("Page.navigate", url="about:blank")
        self._call(
            "Page.navigate", url=page.resolve().as_uri() + ("#" + address if address else "")
        )
        self.evaluate(
            "new Promise((done) => { const look = () =>"
            " document.documentElement?.dataset.ready ? done() : setTimeout(look, 10); look(); })"
        )

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, script: str) -> None:
        """Click with the mouse in the middle of the element that an expression returns."""
        box = self.evaluate(
            f"(() => {{ const b = ({script}).getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=box[0],
                y=box[1],
                button="left",
                clickCount=1,
            )
        self.evaluate("new Promise((done) => setTimeout(done, 30))")

    def key(self, key: str) -> None:
        named = {"Escape": 27, "Enter": 13}
        text = {} if key in named else {"text": key}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.evaluate("new Promise((done) => setTimeout(done, 30))")

    def screenshot(self, file: Path) -> None:
        picture = self._call("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(picture))

    def pdf(self) -> bytes:
        return base64.b64decode(self._call("Page.printToPDF")["data"])

    def _call(self, method: str, **params: Any) -> Any:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            self._note(answer)
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            part = self._in.read(1 << 16)
            assert part, "the browser ended"
            self._pending += part
        message, _, self._pending = self._pending.partition(b"\0")
        result: dict[str, Any] = json.loads(message)
        return result

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
