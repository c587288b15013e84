"""A program as Python: what workers execute, and what is printed when something is wrong."""

from fuzz import data
from fuzz.ops import TABLE


def leaf_lines(leaf, literal):
    name, dtype = leaf["name"], leaf["dtype"]
    if leaf["kind"] == "placeholder":
        shape = tuple(
            None if is_open or not isinstance(n, int) else n
            for n, is_open in zip(leaf["dims"], leaf["open"])
        )
        sparse = ", sparse=True" if leaf.get("sparse") else ""
        return [f"{name} = K.placeholder({shape}, dtype={dtype!r}{sparse})"]
    value = data.source(leaf["data"], leaf["dims"], dtype) if literal else f"data[{name!r}]"
    return [f"{name} = K.{leaf['kind']}({value}, dtype={dtype!r})"]


def argument(value):
    left_out = isinstance(value, str) and value.startswith("default:")
    return repr(None if left_out else value)


def op_lines(op):
    entry, names = TABLE[op["op"]], op["in"]
    before = []
    if callable(entry.code):
        made = entry.code(op["args"], names) if not entry.statements else entry.code(op)
        if isinstance(made, tuple):
            before, made = made
    else:
        made = entry.code.format(*names, **{k: argument(v) for k, v in op["args"].items()})
    return [*before, f"{', '.join(op['out'])} = {made}"]


def update_code(update):
    if update["kind"] == "descend":
        name, g = update["variable"], "g{}[{}]".format(*update["gradient"])
        return f"K.update_sub({name}, 0.125 * ({name} if {g} is None else {g}))"
    name, value = update["variable"], update["value"]
    if update["kind"] == "pair":
        return f"({name}, {value})"
    more = f", {update['momentum']}" if update["kind"] == "moving_average_update" else ""
    return f"K.{update['kind']}({name}, {value}{more})"


def graph(program, literal=False):
    """The lines that build the function f."""
    lines = [
        f"K.set_floatx({program['floatx']!r})",
        f"K.set_image_data_format({program['image_data_format']!r})",
    ]
    for leaf in program["leaves"]:
        lines += leaf_lines(leaf, literal)
    for op in program["ops"]:
        lines += op_lines(op)
    for i, gradient in enumerate(program["gradients"]):
        lines.append(f"g{i} = K.gradients({gradient['loss']}, [{', '.join(gradient['wrt'])}])")
    inputs = [x["name"] for x in fed(program)]
    if program["phase"]:
        inputs.append("K.learning_phase()")
    outputs = f"[{', '.join(program['outputs'])}]"
    if program["gradients"]:
        all_of = " + ".join(f"g{i}" for i in range(len(program["gradients"])))
        outputs = f"{outputs} + [g for g in {all_of} if g is not None]"
    updates = ""
    if program["updates"]:
        updates = f", updates=[{', '.join(map(update_code, program['updates']))}]"
    lines.append(f"f = K.function([{', '.join(inputs)}], {outputs}{updates})")
    return lines


def fed(program):
    """What a call is given arrays for, without the phase."""
    return [x for x in program["leaves"] if x["kind"] == "placeholder"] + program.get("fed", [])


def feeds(program, call):
    made = []
    for x in fed(program):
        shape = data.shape_in(x, call)
        array = data.source(x["data"][call], shape, x["dtype"], x.get("layout"))
        made.append(f"scipy.sparse.csr_matrix({array})" if x.get("sparse") else array)
    if program["phase"]:
        made.append(str(program["phase"][call]))
    return made


def standalone(program, finding):
    """A program that fails as long as the finding is there; needs numpy and horngate alone."""
    lines = ["import horngate as K", "import numpy as np", ""]
    if any(leaf.get("sparse") for leaf in program["leaves"]):
        lines.insert(2, "import scipy.sparse")
    environment = finding.get("environment") or {}
    if environment:
        words = " ".join(f"{k}={v}" for k, v in environment.items())
        lines.insert(0, f"# run with {words}")
    lines += graph(program, literal=True)
    place = finding.get("place") or {}
    place = place if "call" in place else None
    for call in range(program["calls"]):
        lines.append(f"got = f([{', '.join(feeds(program, call))}])")
        if place and place["call"] == call:
            break
    if place and place.get("index") is not None:
        lines.append(element_check(place))
    elif place and place["kind"] == "gradient":
        lines += gradient_checks(program, place)
    elif place and "wanted" in place:
        lines.append(f"# {place['name']}: {place['kind']} {place['got']}, not {place['wanted']}")
    return "\n".join(lines) + "\n"


def element_check(place):
    at = list(place["index"]) or ""
    wanted, tolerance = place["wanted"], place["tolerance"]
    what = f"got[{place.get('output')}]{at}"
    if place.get("variable"):
        what = f"K.get_value({place['variable']}){at}"
    if wanted == wanted and abs(wanted) != float("inf"):
        check = f"abs({what} - {wanted!r}) <= {max(tolerance, 0):.3g}"
    else:
        check = f"np.array_equal({what}, float({str(wanted)!r}), equal_nan=True)"
    return f"assert {check}, {what}  # was {place['got']!r}"


def gradient_checks(program, place):
    """Each gradient by itself, element by element."""
    from fuzz.evaluate import gradients_of

    which, call = place["gradient"], place["call"]
    lines = [f"# along a direction: {place['got']!r}, not {place['wanted']!r}"]
    for i, g in enumerate(gradients_of(program, which, call)):
        lines.append(f"wanted = np.array({data.literal(g)})")
        made = f"got[{len(program['outputs'])}:][{i}]"
        lines.append(f"np.testing.assert_allclose({made}, wanted, rtol=1e-3, atol=1e-5)")
    return lines
