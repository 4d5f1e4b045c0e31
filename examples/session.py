"""Drives a session with Python's standard library only.

    python3 session.py https://example.com

Opens the page, reads it with Playwright code that runs inside the session, clicks and types on the screen, passes a
file through the session, and keeps a picture and a video.
"""

import json
import os
import sys
import time
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

BASE = os.environ.get("KERNEL_BASE_URL", "http://127.0.0.1:8080")
KEY = os.environ["KERNEL_API_KEY"]


def call(method, path, body=None, content_type="application/json"):
    """Sends a request, and returns the status and the bytes of the answer. An error of the API ends the program."""
    data = json.dumps(body).encode() if content_type == "application/json" and body is not None else body
    headers = {"Authorization": f"Bearer {KEY}"}
    if data is not None:
        headers["Content-Type"] = content_type
    try:
        with urlopen(Request(BASE + path, data, headers, method=method), timeout=120) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        raise SystemExit(f"{method} {path}: {error.read().decode()}") from None


def ask(method, path, body=None):
    return json.loads(call(method, path, body)[1])


def main(address):
    session = ask("POST", "/browsers", {"headless": True, "timeout_seconds": 300})
    at = f"/browsers/{session['session_id']}"
    try:
        replay = ask("POST", f"{at}/replays", {})["replay_id"]

        code = f"await page.goto({json.dumps(address)}); return page.locator('h1').innerText()"
        read = ask("POST", f"{at}/playwright/execute", {"code": code})
        if not read["success"]:
            raise SystemExit(f"Cannot read {address}: {read['error']}")
        print("Heading:", read["result"])

        # A page of our own, to have something to type into.
        form = "await page.setContent('<textarea autofocus style=\"width:100%;height:90vh\"></textarea>')"
        ask("POST", f"{at}/playwright/execute", {"code": form})
        call("POST", f"{at}/computer/click_mouse", {"x": 300, "y": 200})
        call("POST", f"{at}/computer/type", {"text": "Ahoy from Python"})
        wait = "await page.waitForFunction(() => document.querySelector('textarea').value.endsWith('Python'))"
        typed = ask("POST", f"{at}/playwright/execute", {"code": f"{wait}; return page.inputValue('textarea')"})
        print("Typed:", typed["result"])
        save("screen.png", call("POST", f"{at}/computer/screenshot", {})[1])

        file = f"path={quote('/home/kernel/notes.txt')}"
        call("PUT", f"{at}/fs/write_file?{file}", b"tea, rum\n", "application/octet-stream")
        print("File:", call("GET", f"{at}/fs/read_file?{file}")[1].decode().strip())

        call("POST", f"{at}/replays/{replay}/stop")
        status, video = call("GET", f"{at}/replays/{replay}")
        while status == 202:  # not ready yet
            time.sleep(0.25)
            status, video = call("GET", f"{at}/replays/{replay}")
        save("replay.mp4", video)
    finally:
        call("DELETE", at)


def save(name, content):
    with open(name, "wb") as file:
        file.write(content)
    print("Kept:", name, len(content), "bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "https://example.com")
