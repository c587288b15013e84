#!/usr/bin/env python3
"""Finds the passes that are to blame for a wrong result: tools/bisect_passes.py COMMAND [ARGUMENT ...]

COMMAND fails (exits with another code than 0) when the result is wrong. It is run as it is, then without any
pass, then with ever fewer of them left out. What is printed is a smallest set of passes without which it works.
`--passes` lists the names.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).resolve().parent.parent / "src" / "ir" / "switches.def"


def passes():
    return re.findall(r"^HORNGATE_PASS\((\w+),", LIST.read_text(), re.MULTILINE)


def works(command, without):
    environment = dict(os.environ, HORNGATE_WITHOUT=",".join(without))
    done = subprocess.run(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    print(f"{'works' if done.returncode == 0 else 'fails'}  HORNGATE_WITHOUT={','.join(without)}")
    return done.returncode == 0


def smallest(command, names):
    """Of passes without which it works, those that it takes; halves first, then one by one."""
    step = max(1, len(names) // 2)
    while True:
        at = 0
        while at < len(names):
            rest = names[:at] + names[at + step :]
            if works(command, rest):
                names = rest
            else:
                at += step
        if step == 1:
            return names
        step = max(1, min(step, len(names)) // 2)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--passes"]:
        print("\n".join(passes()))
        return 0
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    if works(arguments, []):
        print("It works with all passes: there is nothing to find.")
        return 1
    if not works(arguments, passes()):
        print("It fails without any pass, too: no single pass is to blame.")
        return 1
    print(f"To blame: {', '.join(smallest(arguments, passes()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
