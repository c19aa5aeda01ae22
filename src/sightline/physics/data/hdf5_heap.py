"""Heaps of HDF5, where rows of variable length lie: looked at before the library walks through them.

In a heap one object follows the other by its length. Where damage has left a length of nothing, HDF5
(2.0 as well as those before) goes round and round, and no signal gets through to it; and it sets out
to read as many bytes as a row claims. So the heap of a row is walked here first. (HDF5 File Format
Specification, III.E: Global Heap; HDFGroup/hdf5#1707.)
"""

from __future__ import annotations

import os
import struct
from typing import Any

from h5py import h5d

from sightline.errors import InputError

#: length, address of the heap, number of the object there: a row of variable length, as it is stored.
_ROW = struct.Struct("<IQI")
#: signature, version, size: the start of a heap.
_HEAP = struct.Struct("<4sB3xQ")
#: number, references, length: the start of an object; number 0 is what is free.
_OBJECT = struct.Struct("<HH4xQ")
_SIZES = (8, 8)  # bytes of an address and of a length in all files that are taken
_LARGEST = 1 << 31


def check_heap(data: Any, row: int) -> None:
    """Refuse a row whose heap cannot be walked.

    Args:
        data: h5py data set of one dimension and variable length.
        row: its number.
    """
    if data.file.id.get_create_plist().get_sizes() != _SIZES:
        raise InputError(f"{data.name} is in a file of other than 64-bit addresses")
    place = _place_of(data, row)
    if place is None:
        return
    handle = data.file.id.get_vfd_handle()
    length, address, number = _ROW.unpack(_read(handle, place, _ROW.size))
    if (length or address) and _length_of(handle, address, number) != length:
        raise InputError(f"the heap of row {row} of {data.name} is damaged")


def _place_of(data: Any, row: int) -> int | None:
    """Return where in the file a row is; None where nothing was written, or only a filter can tell."""
    plan = data.id.get_create_plist()
    if plan.get_layout() == h5d.COMPACT:
        raise InputError(f"{data.name} is kept in its header, which is not taken")
    if plan.get_layout() == h5d.CONTIGUOUS:
        begin = data.id.get_offset()
        return None if begin is None else begin + row * _ROW.size
    inside = row % data.chunks[0]
    begin = data.id.get_chunk_info_by_coord((row - inside,)).byte_offset
    return None if begin is None or plan.get_nfilters() else begin + inside * _ROW.size


def _length_of(handle: int, address: int, wanted: int) -> int | None:
    """Return the length of an object of a heap; None if it is not there, or the heap makes no sense."""
    if address + _HEAP.size > os.fstat(handle).st_size:
        return None
    name, version, size = _HEAP.unpack(_read(handle, address, _HEAP.size))
    if name != b"GCOL" or version != 1 or not _HEAP.size <= size <= _LARGEST:
        return None
    content = _read(handle, address, size)
    place, found = _HEAP.size, None
    while place + _OBJECT.size <= size:
        number, _, length = _OBJECT.unpack_from(content, place)
        step = _OBJECT.size + -(-length // 8) * 8 if number else length
        if step < _OBJECT.size or place + step > size:
            return None
        found = length if number == wanted else found
        place += step
    return found


def _read(handle: int, place: int, length: int) -> bytes:
    data = os.pread(handle, length, place)
    if len(data) != length:
        raise InputError("is cut off")
    return data
