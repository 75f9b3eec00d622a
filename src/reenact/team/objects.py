"""Blobs in an object store: S3, Google's, Azure's, or a folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import obstore
import orjson
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore as Folder
from obstore.store import from_url

from reenact.core import system
from reenact.core.model.header import ID
from reenact.core.store.base import BLOB
from reenact.errors import CorruptRecording, StoreAway, UsageError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_RETRIES = {"retry_timeout": timedelta(seconds=20), "max_retries": 4}
_OPTIONS = (
    "allow_http", "allow_invalid_certificates", "connect_timeout", "proxy_ca_certificate", "proxy_excludes",
    "proxy_url", "timeout",
)  # fmt: skip
_CLIENT: dict[str, Any] = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=20)}
"""The timeouts of the object store's client, after which the store counts as away."""

_PART = 2 << 20
"""Bytes of one part of a download.

Even a slow connection transfers it within the timeout; larger blobs are read in parts.
"""

_LENT = "lent"
_LENT_FOR, _SWEEP = 48 * 3600.0, 3600.0
"""Seconds for which a lent file is kept, and between two searches for older ones."""

_RECEIPT = 64 << 20
"""Most bytes of a receipt."""

_EMPTY = hashlib.sha256().hexdigest()
_UPLOAD = timedelta(minutes=10)
"""The timeout for sending a larger blob, which is sent as a whole."""


class Lent(NamedTuple):
    """A file in the store for download by others: its path, and its tag (ETag)."""

    path: str
    tag: str | None


class ObjectBlobs:
    """The blobs of one project.

    Args:
        url: `s3://bucket/prefix`, `gs://…`, `az://…` or `file:///folder`. The credentials are in the environment, under
            the names of the store's own tools (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL` …).
        project: The name of the project; even equal blobs of two projects are stored separately.

    Raises:
        UsageError: The address is invalid.
    """

    def __init__(self, url: str, project: str) -> None:
        self._url = url
        self._project = project
        self._swept = float("-inf")
        self._folder = Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None
        self._store = opened(url)
        self._patient = opened(url, patient=True)

    def has(self, address: str) -> bool:
        """Return True if a blob is stored. Raises StoreAway."""
        try:
            obstore.head(self._store, self._path(address))
        except (FileNotFoundError, NotFoundError):
            return False
        except BaseError as error:
            raise self._away(error) from None
        return True

    def put(self, data: bytes) -> str:
        """Store a blob; return its address. Raises StoreAway."""
        address = f"sha256:{hashlib.sha256(data).hexdigest()}"
        try:
            # `create` fails early if the blob exists: equal addresses have equal bytes.
            store = self._store if len(data) <= _PART else self._patient
            obstore.put(store, self._path(address), data, mode="create", use_multipart=False)
        except AlreadyExistsError:
            pass
        except (BaseError, OSError) as error:
            raise self._away(error) from None
        if self._folder is not None:
            self._sync(self._folder / self._path(address))
        return address

    def get(self, address: str) -> bytes:
        """Return the blob's bytes; check their hash. Raises CorruptRecording, StoreAway."""
        if not BLOB.fullmatch(address):
            raise CorruptRecording(f"{address[:80]} is no blob's address")
        try:
            data = self._read(self._path(address))
        except (FileNotFoundError, NotFoundError):
            raise CorruptRecording(f"{address[:19]}… is missing in {self._url}; restore it there") from None
        except BaseError as error:
            raise self._away(error) from None
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != address:
            raise CorruptRecording(f"{address[:19]}… is damaged in {self._url}; restore it there")
        return data

    def remove(self, address: str) -> None:
        """Delete a blob; ignore a missing one. Raises StoreAway."""
        try:
            obstore.delete(self._store, self._path(address))
        except (FileNotFoundError, NotFoundError):
            pass
        except BaseError as error:
            raise self._away(error) from None

    def pages(self) -> Iterator[list[tuple[str, float]]]:
        """Yield all blobs in pages: address, and time of storing in seconds since 1970.

        Raises StoreAway.
        """
        try:
            for page in obstore.list(self._store, f"{self._project}/blobs"):
                yield [
                    (f"sha256:{name}", one["last_modified"].timestamp())
                    for one in page
                    if BLOB.fullmatch(f"sha256:{(name := one['path'].rpartition('/')[2])}")
                ]
        except (BaseError, OSError) as error:
            raise self._away(error) from None

    def keep_receipt(self, id: str, data: bytes) -> None:
        """Store the receipt of a recording's deletion beside the blobs. Raises StoreAway."""
        try:
            obstore.put(self._store, f"{self._project}/receipts/{id}.json", data, use_multipart=False)
        except (BaseError, OSError) as error:
            raise self._away(error) from None

    def drop_receipt(self, id: str) -> None:
        """Delete a receipt, if there is one. Raises StoreAway."""
        try:
            obstore.delete(self._store, f"{self._project}/receipts/{id}.json")
        except (FileNotFoundError, NotFoundError):
            pass
        except BaseError as error:
            raise self._away(error) from None

    def receipts(self) -> Iterator[dict[str, Any]]:
        """Yield the receipts that are stored beside the blobs. Raises StoreAway."""
        try:
            yield from kept(self._store, self._project)
        except (BaseError, OSError) as error:
            raise self._away(error) from None

    @property
    def signs(self) -> bool:
        """True if the store has signed addresses for its objects, which a folder does not have."""
        return not isinstance(self._store, Folder)

    def url(self, address: str, seconds: int) -> str | None:
        """Return an address for a blob, valid for some seconds; None for a folder. Raises StoreAway."""
        return self._signed(self._path(address), seconds) if self.signs else None

    def lend(self, file: Path, headers: dict[str, str]) -> Lent:
        """Upload a file for download by others. Raises StoreAway, OSError.

        Args:
            file: The file.
            headers: The headers of its download: `Content-Type`, `Content-Disposition`.
        """
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256")
        digest.update(repr(sorted(headers.items())).encode())
        path = f"{self._project}/{_LENT}/{digest.hexdigest()}"
        try:
            self._sweep()
            tag = obstore.put(self._patient, path, file, attributes=dict(headers))["e_tag"]
        except BaseError as error:
            raise self._away(error) from None
        return Lent(path, tag)

    def keeps(self, lent: Lent) -> bool:
        """Return True if a lent file is unchanged and will not be deleted soon.

        Raises StoreAway.
        """
        try:
            found = obstore.head(self._store, lent.path)
        except (FileNotFoundError, NotFoundError):
            return False
        except BaseError as error:
            raise self._away(error) from None
        age = (datetime.now(UTC) - found["last_modified"]).total_seconds()
        return lent.tag is not None and found["e_tag"] == lent.tag and age < _LENT_FOR / 2

    def lent_url(self, lent: str, seconds: int) -> str:
        """Return an address for a lent file, valid for some seconds. Raises StoreAway."""
        return self._signed(lent, seconds)

    def _signed(self, path: str, seconds: int) -> str:
        store: Any = self._store
        try:
            return str(obstore.sign(store, "GET", path, timedelta(seconds=seconds)))
        except (BaseError, NotImplementedError, TypeError) as error:
            raise self._away(error) from None

    def _sweep(self) -> None:
        """Delete old lent files, at most once in `_SWEEP` seconds."""
        if monotonic() < self._swept + _SWEEP:
            return
        self._swept = monotonic()
        ago = datetime.now(UTC) - timedelta(seconds=_LENT_FOR)
        for some in obstore.list(self._store, f"{self._project}/{_LENT}"):
            old = [one["path"] for one in some if one["last_modified"] < ago]
            if old:
                obstore.delete(self._store, old)

    def _sync(self, file: Path) -> None:
        """Sync a file to disk, so that acknowledged data survives a power failure. Raises StoreAway."""
        try:
            for path in (file, *list(file.parents)[:3]):
                system.sync(path)
        except OSError as error:
            raise self._away(error) from None

    def _read(self, path: str) -> bytes:
        # An empty object has no range that could be requested.
        asked: Any = {} if path.endswith(_EMPTY) else {"range": (0, _PART)}
        first = obstore.get(self._store, path, options=asked)
        parts = [bytes(first.bytes())]
        for start in range(_PART, first.meta["size"], _PART):
            end = min(start + _PART, first.meta["size"])
            parts.append(bytes(obstore.get_range(self._store, path, start=start, end=end)))
        return b"".join(parts)

    def _path(self, address: str) -> str:
        return path_of(self._project, address)

    def _away(self, error: Exception) -> StoreAway:
        return StoreAway(f"the object store {self._url} failed ({_first(error)})")


