"""Running a failure again, and again with something changed: does it reproduce, and what is decisive?"""

from reenact.reproduction.bisection import Decisive, Trial, bisect
from reenact.reproduction.rerun import Rerun

__all__ = ["Decisive", "Rerun", "Trial", "bisect"]
