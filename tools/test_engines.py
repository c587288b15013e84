#!/usr/bin/env python3
"""Prints the engines that are ready here, separated by commas, for HORNGATE_TEST_ENGINES.

Fails when one of HORNGATE_TEST_REQUIRE is not: a test that skips itself for want of an engine must not
pass unseen. With HORNGATE_HOME set, those are the engines installed there: one that the packages of this Python
hold must not hide that an installation does not work. --others leaves native out.
"""

import json
import os
import subprocess
import sys


def main():
    done = subprocess.run(
        [sys.executable, "-m", "horngate", "engines", "--json"], capture_output=True, text=True
    )
    if done.returncode != 0:
        print(f"the engines cannot be listed:\n{done.stderr}", file=sys.stderr)
        return 1
    engines = {row["name"]: row for row in json.loads(done.stdout)}
    required = [n for n in os.environ.get("HORNGATE_TEST_REQUIRE", "").split(",") if n]
    missing = [n for n in required if n not in engines or not engines[n]["ready"]]
    for name in missing:
        why = engines[name]["problem"] if name in engines else "its plug-in is not built"
        print(f"engine {name} is required for the tests, but: {why}", file=sys.stderr)
    home = os.environ.get("HORNGATE_HOME")
    for name in set(required) - set(missing) if home else ():
        folder = os.path.join(os.path.realpath(home), "engines", name)
        where = engines[name]["where"]
        if os.path.commonpath([folder, os.path.realpath(os.path.dirname(where))]) != folder:
            print(f"engine {name} is required from {folder}, but {where} serves", file=sys.stderr)
            missing.append(name)
    ready = [n for n, row in engines.items() if row["ready"]]
    print(",".join(n for n in ready if n != "native" or "--others" not in sys.argv))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
