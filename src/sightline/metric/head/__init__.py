"""The metric head: two numbers that turn relative disparity into metres, and how sure they are.

* `paper`: scale and shift as Metric from Human fits them, with its losses.
* `clues`: what yardsticks say: depth at pixels, a length, a floor.
* `problem`: the equations of the robust fit.
* `fit`: one robust fit of everything that is known, with error bars.
* `apply`: from the fit to a map in metres with its sigma.
* `record`: the fit as numbers beside that map.
"""
