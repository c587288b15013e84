"""Files with known hashes: an interrupted download goes on where it stopped."""

import hashlib
import http.client
import shutil
import time
import urllib.error
from pathlib import Path

from .errors import InstallError
from .index import reason
from .progress import Progress

_CHUNK = 1 << 18
# Attempts without a new byte, and the pauses between them in seconds.
_PAUSES = (0.5, 2, 5, 10)


def fetch(index, file, folder):
    """The file in the folder, complete and with the right hash."""
    target = Path(folder) / file["name"]
    if (
        target.is_file()
        and target.stat().st_size == file["size"]
        and _hash(target) == file["sha256"]
    ):
        return target
    # The hash is in its name, so that the remains of another file are not continued.
    part = target.with_name(f"{file['name']}.{file['sha256'][:12]}.part")
    if not part.is_file() or part.stat().st_size != file["size"]:
        _get(index, file, part)
    found = _hash(part)
    if found != file["sha256"]:
        part.unlink()
        raise InstallError(
            f"{file['name']} has the sha256 hash {found}, not {file['sha256']}. "
            "It was deleted, and nothing was installed."
        )
    part.replace(target)
    return target


def _get(index, file, part):
    source = index.find(file)
    with Progress(f"downloading {file['name']}", file["size"]) as progress:
        if isinstance(source, Path):
            shutil.copyfile(source, part)
            progress.at(file["size"])
            return
        tries, last = 0, "the connection was closed"
        while True:
            before = part.stat().st_size if part.exists() else 0
            try:
                _read(index, source, file, part, progress)
            except urllib.error.HTTPError as e:
                last = reason(e)
                if e.code == 416:
                    part.unlink(missing_ok=True)
                elif e.code < 500 and e.code != 429:
                    raise _failed(file, part, last) from e
            except (OSError, http.client.HTTPException) as e:
                last = reason(e)
            size = part.stat().st_size if part.exists() else 0
            if size == file["size"]:
                return
            tries = 0 if size > before else tries + 1
            if tries > len(_PAUSES):
                raise _failed(file, part, last)
            if tries:
                time.sleep(_PAUSES[tries - 1])


def _read(index, url, file, part, progress):
    """Appends what the server sends from the end of the file on; starts over if it sends all."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    # Encoded contents would have other offsets.
    with index.open(url, {"Accept-Encoding": "identity", **headers}) as answer:
        begins = f"bytes {have}-"
        goes_on = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(
            begins
        )
        have = have if goes_on else 0
        progress.start_at(have)
        with open(part, "ab" if goes_on else "wb") as out:
            while data := answer.read(_CHUNK):
                out.write(data)
                have += len(data)
                progress.at(have)
                if have > file["size"]:
                    out.close()
                    part.unlink()
                    raise InstallError(
                        f"{file['name']} must have {file['size']} bytes; the index sends more. "
                        "It is not the pinned file, and nothing was installed."
                    )


def _failed(file, part, why):
    kept = part.stat().st_size if part.exists() else 0
    more = (
        f" {kept} of {file['size']} bytes are kept; the next install goes on there." if kept else ""
    )
    return InstallError(f"the download of {file['name']} failed: {why}.{more}")


def _hash(path):
    digest = hashlib.sha256()
    with open(path, "rb") as data:
        while chunk := data.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
