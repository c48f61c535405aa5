"""A receiver of webhooks with the standard library: python3 receiver.py, with the secret in ERGON_WEBHOOK_SECRET."""

import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("ERGON_WEBHOOK_SECRET", "")
TOLERANCE_S = 300
# An event may arrive twice. A real receiver keeps the ids beside what it does, in one transaction.
handled = set()


def verify(body: bytes, header: str) -> dict:
    """Returns the event; raises ValueError for a forged or an old delivery."""
    parts = [part.partition("=") for part in header.split(",")]
    timestamp = next((value for name, _, value in parts if name == "t"), "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise ValueError("the delivery is too old, or has no time")
    mac = hmac.new(SECRET.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not any(hmac.compare_digest(value, mac) for name, _, value in parts if name == "v1"):
        raise ValueError("no signature fits")
    return json.loads(body)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            event = verify(body, self.headers.get("X-Svc-Signature", ""))
        except ValueError as error:
            return self.answer(400, str(error))
        if event["event_id"] not in handled:
            print(event["event"], event["event_id"], event["data"], flush=True)
        handled.add(event["event_id"])
        # Within 15 s: do long work after the answer.
        self.answer(200, "")

    def answer(self, status: int, text: str):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    # With an empty secret everyone signs.
    if not SECRET.startswith("whsec_") or SECRET == "whsec_":
        sys.exit("Set ERGON_WEBHOOK_SECRET to what `ergon webhook create` printed: whsec_…")
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
