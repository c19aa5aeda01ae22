"""What models there are, their licence, size and checksum; how each gets here; the embedded ones.

* `entry` and `sources`: what is known of a model, and the places a file can come from.
* `catalogue`: all entries (`index` the embedded ones, `official` and `packages` the others).
* `store`: `resolve` turns a name or a path into a checked file on this disk.
* `archives`, `packagers`, `hub`, `cache`, `licences`: the steps of doing so.
"""
