"""Keep a trained network between milestones as what differs from a published model.

    python recipes/cpu/milestone.py pack --model RUN/model.safetensors --base small --out FILE
    python recipes/cpu/milestone.py unpack FILE --out WORK/start.safetensors

A run that starts from a published model with frozen blocks changes only part of its tensors. `pack`
writes those alone, in half precision, with the checksum of the base; `unpack` puts them into the base
again, and the file it writes is a start for `sightline train --start`. A base of another checksum is
refused: the frozen tensors would not be those the run has seen.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from sightline.depth.checkpoints import make_network, read_checkpoint, write_checkpoint
from sightline.errors import InputError
from sightline.models.download import resolve
from sightline.models.entry import SPEC_KEY, ModelSpec

Tensors = Mapping[str, torch.Tensor]

#: A published model is stored in half precision: a smaller change is rounding, not training.
ROUNDING = 2.0**-10


def base_state(base: str) -> tuple[dict[str, torch.Tensor], str]:
    """Return the tensors of a model or weight file, and the checksum of that file."""
    path = resolve(base).path
    state = make_network(read_checkpoint(path)).state_dict()
    return dict(state), hashlib.sha256(path.read_bytes()).hexdigest()


def changed(state: Tensors, base: Tensors) -> dict[str, torch.Tensor]:
    """Return the tensors that differ from the base by more than rounding, in half precision."""
    if state.keys() != base.keys():
        odd = sorted(state.keys() ^ base.keys())[0]
        raise InputError(
            f"{odd}: only one of the two networks has this tensor; name another --base"
        )
    kept = {}
    for name, value in state.items():
        scale = base[name].abs().max().clamp_min(1e-12)
        if (
            not torch.equal(value, base[name])
            and (value - base[name]).abs().max() > ROUNDING * scale
        ):
            kept[name] = value.half().contiguous()
    return kept


def pack(model: Path, base: str, out: Path) -> int:
    """Write what differs from the base; return the number of tensors written."""
    checkpoint = read_checkpoint(model)
    base_tensors, checksum = base_state(base)
    kept = changed(make_network(checkpoint).state_dict(), base_tensors)
    if not kept:
        raise InputError(f"{model}: no tensor differs from {base}; there is nothing to keep")
    save_file(
        kept,
        out,
        metadata={
            "base": base,
            "base_sha256": checksum,
            SPEC_KEY: checkpoint.spec.to_json(),
        },
    )
    return len(kept)


def unpack(file: Path, out: Path) -> int:
    """Write the whole network again; return the number of tensors that were not the base's."""
    with safe_open(file, framework="pt") as opened:
        described, names = opened.metadata() or {}, list(opened.keys())
        kept = {name: opened.get_tensor(name).float() for name in names}
    if "base" not in described:
        raise InputError(f"{file}: not a milestone; make one with `milestone.py pack`")
    base_tensors, checksum = base_state(described["base"])
    if checksum != described["base_sha256"]:
        raise InputError(
            f"{file}: packed against another version of {described['base']}; "
            "check out the commit that has it"
        )
    write_checkpoint(out, {**base_tensors, **kept}, ModelSpec.from_json(described[SPEC_KEY]))
    return len(kept)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and pack or unpack."""
    parser = argparse.ArgumentParser(description="Keep what a run changed in a published model.")
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="write what differs from the base")
    packing.add_argument("--model", type=Path, required=True, help="weights of the run")
    packing.add_argument("--base", default="small", help="published model it started from")
    unpacking = commands.add_parser("unpack", help="write the whole network again")
    unpacking.add_argument("file", type=Path, help="milestone")
    for command in (packing, unpacking):
        command.add_argument("--out", type=Path, required=True, help="file to write")
    given = parser.parse_args(arguments)
    try:
        if given.command == "pack":
            count = pack(given.model, given.base, given.out)
        else:
            count = unpack(given.file, given.out)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    print(f"{given.out}: {count} tensors differ from the base")


if __name__ == "__main__":
    main()
