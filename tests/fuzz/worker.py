"""A process that runs programs on the library, in the environment that it was started with:
pickled programs come on standard input, pickled results go to standard output."""

import os
import pickle
import struct
import sys


def send(stream, thing):
    body = pickle.dumps(thing, protocol=5)
    stream.write(struct.pack("<Q", len(body)))
    stream.write(body)
    stream.flush()


def receive(stream):
    head = stream.read(8)
    if len(head) < 8:
        return None
    body = stream.read(struct.unpack("<Q", head)[0])
    return pickle.loads(body)


def feeds_of(program, call):
    from fuzz import data, source

    made = []
    for leaf in source.fed(program):
        x = data.make(leaf["data"][call], data.shape_in(leaf, call), leaf["dtype"])
        if leaf.get("sparse"):
            import scipy.sparse

            x = scipy.sparse.csr_matrix(x)
        made.append(data.laid_out(x, leaf.get("layout")))
    if program["phase"]:
        made.append(program["phase"][call])
    return made


def run(program):
    """{"calls": [..], "types": ..} or {"error": .., "where": ..}."""
    import horngate as K
    import numpy as np
    from fuzz import data, source
    from fuzz.ops import TABLE

    scope = {"K": K, "np": np, "data": {}}
    for leaf in program["leaves"]:
        if leaf["kind"] != "placeholder":
            scope["data"][leaf["name"]] = data.make(leaf["data"], leaf["dims"], leaf["dtype"])
    where = "build"
    try:
        exec("\n".join(source.graph(program)), scope)
        f = scope["f"]
        types = {n: (K.dtype(scope[n]), K.int_shape(scope[n])) for n in program["outputs"]}
        calls, variables = [], [x["name"] for x in program["leaves"] if x["kind"] == "variable"]
        for call in range(program["calls"]):
            where = f"call {call}"
            got = f(feeds_of(program, call))
            calls.append(
                {
                    "outputs": dict(zip(program["outputs"], got)),
                    "gradients": gradients_of(program, scope, got[len(program["outputs"]) :]),
                    "variables": {n: K.get_value(scope[n]) for n in variables},
                }
            )
        first = list(calls[0]["outputs"].values())
        repeated = None
        changes = any(TABLE[op["op"]].random or op["op"] == "updated" for op in program["ops"])
        if not program["updates"] and not changes:
            where = "repeated call"
            again = f(feeds_of(program, 0))
            strict = K.backend() == "native"
            pairs = zip(program["outputs"], first, again)
            repeated = next((c for x in pairs if (c := changed(*x, strict))), True)
        return {"calls": calls, "types": types, "repeated": repeated}
    except Exception as error:  # noqa: BLE001: whatever the library throws is a result
        return {"error": type(error).__name__, "text": str(error), "where": where}


def changed(name, a, b, strict):
    """None, or how b differs from a in bits. Unless strict, NaN is NaN: its sign and payload mean
    nothing, and loops of other libraries take those of either operand, as memory lies."""
    import numpy as np

    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{name}: {a.dtype} {a.shape}, then {b.dtype} {b.shape}"
    if not a.size:
        return None
    flat = [np.ascontiguousarray(x).reshape(-1) for x in (a, b)]
    bits = [x.view(f"u{a.dtype.itemsize}") for x in flat]
    differs = bits[0] != bits[1]
    if not strict and a.dtype.kind == "f":
        differs &= ~(np.isnan(flat[0]) & np.isnan(flat[1]))
    if not differs.any():
        return None
    at = int(np.argmax(differs))
    values = ", then ".join(f"{x[at].item()!r} ({x[at].tobytes().hex()})" for x in flat)
    return f"{name}: {int(differs.sum())} of {a.size} elements, the first at {at}: {values}"


def gradients_of(program, scope, arrays):
    arrays, made = iter(arrays), []
    for i in range(len(program["gradients"])):
        made.append([None if g is None else next(arrays) for g in scope[f"g{i}"]])
    return made


def may_be_limited():
    """In its memory: the address sanitizer maps terabytes that it never uses."""
    return "libasan" not in os.environ.get("LD_PRELOAD", "")


def main():
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library or a program prints goes elsewhere
    if len(sys.argv) > 1 and may_be_limited():
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
    while (program := receive(sys.stdin.buffer)) is not None:
        send(out, run(program))


if __name__ == "__main__":
    main()
