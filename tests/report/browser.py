"""A headless Chromium, spoken to over pipes in the DevTools protocol, with nothing but the standard library."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

_SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
).split()
CHROMIUM = shutil.which("chromium")


class Browser:
    """One page of a browser; what it logs and asks the network for is kept."""

    def __init__(self, profile, seconds=300):
        self.seconds = seconds
        (read_here, write_there), (read_there, write_here) = os.pipe(), os.pipe()
        # Chromium wants descriptors 3 and 4; numbers that are high do not collide with them.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (read_there, write_there)]
        command = f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, "_", CHROMIUM, *_SWITCHES, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (*theirs, read_there, write_there):
            os.close(end)
        self.reader, self.writer = read_here, write_here
        self.pending, self.number, self.session = b"", 0, None
        self.messages, self.requests, self.loaded = [], [], False
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def open(self, path, width, height=900, scheme="light"):
        """Show a file in a window of some width."""
        self.messages, self.requests, self.loaded = [], [], False
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + self.seconds
        while not self.loaded:
            self._take(self._next(deadline))

    def value(self, expression):
        """Evaluate JavaScript in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self):
        """Return the whole page as PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        return base64.b64decode(shot["data"])

    def pdf(self):
        """Return the page as it is printed."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        """End the browser."""
        os.close(self.writer)  # it ends by itself when nobody speaks to it any more
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)

    def ask(self, method, **params):
        """Send a command and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.seconds
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self._take(answer)

    def _take(self, event):
        """Keep what the page logs and asks for."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(json.dumps(params))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def _next(self, deadline):
        """Return the next message."""
        while b"\0" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                raise TimeoutError("Chromium did not answer.")
            data = os.read(self.reader, 1 << 20)
            if not data:
                raise EOFError("Chromium ended.")
            self.pending += data
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)
