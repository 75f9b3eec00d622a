"""The processes of one run: each has its own file of events, found by its scope's path.

A process that the program starts is named in its parent's program order, as a task or a thread is. It gets its scope by
an environment variable (`reenact.run.plan`), or from the process that it is a fork of. It writes, or replays, a file of
its own, and reports its verdict in a folder for its parent.
"""

from reenact.run.exit import end, moved, on_exit
from reenact.run.members import Member, replay_fork
from reenact.run.recorded import UNSET, RecordedProcesses
from reenact.run.replayed_processes import ReplayedProcesses
from reenact.run.replayer import OPTIONS, replayer_of, rules_of
from reenact.run.reports import report, reserve
from reenact.run.signalled import logs_of

__all__ = [
    "OPTIONS",
    "UNSET",
    "Member",
    "RecordedProcesses",
    "ReplayedProcesses",
    "end",
    "logs_of",
    "moved",
    "on_exit",
    "replay_fork",
    "replayer_of",
    "report",
    "reserve",
    "rules_of",
]
