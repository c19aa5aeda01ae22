"""Schemathesis reads the description of the service and holds the live server to it."""

from __future__ import annotations

import subprocess
import sys

import pytest

CHECKS = ",".join(
    (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "unsupported_method",
    )
)


def schemathesis(server, folder, examples: int, *words: str) -> str:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.address}/openapi.json"),
            *("--checks", CHECKS, "--max-examples", str(examples), "--seed", "1"),
            *("--workers", "1", "--no-color", "--request-timeout", "120", *words),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def test_the_server_keeps_to_its_description(server, tmp_path):
    out = schemathesis(server, tmp_path, 1, "--phases", "examples,fuzzing")
    assert "passed" in out


@pytest.mark.slow
def test_the_server_keeps_to_its_description_at_length(server, tmp_path):
    print(schemathesis(server, tmp_path, 60)[-1500:])
