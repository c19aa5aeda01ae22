"""Tell a picture's format by its first bytes: the content decides, not the suffix."""

from __future__ import annotations

from pathlib import Path

from sightline.errors import InputError

#: Suffixes of what `read_picture` can read, lower case with dot.
PICTURE_SUFFIXES: frozenset[str] = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".apng", ".webp", ".gif", ".tif", ".tiff"}
    | {".bmp", ".dib", ".ppm", ".pgm", ".pbm", ".pnm", ".avif", ".jp2", ".j2k", ".jpx"}
    | {".hdr", ".exr"}
)

_READABLE = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "bigtiff"),
    (b"MM\0+", "bigtiff"),
    (b"BM", "bmp"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "jpeg2000"),
    (b"\xff\x4f\xff\x51", "jpeg2000"),
    (b"#?RADIANCE", "hdr"),
    (b"#?RGBE", "hdr"),
    (b"v/1\x01", "exr"),
    *((b"P%d" % n, "pnm") for n in range(1, 7)),
)

#: What people hand in by mistake, with the name they know it by.
_OTHERS = (
    (b"%PDF", "a PDF document"),
    (b"8BPS", "a Photoshop document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"<svg", "an SVG drawing"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
)

_AVIF_BRANDS = (b"avif", b"avis")
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")


def sniff(data: bytes, *, path: str | Path | None = None) -> str:
    """Return the name of the format, such as `"jpeg"`; raise `InputError` for anything unreadable.

    Args:
        data: the file, or at least its first 64 bytes.
        path: only for the message.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp":
        return _sniff_boxes(data, path)
    for magic, name in _READABLE:
        if data.startswith(magic) and (name != "pnm" or data[2:3].isspace()):
            return name
    for magic, name in _OTHERS:
        if data.lstrip()[: len(magic)].lower() == magic.lower():
            raise InputError(f"is {name}", path=path, remedy="give a picture, such as JPEG or PNG")
    kind = "is text, not a picture" if _is_text(data[:64]) else "is not a picture of a known format"
    raise InputError(kind, path=path, remedy="give JPEG, PNG, WebP, TIFF, AVIF, HDR or EXR")


def _sniff_boxes(data: bytes, path: str | Path | None) -> str:
    """Tell apart the formats that share the container of MP4."""
    brands = [data[8:12], *(data[at : at + 4] for at in range(16, 64, 4))]
    if any(brand in _AVIF_BRANDS for brand in brands):
        return "avif"
    if brands[0] in _HEIC_BRANDS:
        raise InputError("is a HEIC picture", path=path, remedy="convert it to JPEG or PNG first")
    raise InputError(
        "is a video, not a picture", path=path, remedy="give it a video's suffix, such as .mp4"
    )


def _is_text(head: bytes) -> bool:
    try:
        return head.decode("utf-8", errors="strict").isprintable() or head.isascii()
    except UnicodeDecodeError:
        return False
