"""Files of the Hugging Face hub, in the hub's own cache, so that other tools share them."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path

from sightline.errors import InputError
from sightline.models.entry import HubFile

_SHA256 = re.compile(r"[0-9a-f]{64}")


def cached(source: HubFile) -> Path | None:
    """Return the file in the local hub cache, or one with the same weights; None without either."""
    from huggingface_hub import try_to_load_from_cache

    for repo, file in ((source.repo, source.file), *source.also):
        found = try_to_load_from_cache(repo, file, revision=source.revision)
        # The answer may also be a marker for "known not to exist".
        if isinstance(found, str) and Path(found).is_file():
            return Path(found)
    return None


def download(source: HubFile, *, again: bool = False) -> Path:
    """Download the file into the hub cache, or find it there.

    Args:
        source: file to download.
        again: ignore the cached file.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

    # By version the transport is requests or httpx; its base error is a base of the hub's own.
    transport = (base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception))
    failures: tuple[type[Exception], ...] = (EntryNotFoundError, OSError, *transport)
    try:
        # One question without retries: whoever is offline learns so at once.
        get_hf_file_metadata(hf_hub_url(source.repo, source.file, revision=source.revision))
        found = hf_hub_download(
            source.repo, source.file, revision=source.revision, force_download=again
        )
    except HfHubHTTPError as error:
        raise InputError(f"the hub says: {_first_line(error)}") from error
    except failures as error:
        raise InputError(f"the hub cannot be reached: {_first_line(error)}") from error
    return Path(found)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def stated_sha256(path: Path) -> str | None:
    """Return the checksum of a cached large file, in hex, which is the name of its blob.

    None where the cache holds a copy instead of a link (Windows without the right to make links).
    """
    name = path.resolve().name
    return name if _SHA256.fullmatch(name) else None


_LIBRARIES = ("transformers", "diffusers")


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Silence the log output of the hub library inside the block."""
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they will deprecate is no user's business
        for name in _LIBRARIES:
            if name in sys.modules:
                stack.enter_context(_quiet(name))
        yield


@contextmanager
def _quiet(library: str) -> Iterator[None]:
    logging = import_module(f"{library}.utils.logging")
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
