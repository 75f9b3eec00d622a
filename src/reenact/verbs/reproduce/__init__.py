"""Running a failure again, and again with something changed: does it reproduce, and what is decisive?"""

from reenact.analysis.attempts import Reproduces, Reproduction
from reenact.verbs.reproduce.attempts import reproduce
from reenact.verbs.reproduce.bisection import Decisive, Trial, bisect
from reenact.verbs.reproduce.rerun import Rerun

__all__ = ["Decisive", "Reproduces", "Reproduction", "Rerun", "Trial", "bisect", "reproduce"]
