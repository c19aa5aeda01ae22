"""What can be set when pictures are labelled: one field, one flag of `sightline label`.

Kept free of heavy imports, because `sightline label --help` is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.batch.options import Flag, check_ranges
from sightline.errors import InputError


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """How to label.

    Attributes:
        model: the teacher: name of a model (see `sightline models`) or a weight file.
        size: shorter side of the network's input, and of the labels, in pixels; default: what the
            model was made for.
        mirror: average with the answer to the mirrored picture: better labels, twice the time.
        workers: processes that share the pictures; on a cluster, default: one per processor.
        threads: processor threads in all; default: every core. On a cluster: of each worker,
            default 1.
        cluster: work on Ray instead of processes of this machine.
        address: of the Ray cluster, such as auto or ray://host:10001; default: RAY_ADDRESS, else one
            of this machine alone.
        recursive: look into subfolders of given folders.
        engine: what runs the network.
        device: device of the engine, for example cpu, cuda or mps.
        accept_licence: accept the model's non-commercial licence.
        max_pixels: refuse pictures with more pixels than this.
    """

    model: str = "default"
    size: int | None = None
    mirror: Annotated[bool, Parameter(negative="--no-mirror")] = True
    workers: int | None = None
    threads: int | None = None
    cluster: Flag = False
    address: str | None = None
    recursive: Flag = False
    engine: Literal["auto", "openvino", "torch"] = "auto"
    device: str | None = None
    accept_licence: Flag = False
    max_pixels: int = 200_000_000

    def __post_init__(self) -> None:
        check_ranges(
            self.size, threads=self.threads, workers=self.workers, max_pixels=self.max_pixels
        )
        if self.address is not None and not self.cluster:
            raise InputError("--address is that of a cluster", remedy="add --cluster")
