"""Score videos of any model against the laws: match, parse, judge, compare with yardsticks, report."""
