from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.errors import SightlineError
from sightline.models.archives import extract_member

MEMBER = "package/model.onnx"
BODY = bytes(range(256)) * 64


def tar_bytes(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as bundle:
        for info, body in members:
            info.size = len(body)
            bundle.addfile(info, io.BytesIO(body))
    return out.getvalue()


def zip_bytes(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, body in files.items():
            bundle.writestr(name, body)
    return out.getvalue()


TAR = tar_bytes((tarfile.TarInfo("package/a.txt"), b"a"), (tarfile.TarInfo(MEMBER), BODY))
ZIP = zip_bytes({"package/a.txt": b"a", MEMBER: BODY})


@pytest.mark.parametrize(("name", "data"), [("a.tgz", TAR), ("a.tar.gz", TAR), ("a.whl", ZIP)])
def test_the_member_comes_out_whole_and_alone(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    out = tmp_path / "out" / "model"
    out.parent.mkdir()
    digest = extract_member(tmp_path / name, MEMBER, out, limit=len(BODY))
    assert digest == hashlib.sha256(BODY).hexdigest()
    assert out.read_bytes() == BODY
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize(("name", "data"), [("a.tgz", TAR), ("a.whl", ZIP)])
def test_a_member_above_its_size_is_refused(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SightlineError, match=f"at most {len(BODY) - 1} bytes"):
        extract_member(tmp_path / name, MEMBER, tmp_path / "out", limit=len(BODY) - 1)


@pytest.mark.parametrize(("name", "data"), [("a.tgz", TAR), ("a.whl", ZIP)])
def test_a_missing_member_is_named(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SightlineError, match=r"holds no model\.onnx"):
        extract_member(tmp_path / name, "model.onnx", tmp_path / "out", limit=10**9)


def test_names_that_climb_out_are_never_written(tmp_path: Path):
    data = tar_bytes(
        (tarfile.TarInfo("../../evil"), b"evil"),
        (tarfile.TarInfo(str(tmp_path / "absolute")), b"evil"),
        (tarfile.TarInfo(MEMBER), BODY),
    )
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "x.tgz").write_bytes(data)
    extract_member(inside / "x.tgz", MEMBER, inside / "out", limit=len(BODY))
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"x.tgz", "out"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_pipes_are_refused(tmp_path: Path, kind: bytes):
    info = tarfile.TarInfo(MEMBER)
    info.type, info.linkname = kind, "/etc/hostname"
    (tmp_path / "x.tgz").write_bytes(tar_bytes((info, b"")))
    with pytest.raises(SightlineError, match="not a plain file"):
        extract_member(tmp_path / "x.tgz", MEMBER, tmp_path / "out", limit=10**6)


def test_a_tar_bomb_before_the_member_is_stopped(tmp_path: Path):
    bomb = tar_bytes((tarfile.TarInfo("zeros"), bytes(8 << 20)), (tarfile.TarInfo(MEMBER), BODY))
    assert len(bomb) < 100_000
    (tmp_path / "x.tgz").write_bytes(bomb)
    with pytest.raises(SightlineError, match="far more than it should"):
        extract_member(
            tmp_path / "x.tgz", MEMBER, tmp_path / "out", limit=len(BODY), total_limit=1 << 20
        )


def test_a_zip_that_lies_about_its_size_is_refused(tmp_path: Path):
    large = bytes(1 << 20)
    data = bytearray(zip_bytes({MEMBER: large}))
    claimed = (100).to_bytes(4, "little")
    central = data.rindex(b"PK\x01\x02")
    data[22:26] = claimed
    data[central + 24 : central + 28] = claimed
    (tmp_path / "x.whl").write_bytes(data)
    with pytest.raises(SightlineError, match="damaged"):
        extract_member(tmp_path / "x.whl", MEMBER, tmp_path / "out", limit=1000)
    assert (tmp_path / "out").stat().st_size <= 1000


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), suffix=st.sampled_from([".tgz", ".whl"]))
def test_damage_is_reported_or_harmless(tmp_path: Path, data: st.DataObject, suffix: str):
    damaged = bytearray(TAR if suffix == ".tgz" else ZIP)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(damaged)) | st.just(len(damaged)))
    archive = tmp_path / f"x{suffix}"
    archive.write_bytes(damaged[:cut])
    out = tmp_path / "out"
    try:
        digest = extract_member(archive, MEMBER, out, limit=len(BODY))
    except SightlineError:
        return
    assert digest == hashlib.sha256(out.read_bytes()).hexdigest()
