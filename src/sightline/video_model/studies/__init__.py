"""Studies of PhyWorld in miniature and in full: `sightline video study`.

* `catalog`: what each study trains and tests, with a CPU and a paper budget.
* `run`: training, resuming and the report.
* `evaluate`: scores of one trained network.
* `analysis`: tables, plots and findings from the scores.
"""
