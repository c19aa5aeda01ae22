"""Studies of PhyWorld as declared data: what is trained, what is tested, and how it is read.

* `parts`: what a study consists of.
* `catalogue`: the studies, each with a `cpu` budget and the `paper`'s.
* `run`: train, sample and score; what is done is not done again.
* `readings`: tables, plots and a sentence for each study.
"""
