#!/usr/bin/env python3
"""Opens an HTML report in headless Chromium and uses it as a person would.

    check_html.py FILE.html... [--screenshots DIR] [--max-seconds S] [--expect TEXT]...

Speaks the DevTools protocol over a pipe (Python's standard library only). Fails when the page logs an error, asks for
anything outside the file, opens a dialog, overflows sideways, or when timeline, lanes or filter do not answer to clicks.
Exit status: 0 all held, 1 something failed (named on stdout), 2 no browser.
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--remote-debugging-pipe", "--hide-scrollbars"]


class Browser:
    def __init__(self, program, profile):
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()

        def wire():
            os.dup2(to_browser, 103)
            os.dup2(from_browser, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={profile}", "about:blank"], preexec_fn=wire,
                                        close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.next_id = 0
        self.buffer = b""
        self.events = []
        self.session = None

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)
                if answer["method"] == "Page.javascriptDialogOpening":
                    self.next_id += 1
                    reply = {"id": self.next_id, "method": "Page.handleJavaScriptDialog", "params": {"accept": False},
                             "sessionId": self.session}
                    os.write(self.out, json.dumps(reply).encode() + b"\0")

    def open_page(self):
        self.session = None
        self.events.clear()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Performance"):
            self.call(f"{domain}.enable")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait_for(self, expression, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.evaluate(expression):
                return True
            time.sleep(0.02)
        return False

    def click(self, selector):
        box = self.evaluate(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          node.scrollIntoView({{block: 'center'}});
          const box = node.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def drag(self, selector, share_from, share_to):
        box = self.evaluate(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          node.scrollIntoView({{block: 'center'}});
          const box = node.getBoundingClientRect();
          return [box.left, box.width, box.top + box.height / 2];
        }})()""")
        at = lambda share: {"x": box[0] + box[1] * share, "y": box[2], "button": "left", "buttons": 1, "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **at(share_from))
        for step in range(1, 6):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", **at(share_from + (share_to - share_from) * step / 5))
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **at(share_to))

    def type_text(self, selector, text):
        self.click(selector)
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.kill()
        self.process.wait()


class Checks:
    def __init__(self):
        self.failures = []

    def __call__(self, holds, sentence):
        if not holds:
            self.failures.append(sentence)
            print("FAILED:", sentence)


def foreign_requests(events, url):
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [u for u in asked if u.split("#")[0] != url and not u.startswith(("data:", "blob:", "about:"))]


def errors(events):
    found = []
    for event in events:
        params = event["params"]
        if event["method"] == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            found.append(str(details.get("exception", {}).get("description") or details["text"]))
        elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            found.append(str(params["args"]))
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            found.append(params["entry"]["text"])
    return found


def set_width(browser, width, height=900):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


def thread_seconds(browser):
    metrics = browser.call("Performance.getMetrics")["metrics"]
    return next(m["value"] for m in metrics if m["name"] == "ThreadTime")


def load(browser, url, ready):
    """Opens the page; returns the seconds it took, by the clock and of the page's own thread (other work on the machine
    does not count in the second)."""
    before = thread_seconds(browser)
    start = time.monotonic()
    browser.call("Page.navigate", url=url)
    if ready:
        browser.wait_for("document.documentElement?.dataset.ready === 'true'", 60)
    else:
        browser.wait_for("document.readyState === 'complete'", 60)
    worked = thread_seconds(browser)
    return time.monotonic() - start, worked - before if worked >= before else worked


def text_without_script(browser, url):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.call("Page.navigate", url=url)
    time.sleep(0.5)
    snapshot = browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])
    texts = snapshot["documents"][0]["layout"]["text"]
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    return " ".join(snapshot["strings"][i] for i in texts if i >= 0)