def opened(url: str, *, patient: bool = False) -> ObjectStore:
    """Return the object store at an address.

    Args:
        url: Its address.
        patient: Use the longer timeout, for large objects.

    Raises:
        UsageError: The address is invalid.
    """
    try:
        # The type checker does not know the arguments, which differ by kind of store.
        make: Any = from_url
        found: ObjectStore
        if url.startswith("file:"):
            found = make(url, mkdir=True)
        else:
            options = _CLIENT | ({"timeout": _UPLOAD} if patient else {}) | _client_options(os.environ)
            found = make(url, retry_config=_RETRIES, client_options=options)
    except (BaseError, ValueError, OSError) as error:
        raise UsageError(
            f"{url!r} is no object store ({_first(error)}); e.g. s3://bucket/prefix or file:///srv/blobs"
        ) from None
    return found


def kept(store: Any, project: str) -> Iterator[dict[str, Any]]:
    """Yield the receipts of deletions in a project, without damaged ones."""
    for page in obstore.list(store, f"{project}/receipts"):
        for entry in page:
            found = _receipt(store, entry["path"], entry["size"])
            if found is not None:
                yield found


def _receipt(store: Any, path: str, size: int) -> dict[str, Any] | None:
    """Read the receipt of a deletion from an object store; return None if it is damaged."""
    id = path.rpartition("/")[2].removesuffix(".json")
    if not ID.fullmatch(id) or size > _RECEIPT:
        return None
    try:
        found = orjson.loads(bytes(obstore.get(store, path).bytes()))
    except (ValueError, FileNotFoundError, NotFoundError):
        return None
    return found if isinstance(found, dict) and found.get("id") == id else None


def path_of(project: str, address: str) -> str:
    """Return the path of a blob in an object store."""
    digest = address.removeprefix("sha256:")
    return f"{project}/blobs/{digest[:2]}/{digest}"


def _client_options(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the client options from the environment.

    A client that gets any options needs all of them.
    """
    return {
        option: environ[name]
        for option in _OPTIONS
        for prefix in ("AWS_", "GOOGLE_", "AZURE_")
        if (name := prefix + option.upper()) in environ
    }


def _first(error: Exception) -> str:
    """Return the first line of an error, without the debugging output after it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
