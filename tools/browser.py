# SPDX-License-Identifier: Apache-2.0
"""Drive Chromium without a window, over a pipe. The tests of the report and docs/screenshots.py use it."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-extensions", "--disable-default-apps", "--mute-audio", "--remote-debugging-pipe"),
)


def find() -> str | None:
    """Return the path of the program, or None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with an empty profile. It runs until the end of the `with` block."""

    def __init__(self) -> None:
        program = find()
        if program is None:
            raise FileNotFoundError("Chromium is not installed (apt-get install chromium)")
        self._profile = tempfile.TemporaryDirectory(prefix="fairlock-browser-", ignore_cleanup_errors=True)
        commands, self._input = os.pipe()
        self._output, answers = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4. The copies have numbers above these.
        high_commands, high_answers = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (commands, answers))
        shell = f'exec "$0" "$@" 3<&{high_commands} 4>&{high_answers}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, program, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(high_commands, high_answers),
            start_new_session=True,
        )
        for end in (commands, answers, high_commands, high_answers):
            os.close(end)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.call("Browser.close", timeout=10)
            self._process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._input)
        os.close(self._output)
        self._profile.cleanup()

    def call(self, method: str, session: str | None = None, timeout: float = 60, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result. Events that arrive before the result go to `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._input, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while True:
            answer = self._receive(end, method)
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self, end: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._output], [], [], max(end - time.monotonic(), 0))
            if not ready:
                raise RuntimeError(f"{method}: no answer from the browser")
            data = os.read(self._output, 1 << 20)
            if not data:
                raise RuntimeError(f"{method}: the browser has ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def page(self) -> Page:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session)


class Page:
    """A tab of the browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def size(self, width: int, height: int, *, phone: bool = False, scale: float = 1) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )

    def dark(self, on: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path: Path) -> None:
        self._browser.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression. If it is a promise, wait for it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 60) -> None:
        self.until(lambda: bool(self.evaluate(condition)), condition, seconds)

    def until(self, condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"still false after {seconds:g} s: {what}")
            time.sleep(0.05)

    def hover(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path, *, top: float = 0, height: float, width: float) -> None:
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def _events(self, *methods: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self._browser.events if event["method"] in methods]

    def requests(self) -> list[str]:
        """Return the address of each request that the page made."""
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    def complaints(self) -> list[str]:
        """Return the exceptions, errors and warnings in the console."""
        messages = [event["exceptionDetails"].get("text", "") for event in self._events("Runtime.exceptionThrown")]
        messages += [
            event["entry"]["text"] for event in self._events("Log.entryAdded") if event["entry"]["level"] != "info"
        ]
        for event in self._events("Runtime.consoleAPICalled"):
            if event["type"] in ("error", "warning", "assert"):
                messages.append(" ".join(str(argument.get("value")) for argument in event["args"]))
        return messages
