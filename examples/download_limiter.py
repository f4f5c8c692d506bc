# SPDX-License-Identifier: Apache-2.0
"""Download many pages from one server, but at most four at a time.

    python examples/download_limiter.py

The script starts its own server, so it works offline.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen

from fairlock import Lock, Semaphore

PAGES = 24
THREADS = 12
LIMIT = 4

downloads = Semaphore(LIMIT)


def fetch(url: str) -> int:
    with downloads, urlopen(url) as page:  # at most LIMIT threads at a time, and no thread starves
        return len(page.read())


class Server(BaseHTTPRequestHandler):
    """A slow server that counts how many requests it answers at once."""

    counting = Lock()
    busy = most_busy = 0

    def do_GET(self) -> None:
        with self.counting:
            Server.busy += 1
            Server.most_busy = max(Server.most_busy, Server.busy)
        time.sleep(0.05)
        with self.counting:
            Server.busy -= 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * 1000)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server, ThreadPoolExecutor(THREADS) as pool:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        total = sum(pool.map(fetch, [url] * PAGES))
        server.shutdown()
    print(f"{PAGES} pages, {total} bytes, with {THREADS} threads")
    print(f"the server answered at most {Server.most_busy} requests at once")
    print(f"the longest wait for a permit took {downloads.statistics().longest:.2f} s")
