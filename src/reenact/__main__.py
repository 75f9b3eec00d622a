"""`python -m reenact`: the command, whether or not it is on the path."""

import sys

from reenact.cli import main

if __name__ == "__main__":
    sys.exit(main())
