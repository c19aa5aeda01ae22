"""Depth of many files: find the inputs, name the outputs, do the work, keep account of it.

* `options`: what can be set, one field per flag of `sightline depth`
* `inputs`: files, folders and globs to a list of pictures and videos
* `naming`: where each result goes, decided before any work starts, so that nothing is overwritten
* `work`: one picture or video from file to files
* `pipeline`, `workers`: many of them, in this process or in several
* `manifest`: what is done already, for `--resume`
* `run`: the whole of it
"""
