"""The project's configuration file: found, read, and the places in it.

Its options are checked in `verbs/configuration.py`.
"""

from reenact.core.config.file import ConfigurationFile, found, trust

__all__ = ["ConfigurationFile", "found", "trust"]
