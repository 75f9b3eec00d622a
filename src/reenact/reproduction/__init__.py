"""Running a failure again, and again with something changed: does it reproduce, and what is decisive?"""

from reenact.analyze.attempts import Reproduces, Reproduction
from reenact.reproduction.bisection import Decisive, Trial, bisect
from reenact.reproduction.repeating import reproduce
from reenact.reproduction.rerun import Rerun

__all__ = ["Decisive", "Reproduces", "Reproduction", "Rerun", "Trial", "bisect", "reproduce"]
