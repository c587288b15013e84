"""Where files come from: the index and folders that pip is configured for."""

import ast
import base64
import html.parser
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from .errors import InstallError

_TIMEOUT = 60.0


def _pip(*arguments):
    """What pip prints. Wide lines, so that no address is broken."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "2000"},
    )
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise InstallError(
            f"pip is asked which index to use, but {sys.executable} cannot run it: {why}. "
            "Install pip, or set HORNGATE_PYTHON to a Python that has it."
        )
    return done.stdout


def _settings():
    """pip's options from its files and from variables, by name; variables win, and so do the more
    specific ones."""
    found = {}
    rank = {":env:": 3, "download": 2, "install": 1}
    for line in _pip("config", "list").splitlines():
        key, equals, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if not equals or section not in (*rank, "global"):
            continue
        try:
            value = str(ast.literal_eval(value))
        except (SyntaxError, ValueError):
            continue
        if rank.get(section, 0) >= found.get(name, (-1, ""))[0]:
            found[name] = (rank.get(section, 0), value)
    return {name: value for name, (_, value) in found.items()}


def _default_index():
    """The index that pip uses by default: its help says so."""
    said = re.search(r"--index-url <url>.*?\(default\s+(\S+?)\)", _pip("download", "--help"), re.S)
    if not said:
        raise InstallError("pip does not say which index it uses; set PIP_INDEX_URL.")
    return said[1]


class _Links(html.parser.HTMLParser):
    def __init__(self, base):
        super().__init__()
        self.base, self.found = base, {}

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href")
        if tag == "base" and href:
            self.base = urllib.parse.urljoin(self.base, href)
        if tag == "a" and href:
            url = urllib.parse.urljoin(self.base, href)
            name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1])
            self.found.setdefault(name, url)


class Index:
    """Finds files by name and opens addresses, as pip would here."""

    def __init__(self):
        settings = _settings()
        self.pages = settings.get("find-links", "").split()
        self.indexes = []
        if settings.get("no-index", "").lower() not in ("1", "true", "yes", "on"):
            self.indexes = [settings.get("index-url") or _default_index()]
            self.indexes += settings.get("extra-index-url", "").split()
        self.certificates = settings.get("cert")
        self.trusted = set(settings.get("trusted-host", "").split())
        proxy = settings.get("proxy")
        self.proxies = {"http": proxy, "https": proxy} if proxy else None

    def open(self, url, headers=None):
        """The answer to a request. User names and passwords in the address go into a header."""
        parts = urllib.parse.urlsplit(url)
        headers = {"User-Agent": "horngate-engines", **(headers or {})}
        if parts.username:
            user = urllib.parse.unquote(parts.username)
            secret = f"{user}:{urllib.parse.unquote(parts.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(secret.encode()).decode()
            parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        context = ssl.create_default_context(cafile=self.certificates)
        if self.trusted & {parts.hostname, parts.netloc}:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        handlers = [urllib.request.HTTPSHandler(context=context)]
        if self.proxies:
            handlers.append(urllib.request.ProxyHandler(self.proxies))
        request = urllib.request.Request(urllib.parse.urlunsplit(parts), headers=headers)
        return urllib.request.build_opener(*handlers).open(request, timeout=_TIMEOUT)

    def links(self, url):
        with self.open(url, {"Accept": "application/vnd.pypi.simple.v1+html, text/html"}) as page:
            links = _Links(page.geturl())
            links.feed(page.read().decode("utf-8", "replace"))
        # User names and passwords of an index apply to its files on the same host.
        asked = urllib.parse.urlsplit(url)
        if asked.username:
            for name, found in links.found.items():
                parts = urllib.parse.urlsplit(found)
                if parts.netloc == asked.netloc.rpartition("@")[2]:
                    links.found[name] = parts._replace(netloc=asked.netloc).geturl()
        return links.found

    def find(self, file):
        """The path or address of a pinned file; if there are several, the first with the right
        hash."""
        asked, wrong = [], []
        for place in self.pages:
            local = Path(urllib.request.url2pathname(urllib.parse.urlsplit(place).path))
            if "://" not in place or place.startswith("file:"):
                if (local / file["name"]).is_file():
                    return local / file["name"]
        pages = [p for p in self.pages if p.startswith(("http:", "https:"))]
        pages += [f"{i.rstrip('/')}/{file['project']}/" for i in self.indexes]
        for page in pages:
            shown = re.sub(r"//[^/@]*@", "//", page)
            try:
                url = self.links(page).get(file["name"])
            except (OSError, ValueError) as e:
                asked.append(f"{shown}: {reason(e)}")
                continue
            if url is None:
                asked.append(f"{shown}: no such file")
                continue
            said = re.search(r"#sha256=([0-9a-f]{64})", url)
            if said and said[1] != file["sha256"]:
                wrong.append(f"{shown} has it with the hash {said[1]}")
                continue
            return url.partition("#")[0]
        if wrong:
            raise InstallError(
                f"{file['name']} must have the sha256 hash {file['sha256']}, but "
                f"{'; '.join(wrong)}. Nothing was installed."
            )
        raise InstallError(
            f"{file['name']} could not be found: {'; '.join(asked) or 'pip is configured for no index'}. "
            "Is there a network? pip's settings (PIP_INDEX_URL, `pip config`) say where it is looked for."
        )


def reason(error):
    """A network error in a few words."""
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    inner = getattr(error, "reason", None)
    return str(inner or error) or type(error).__name__
