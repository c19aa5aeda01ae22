"""Workers that cannot start: nobody is kept waiting, and all is well again once one can."""

from __future__ import annotations

import os

from .conftest import running, wait_for

#: Ends worker processes before they have begun, as long as a file is there.
SABOTAGE = """
import os
import sys

if "--multiprocessing-fork" in sys.orig_argv and os.path.exists(os.environ["SABOTAGE"]):
    os._exit(3)
"""


def test_workers_that_cannot_start(tmp_path, small_photo):
    (tmp_path / "sitecustomize.py").write_text(SABOTAGE)
    broken = tmp_path / "broken"
    broken.touch()
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    environment = {"PYTHONPATH": path, "SABOTAGE": str(broken)}
    with running(tmp_path, "--model", "tiny", **environment) as live:
        early = live.client.post("/v1/depth", files={"image": small_photo})
        assert early.status_code == 503  # it came while it was still hoped for
        health = live.client.get("/healthz")
        assert health.status_code == 503
        assert health.json()["status"] == "failing"
        assert "exit code 3" in health.json()["error"]
        assert int(health.headers["retry-after"]) >= 1
        refused = live.client.post("/v1/depth", files={"image": small_photo})
        assert refused.status_code == 503
        assert refused.elapsed.total_seconds() < 5
        assert refused.json()["error"].startswith("The worker processes cannot start")
        assert "retry-after" in refused.headers
        assert live.client.get("/").status_code == 200  # the page still says so
        broken.unlink()
        wait_for(lambda: live.client.get("/healthz").status_code == 200)
        live.wait_ready()
        assert live.client.post("/v1/depth", files={"image": small_photo}).status_code == 200
        wait_for(lambda: not [path for path in live.left() if path.name.startswith("upload-")])
