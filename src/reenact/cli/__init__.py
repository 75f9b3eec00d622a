"""The `reenact` command: run it, and turn its errors into one line and exit status 2."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from reenact.core import extras
from reenact.core.version import VERSION
from reenact.errors import ReenactError

UNABLE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words == ["--version"]:
        # Scripts call it often, so it imports no other module.
        sys.stdout.write(f"reenact {VERSION}\n")
        return 0
    if os.environ.get("_REENACT_COMPLETE"):
        # A shell requests the possible next words.
        words = os.environ.get("COMP_WORDS", "").split()[1:]
    elif words in ([], ["--help"], ["-h"]):
        import_module("reenact.cli.overview").show()
        return 0 if words else UNABLE
    if arguments is None:
        # A recording consists of many small objects that stay; frequent garbage collections take a tenth of the time.
        gc.set_threshold(50_000, 20, 50)
        # The last garbage collection takes a tenth of a short command's time, and the system frees the memory anyway.
        atexit.register(gc.freeze)
    try:
        application = import_module("reenact.cli.application").application
        status = application(words)(args=words, prog_name="reenact", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1 if leaving.code else 0
    except ReenactError as error:
        return _failed(str(error))
    except ImportError as error:
        command = words[0] if words else ""
        extra = import_module("reenact.cli.interfaces").extra_of(command)
        lacks = extras.missing(error, f"reenact {command}", extra)
        if lacks is None:
            raise
        return _failed(str(lacks))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader has closed the pipe (`reenact show last | head`). Without this, Python would complain on closing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + getattr(signal, "SIGPIPE", 13)
    except OSError as error:
        return _failed(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    except Exception as error:
        # The class is compared by name, because few commands need its import.
        if type(error).__name__ == "Abort":
            return _failed("the question was not answered, and nothing was done")
        if not hasattr(error, "format_message"):
            raise
        return _misused(error)


def _failed(text: str) -> int:
    import_module("reenact.cli.printing").say(text if text.startswith("reenact ") else f"reenact: {text}")
    return UNABLE


def _misused(error: Any) -> int:
    """Report a wrong command line in one line."""
    command = error.ctx.command_path if getattr(error, "ctx", None) is not None else "reenact"
    text = " ".join(error.format_message().split()).removesuffix(".")
    # click may end with a question: "Did you mean 'list'?"
    end = "" if text.endswith("?") else ";"
    return _failed(f"{text[:1].lower()}{text[1:]}{end} `{command} --help` shows how it is used")
