# Prints what tests had to tell (fresh seeds) and the totals of a test run from its JUnit files:
# tools/test_totals.py <folder>.
# Ends with status 1 if a test failed or if there are no results at all.
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def verdict(case):
    """0 passed, 1 failed, 2 skipped, None if it did not run at all."""
    if case.find("failure") is not None or case.find("error") is not None:
        return 1
    if case.find("skipped") is not None:
        return 2
    # GoogleTest also lists what a filter or another shard left out.
    return None if case.get("status") == "notrun" else 0


def group(path, case):
    if path.stem.startswith("pytest"):
        return "Python"
    if path.stem.startswith("cpp_"):
        return "C++"
    name = case.get("name")
    if not name.startswith("cpp_"):
        return name
    # One entry of ctest is a whole GoogleTest shard, whose own file counts test by test. Only a
    # shard that crashed has no file.
    return None if path.with_name(name + ".xml").exists() else "C++"


totals, told = {}, []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")):
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, result = group(path, case), verdict(case)
        if name is not None and result is not None:
            totals.setdefault(name, [0, 0, 0])[result] += 1
        told += [p.get("value") for p in case.iter("property") if p.get("name") == "told"]

if told:
    print("\n" + "\n".join(told))
print("\n== Totals")
line = "{:<13}{:>7} passed{:>6} failed{:>6} skipped".format
for name, counts in totals.items():
    print(line(name, *counts))
everything = [sum(column) for column in zip(*totals.values())] or [0, 0, 0]
print(line("all", *everything))
sys.exit(1 if everything[1] or not totals else 0)
