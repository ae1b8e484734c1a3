# A receiver of webhooks that verifies, answers and then works. Nothing has to be installed.
# WEBHOOK_SECRET=whsec_… PORT=4000 python3 verify.py
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
LONGEST_BODY = 1024 * 1024


def verify(header, body, secret, now=None):
    """Whether one of the header's signatures was made with the secret, over these bytes, within 300 seconds of now."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected) for name, value in parts)


SECRET = os.environ["WEBHOOK_SECRET"]
# The deliveries seen so far. A real receiver stores each in its database, by event_id, before it answers.
done = set()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if length > LONGEST_BODY:
            self.close_connection = True
            return self.answer(400)
        body = self.rfile.read(length)  # as it came: parsing and serializing changes bytes
        if not verify(self.headers.get("X-Service-Signature", ""), body, SECRET):
            return self.answer(400)
        # The work comes after the answer: after 10 seconds without an answer the delivery counts as failed.
        self.answer(204)
        delivery = json.loads(body)
        if delivery["delivery_id"] in done:
            return
        done.add(delivery["delivery_id"])
        print(f"delivery {delivery['delivery_id']}: {delivery['event']} {json.dumps(delivery['data'])}", flush=True)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
