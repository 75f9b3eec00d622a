"""Blobs in an object store: S3, Google's, Azure's, or a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore as Folder
from obstore.store import from_url

from reenact.errors import CorruptRecording, StoreAway, UsageError
from reenact.store.base import BLOB

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_PATIENCE = {"retry_timeout": timedelta(seconds=20), "max_retries": 4}


class ObjectBlobs:
    """The blobs of one project.

    Args:
        url: `s3://bucket/prefix`, `gs://…`, `az://…` or `file:///folder`. Who may is said by the environment, as the
            object store's own tools have it (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL` …).
        project: Its name: blobs of one project are not another's, even where they are equal.

    Raises:
        UsageError: The address is none.
    """

    def __init__(self, url: str, project: str) -> None:
        self._url = url
        self._project = project
        try:
            # Each takes other arguments.
            make: Any = from_url
            more = {"mkdir": True} if url.startswith("file:") else {"retry_config": _PATIENCE}
            self._store: ObjectStore = make(url, **more)
        except (BaseError, ValueError, OSError) as error:
            raise UsageError(
                f"REENACT_OBJECTS={url!r} is no object store ({_first(error)}); "
                "e.g. s3://bucket/prefix or file:///srv/blobs"
            ) from None

    def has(self, address: str) -> bool:
        """Whether they are there. Raises StoreAway."""
        try:
            obstore.head(self._store, self._path(address))
        except (FileNotFoundError, NotFoundError):
            return False
        except BaseError as error:
            raise self._away(error) from None
        return True

    def put(self, data: bytes) -> str:
        """Keep them; returns their address. Raises StoreAway."""
        address = f"sha256:{hashlib.sha256(data).hexdigest()}"
        try:
            # Whoever comes second has the same bytes: they need not travel far.
            obstore.put(self._store, self._path(address), data, mode="create", use_multipart=False)
        except AlreadyExistsError:
            pass
        except (BaseError, OSError) as error:
            raise self._away(error) from None
        return address

    def get(self, address: str) -> bytes:
        """They, and no others. Raises CorruptRecording, StoreAway."""
        if not BLOB.fullmatch(address):
            raise CorruptRecording(f"{address[:80]} is no blob's address")
        try:
            data = bytes(obstore.get(self._store, self._path(address)).bytes())
        except (FileNotFoundError, NotFoundError):
            raise CorruptRecording(f"{address[:19]}… is missing in {self._url}; restore it there") from None
        except BaseError as error:
            raise self._away(error) from None
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != address:
            raise CorruptRecording(f"{address[:19]}… is damaged in {self._url}; restore it there")
        return data

    def remove(self, address: str) -> None:
        """Forget them. Raises StoreAway."""
        try:
            obstore.delete(self._store, self._path(address))
        except (FileNotFoundError, NotFoundError):
            pass
        except BaseError as error:
            raise self._away(error) from None

    def pages(self) -> Iterator[list[tuple[str, float]]]:
        """All blobs that there are, some at a time: their addresses, and when each was put there, in seconds since
        1970. Raises StoreAway.
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

    def url(self, address: str, seconds: int) -> str | None:
        """Where anybody may fetch them for so many seconds; None of a folder, which serves nobody."""
        if isinstance(self._store, Folder):
            return None
        store: Any = self._store
        return str(obstore.sign(store, "GET", self._path(address), timedelta(seconds=seconds)))

    def _path(self, address: str) -> str:
        digest = address.removeprefix("sha256:")
        return f"{self._project}/blobs/{digest[:2]}/{digest}"

    def _away(self, error: Exception) -> StoreAway:
        return StoreAway(f"the object store {self._url} does not do what it is asked ({_first(error)})")


def _first(error: Exception) -> str:
    """The first line of what an error says: the rest is for its authors."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
