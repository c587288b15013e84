"""Programs are plain data, which JSON can hold:

    {"seed": 7, "floatx": "float32", "image_data_format": "channels_last", "calls": 2,
     "leaves": [{"name": "x0", "kind": "placeholder", "dtype": "float32", "dims": [[3, 5], 4],
                 "open": [true, false], "data": [{..}, {..}], "layout": "fortran"}, ..],
     "ops": [{"op": "add", "in": ["x0", "x1"], "args": {}, "out": ["v2"]}, ..],
     "outputs": ["v2"], "gradients": [{"loss": "v2", "wrt": ["x0"]}],
     "updates": [{"kind": "update_add", "variable": "x1", "value": "v2"}], "phase": [0, 1],
     "fed": [{"name": "v2", "dtype": "float32", "dims": [3, 4], "data": [{..}, {..}]}]}

A dimension is a number, or a list with one per call. `data` says what arrays hold (data.py), one
entry per call for placeholders. `fed` are results of operations that are fed all the same. Bodies of loops have parameters, captured values, ops, results."""

from fuzz.ops import TABLE


def cleaned(program):
    """Without what nothing needs; None when nothing is left to look at."""
    program = {**program}
    known = {x["name"] for x in program["leaves"]} | {o for op in program["ops"] for o in op["out"]}
    program["outputs"] = [n for n in program["outputs"] if n in known]
    program["gradients"] = [
        {**g, "wrt": [n for n in g["wrt"] if n in known]}
        for g in program["gradients"]
        if g["loss"] in known
    ]
    program["gradients"] = [g for g in program["gradients"] if g["wrt"]]
    program["updates"] = [
        u
        for u in program["updates"]
        if u["variable"] in known and (u["kind"] == "descend" or u["value"] in known)
    ]
    program["updates"] = [u for u in program["updates"] if descends(program, u)]
    if not program["outputs"] and not program["gradients"] and not program["updates"]:
        return None
    needed = set(program["outputs"])
    needed |= {n for g in program["gradients"] for n in [g["loss"], *g["wrt"]]}
    needed |= {n for u in program["updates"] for n in (u["variable"], u.get("value"))}
    ops = []
    for op in reversed(program["ops"]):
        if needed & set(op["out"]):
            needed |= set(op["in"])
            ops.append(op)
    program["ops"] = ops[::-1]
    made = {o for op in ops for o in op["out"]}
    program["fed"] = [f for f in program.get("fed", []) if f["name"] in made]
    program["leaves"] = [x for x in program["leaves"] if x["name"] in needed]
    for op in program["ops"]:  # random results must be seen, and updates happen
        if TABLE[op["op"]].seen:
            program["outputs"] += [o for o in op["out"] if o not in program["outputs"]]
    return program


def descends(program, update):
    """Whether the gradient of an update is still there, and of its variable."""
    if update["kind"] != "descend":
        return True
    i, j = update["gradient"]
    gradients = program["gradients"]
    return (
        i < len(gradients)
        and j < len(gradients[i]["wrt"])
        and gradients[i]["wrt"][j] == update["variable"]
    )
