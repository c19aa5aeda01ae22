"""`python -m sightline` is `sightline`."""

import sys

from sightline.cli import main

if __name__ == "__main__":
    sys.exit(main())
