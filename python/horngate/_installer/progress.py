"""A bar on a terminal, a line elsewhere."""

import sys
import time

_BAR = 24


def mega(n):
    return f"{n / 1e6:.1f} MB" if n < 1e7 else f"{n / 1e6:.0f} MB"


class Progress:
    """How far a step of that many bytes is. `with Progress("what", total) as p: p.at(n)`."""

    def __init__(self, what, total, out=None):
        self.what, self.total, self.out = what, max(total, 1), out or sys.stderr
        self.is_terminal = self.out.isatty()
        self.begun = self.drawn = 0.0
        self.first = self.last = 0

    def __enter__(self):
        self.begun = time.monotonic()
        if not self.is_terminal:
            print(f"{self.what} ({mega(self.total)})", file=self.out, flush=True)
        return self

    def start_at(self, n):
        """What an earlier run left; it does not count for the speed."""
        self.first = n
        if n and not self.is_terminal:
            print(f"  goes on after {mega(n)}", file=self.out, flush=True)
        self.at(n)

    def at(self, n):
        self.last = n
        now = time.monotonic()
        if self.is_terminal and (now - self.drawn > 0.1 or n >= self.total):
            self.drawn = now
            self.draw(now)

    def draw(self, now):
        part = min(self.last / self.total, 1.0)
        bar = "#" * round(_BAR * part)
        speed = (self.last - self.first) / max(now - self.begun, 1e-3)
        text = f"{self.what} [{bar:.<{_BAR}}] {part:4.0%} {mega(self.last)}, {mega(speed)}/s"
        self.out.write("\r\033[K" + text)
        self.out.flush()

    def __exit__(self, kind, value, trace):
        if self.is_terminal:
            if kind is None:
                self.draw(time.monotonic())
            self.out.write("\n")
            self.out.flush()
