"""Run a failure again, unchanged and changed, and find the decisive step."""

from reenact.analysis.attempts import Reproduces, Reproduction
from reenact.verbs.reproduce.attempts import reproduce
from reenact.verbs.reproduce.bisection import Decisive, Trial, bisect
from reenact.verbs.reproduce.rerun import Rerun

__all__ = ["Decisive", "Reproduces", "Reproduction", "Rerun", "Trial", "bisect", "reproduce"]