def check_timeline(browser, check):
    shown = "document.getElementById('timeline-range').textContent"
    marks = "document.querySelectorAll('#timeline-svg .mark').length"
    check(browser.evaluate(marks) > 0, "the timeline has marks")
    whole = browser.evaluate(shown)
    check(whole.count("Z") == 2, f"the timeline says its range: {whole}")
    browser.click("#zoom-in")
    zoomed = browser.evaluate(shown)
    check(zoomed != whole, "zoom in narrows the timeline")
    browser.click("#pan-right")
    check(browser.evaluate(shown) != zoomed, "the arrow moves the timeline")
    browser.click("#zoom-all")
    check(browser.evaluate(shown) == whole, "'all' shows the whole timeline again")
    browser.drag("#timeline-svg", 0.3, 0.6)
    check(browser.evaluate(shown) != whole, "dragging over the timeline zooms")
    browser.click("#zoom-all")
    lanes = browser.evaluate("""(() => {
      const lanes = document.getElementById('lanes');
      lanes.value = 'rank';
      lanes.dispatchEvent(new Event('change'));
      return [...document.querySelectorAll('#timeline-svg title')].length;
    })()""")
    check(lanes > 0, "lanes by rank are drawn")
    browser.evaluate("""(() => {
      const lanes = document.getElementById('lanes');
      lanes.value = 'file';
      lanes.dispatchEvent(new Event('change'));
    })()""")
    browser.click("#timeline-svg .mark")
    check("picked" in browser.evaluate("document.getElementById('page-text').textContent"),
          "a click on a mark lists what it holds")
    browser.click("#filter-clear")


def check_filter(browser, check):
    rows = "document.querySelectorAll('#observation-rows tr').length"
    said = "document.getElementById('page-text').textContent"
    everything = browser.evaluate(said)
    browser.type_text("#filter-text", "no-such-word-anywhere")
    check(browser.wait_for(f"{rows} === 0", 3), "a word that is nowhere leaves no row")
    browser.click("#filter-clear")
    check(browser.wait_for(f"{said} === {json.dumps(everything)}", 3), "clearing the filter shows everything again")
    rule = browser.evaluate("document.querySelector('#observation-rows tr td:nth-child(4)').textContent.split(' ')[0]")
    browser.type_text("#filter-text", rule)
    time.sleep(0.3)
    all_match = browser.evaluate(f"""[...document.querySelectorAll('#observation-rows tr')]
        .every((row) => row.textContent.includes({json.dumps(rule)}))""")
    check(browser.evaluate(rows) > 0 and all_match, f"the filter keeps rows with '{rule}'")
    browser.click("#filter-clear")


def run(browser, options, check):
    url = Path(options.file).resolve().as_uri()
    has_data = 'id="data"' in Path(options.file).read_text(encoding="utf-8")
    browser.open_page()
    set_width(browser, 1280)
    seconds, worked = load(browser, url, has_data)
    print(f"loaded in {seconds:.2f} s, {worked:.2f} s of work")
    check(worked <= options.max_seconds, f"loads within {options.max_seconds} s, took {worked:.2f}")
    if has_data:
        check(browser.evaluate("document.documentElement?.dataset.ready === 'true'"), "the script ran to its end")
    check(browser.evaluate("document.querySelectorAll('img, iframe, object, embed, form').length === 0"),
          "no element that log text could have made")
    check(browser.evaluate("document.querySelectorAll('script').length") <= 2, "no script but the page's own")
    set_width(browser, 1280)
    for width in (1280, 420):
        set_width(browser, width)
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"nothing overflows at {width} px")
    set_width(browser, 1280)
    if options.screenshots:
        folder = Path(options.screenshots)
        folder.mkdir(parents=True, exist_ok=True)
        browser.screenshot(folder / "light.png")
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.screenshot(folder / "dark.png")
        browser.call("Emulation.setEmulatedMedia", features=[])
        set_width(browser, 420)
        browser.screenshot(folder / "narrow.png")
        set_width(browser, 1280)
    if browser.evaluate("!!document.getElementById('timeline-svg')") and has_data:
        check_timeline(browser, check)
    if has_data:
        check_filter(browser, check)
        browser.click("#theme")
        check(browser.evaluate("document.documentElement.dataset.theme") in ("dark", "light"), "the theme button switches")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    check(pdf.startswith(b"%PDF") and len(pdf) > 2000, "prints")
    if options.screenshots:
        (Path(options.screenshots) / "print.pdf").write_bytes(pdf)
    plain = text_without_script(browser, url)
    for text in options.expect:
        check(text in plain, f"without script the page says '{text}'")
    check(not any(e["method"] == "Page.javascriptDialogOpening" for e in browser.events), "no dialog opens")
    check(not errors(browser.events), f"no error in the console: {errors(browser.events)}")
    check(not foreign_requests(browser.events, url), f"no request leaves the file: {foreign_requests(browser.events, url)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--screenshots")
    parser.add_argument("--max-seconds", type=float, default=3.0)
    parser.add_argument("--expect", action="append", default=[], help="text that each page must show without script")
    options = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("no Chromium here")
        return 2
    check = Checks()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            for options.file in options.files:
                print(options.file)
                run(browser, options, check)
        finally:
            browser.close()
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
