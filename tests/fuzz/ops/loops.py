"""Loops and branches, whose bodies are programs of their own."""

import numpy as np
from fuzz.ops.entry import Op, body_types, real

OPS = []


def indented(lines):
    return ["    " + line for line in lines]


def body_lines(body, captured, result):
    """The inside of a function that runs a body."""
    from fuzz.source import op_lines

    lines = [f"{inside} = {outside}" for inside, outside in zip(body["captured"], captured)]
    for op in body["ops"]:
        lines += op_lines(op)
    return indented([*lines, f"return {result}"])


def matching(g, like, avoid=()):
    """A value of a body with the shape and dtype of another, made if need be."""
    fitting = [
        v for v in g.values if v.dims == like.dims and v.dtype == like.dtype and v not in avoid
    ]
    return g.choice(fitting[-4:]) if fitting else like


# rnn

# What a step may do with a state whose first size it sees as 1 at first, and as the batch later.
LOOKS = [
    ("mean", {"axis": 0, "keepdims": True}),
    ("mean", {"axis": None}),
    ("var", {"axis": 0, "keepdims": True}),
    ("sum", {"axis": 0, "keepdims": True}),
    ("max", {"axis": 0, "keepdims": True}),
    ("cumsum", {"axis": 0}),
    ("softmax", {"axis": 0}),
    ("l2_normalize", {"axis": 0}),
    ("getitem", {"index": [[0, 1, None], [None, None, None]]}),
    ("getitem", {"index": [[-1, None, None], [None, None, None]]}),
    ("reverse", {"axes": 0}),
]


def draw_growing(g):
    """A state of one row that grows to the batch in the first step."""
    from fuzz.motifs import then

    x = g.pick(lambda v: v.is_float and v.rank == 3 and v.top < 50 and min(v.dims[1]) >= 1)
    if x is None or 0 in x.shape or x.size > 20_000 or max(x.dims[1]) > 20:
        return None
    state = g.new([1, g.width()], x.dtype)
    inner = g.inner()
    step = inner.parameter(x.dtype, [a[:, 0] for a in x.arrays])
    h = inner.parameter(x.dtype, [np.repeat(s, len(a), 0) for s, a in zip(state.arrays, x.arrays)])
    cell(inner, step, h, h.dims[1])
    y = inner.values[-1]
    if y in (step, h) or y.dims != h.dims:
        return None
    for _ in range(g.between(1, 3)):
        name, args = g.choice(LOOKS)
        seen = then(inner, name, [h], **args)
        fresh = seen and then(inner, g.choice(["add", "multiply"]), [y, seen])
        fresh = fresh and then(inner, "tanh", [fresh])
        y = fresh or y
    body, captured = inner.body([step, h], [y, y])
    a = {
        "states": 1,
        "constants": 0,
        "mask": False,
        "go_backwards": g.chance(0.25),
        "unroll": False,
        "body": body,
    }
    return [x, state, *captured], a


def draw_rnn(g):
    if g.chance(0.1):
        return draw_growing(g)
    if g.depth == 0 and g.chance(0.04):
        x = g.new([g.between(1, 2), g.between(90, 300), g.between(1, 3)], g.floatx)
    else:
        x = g.pick(lambda v: v.is_float and v.rank >= 3 and v.top < 50 and min(v.dims[1]) >= 1)
        if x is None or 0 in x.shape or x.size > 60_000:
            return None
        if max(x.dims[1]) > 40 and g.chance(0.9):
            return None
    states = []
    for _ in range(g.choice([0, 1, 1, 1, 2])):
        dims = [x.dims[0], *(x.dims[2:] if g.chance(0.5) else [g.width()])]
        if states and g.chance(0.7):
            dims = states[0].dims
        old = g.pick(lambda v: v.dims == dims and v.dtype == x.dtype)
        states.append(old if old is not None and g.chance(0.4) else g.new(dims, x.dtype))
    inner = g.inner()
    step = inner.parameter(x.dtype, [a[:, 0] for a in x.arrays])
    inside = [inner.parameter(s.dtype, s.arrays) for s in states]
    constants = []
    if g.chance(0.2):
        constants = [
            g.pick(lambda v: v.is_float and v.rank < 3 and v.finite and v.dtype == x.dtype)
        ]
        constants = [c for c in constants if c is not None]
    inside += [inner.parameter(c.dtype, c.arrays) for c in constants]
    if g.chance(0.6) and states and step.rank == 2 and states[0].rank == 2:
        if len(states) == 2 and states[0].dims == states[1].dims:
            lstm(inner, step, inside[:2], states[0].dims[1])
        else:
            cell(inner, step, inside[0], states[0].dims[1])
    inner.fill(g.between(1, 5))
    batch = x.dims[0]
    outputs = [v for v in inner.values if v.rank >= 1 and v.dims[0] == batch and v not in inside]
    outputs = [v for v in outputs if v.is_float]
    if not outputs:
        return None
    output = g.choice(outputs[-3:])
    taken = inside + [step]
    results = [output] + [matching(inner, s, taken) for s in inside[: len(states)]]
    body, captured = inner.body([step, *inside], results)
    mask = None
    if states and g.chance(0.25):
        mask = g.new([x.dims[0], x.dims[1]], "bool")
    a = {
        "states": len(states),
        "constants": len(constants),
        "mask": mask is not None,
        "go_backwards": g.chance(0.25),
        "unroll": g.chance(0.15) and not x.may_be_open and max(x.dims[1]) < 8,
        "body": body,
    }
    return [x, *states, *constants, *([mask] if mask else []), *captured], a


def cell(inner, x, h, width):
    """tanh(x W + h U), the plainest recurrent cell."""
    from fuzz.ops import TABLE

    if len(set(width)) > 1 or len(set(x.dims[1])) > 1:
        return
    w = inner.new([x.dims[1], width], x.dtype, weight=True)
    u = inner.new([width, width], x.dtype, weight=True)
    if not inner.keep(TABLE["dot"], [x, w], {}) or not inner.keep(TABLE["dot"], [h, u], {}):
        return
    if inner.keep(TABLE["add"], inner.values[-2:], {}):
        inner.keep(TABLE[inner.choice(["tanh", "sigmoid", "relu"])], [inner.values[-1]], {})


def lstm(inner, x, states, width):
    """Gates cut from one product, as LSTM cells have them."""
    from fuzz.motifs import then

    n = width[0]
    if len(set(width)) > 1 or len(set(x.dims[1])) > 1:
        return
    h, c = states
    xw = then(inner, "dot", [x, inner.new([x.dims[1], 4 * n], x.dtype, weight=True)])
    hu = then(inner, "dot", [h, inner.new([n, 4 * n], x.dtype, weight=True)])
    z = xw and hu and then(inner, "add", [xw, hu])
    z = z and then(inner, "add", [z, inner.new([4 * n], x.dtype)])
    gates = []
    for k, name in enumerate(["sigmoid", "hard_sigmoid", "tanh", "sigmoid"]):
        part = z and then(
            inner, "getitem", [z], index=[[None, None, None], [k * n, k * n + n, None]]
        )
        gates.append(part and then(inner, name, [part]))
    if None in gates:
        return
    kept = then(inner, "multiply", [gates[0], c])
    fresh = kept and then(inner, "multiply", [gates[1], gates[2]])
    total = fresh and then(inner, "add", [kept, fresh])
    squashed = total and then(inner, "tanh", [total])
    if squashed is not None:
        then(inner, "multiply", [gates[3], squashed])


def rnn_parts(a, things):
    things = list(things)
    x, rest = things[0], things[1:]
    n, c = a["states"], a["constants"]
    states, constants, rest = rest[:n], rest[n : n + c], rest[n + c :]
    mask = rest.pop(0) if a["mask"] else None
    return x, states, constants, mask, rest


def rnn_value(evaluation, a, inputs, types):
    x, states, constants, mask, captured = rnn_parts(a, inputs)
    tx, tstates, tconstants, _, tcaptured = rnn_parts(a, types)
    inside_types = [tx, *tstates, *tconstants, *tcaptured]
    outputs, last = [], None
    times = range(x.shape[1])
    if not len(times):
        raise ValueError("no time steps")
    if any(s.ndim and s.shape[0] == 1 < len(x) for s in states):  # grown before the first step
        first = evaluation.body(a["body"], [x[:, 0], *states, *constants, *captured], inside_types)
        states = [np.broadcast_to(s, np.shape(new)) for s, new in zip(states, first[1:])]
    for t in reversed(times) if a["go_backwards"] else times:
        made = evaluation.body(a["body"], [x[:, t], *states, *constants, *captured], inside_types)
        output, new = made[0], made[1:]
        if mask is not None:
            on = mask[:, t]
            last = np.zeros_like(output) if last is None else last

            def kept(fresh, old, on=on):
                return np.where(on.reshape(-1, *(1,) * (fresh.ndim - 1)), fresh, old)

            output = kept(output, last)
            new = [kept(s, old) for s, old in zip(new, states)]
        last, states = output, new
        outputs.append(output)
    return [last, np.stack(outputs, 1), *states]


def rnn_types(a, types, floatx):
    tx, tstates, tconstants, _, tcaptured = rnn_parts(a, types)
    made = body_types(a["body"], [tx, *tstates, *tconstants, *tcaptured], floatx)
    return [made[0], made[0], *made[1:]]


def rnn_code(op):
    a, tag = op["args"], op["out"][0]
    x, states, constants, mask, captured = rnn_parts(a, op["in"])
    body = a["body"]
    first, *inside = body["parameters"]
    lines = [f"def step_{tag}({first}, states):"]
    if inside:
        lines.append(f"    {', '.join(inside)}, = states")
    results = body["results"]
    lines += body_lines(body, captured, f"{results[0]}, [{', '.join(results[1:])}]")
    more = ""
    if constants:
        more += f", constants=[{', '.join(constants)}]"
    if mask:
        more += f", mask={mask}"
    for name in ("go_backwards", "unroll"):
        if a[name]:
            more += f", {name}=True"
    lines.append(
        f"last_{tag}, all_{tag}, states_{tag} = K.rnn(step_{tag}, {x}, [{', '.join(states)}]{more})"
    )
    return lines, f"(last_{tag}, all_{tag}, *states_{tag})"


OPS.append(
    Op(
        "rnn",
        draw_rnn,
        rnn_code,
        rnn_value,
        rnn_types,
        exact=True,
        statements=True,
        covers=("rnn",),
        weight=2,
    )
)


# map_fn


def draw_map(g):
    x = g.pick(lambda v: v.rank >= 1 and v.is_float and min(v.dims[0]) >= 1 and v.top < 50)
    if x is None or max(x.dims[0]) > 40:
        return None
    inner = g.inner()
    element = inner.parameter(x.dtype, [a[0] for a in x.arrays])
    if g.chance(0.3):
        extra = g.pick(lambda v: v.is_float and v.finite and v.dtype == x.dtype and v.rank < 3)
        if extra is not None:
            inner.capture(extra)
    inner.fill(g.between(1, 4))
    made = [v for v in inner.values if v not in (element,) and v.name not in inner_names(inner)]
    if not made:
        return None
    body, captured = inner.body([element], [made[-1]])
    return [x, *captured], {"body": body}


def inner_names(inner):
    return {p.name for p, _ in inner.captured}


def map_value(evaluation, a, inputs, types):
    x, captured = inputs[0], inputs[1:]
    rows = [evaluation.body(a["body"], [e, *captured], types)[0] for e in x]
    if not rows:
        raise ValueError("no rows")
    return np.stack([np.asarray(r) for r in rows])


def map_code(op):
    tag, body = op["out"][0], op["args"]["body"]
    lines = [f"def of_{tag}({body['parameters'][0]}):"]
    lines += body_lines(body, op["in"][1:], body["results"][0])
    return lines, f"K.map_fn(of_{tag}, {op['in'][0]})"


OPS.append(
    Op(
        "map_fn",
        draw_map,
        map_code,
        map_value,
        lambda a, types, floatx: body_types(a["body"], types, floatx)[0],
        exact=True,
        statements=True,
        covers=("map_fn",),
        weight=0.8,
    )
)


# foldl, foldr


def draw_fold(g):
    x = g.pick(lambda v: v.rank >= 1 and v.is_float and min(v.dims[0]) >= 1 and v.top < 50)
    if x is None or max(x.dims[0]) > 40:
        return None
    start = None
    if g.chance(0.5):
        start = g.new([*x.dims[1:]] if g.chance(0.7) else [g.width()], x.dtype)
    inner = g.inner()
    first = start.arrays if start else [a[0] for a in x.arrays]
    total = inner.parameter(x.dtype, first)
    element = inner.parameter(x.dtype, [a[0] for a in x.arrays])
    inner.fill(g.between(2, 5))
    result = matching(inner, total, (total, element))
    if result is total:
        return None
    body, captured = inner.body([total, element], [result])
    return [x, *([start] if start else []), *captured], {"start": start is not None, "body": body}


def fold_value(backwards):
    def value(evaluation, a, inputs, types):
        x, captured = inputs[0], inputs[1:]
        kinds = [types[0], types[0], *types[1:]]
        elements = list(x[::-1] if backwards else x)
        if a["start"]:
            total, captured = captured[0], captured[1:]
            kinds = [types[1], types[0], *types[2:]]
        else:
            total = elements.pop(0)
        for e in elements:
            total = evaluation.body(a["body"], [total, np.asarray(e), *captured], kinds)[0]
        return total

    return value


def fold_code(name):
    def code(op):
        tag, a = op["out"][0], op["args"]
        body, captured = a["body"], op["in"][1:]
        more = ""
        if a["start"]:
            more, captured = f", initializer={captured[0]}", captured[1:]
        lines = [f"def of_{tag}({', '.join(body['parameters'])}):"]
        lines += body_lines(body, captured, body["results"][0])
        return lines, f"K.{name}(of_{tag}, {op['in'][0]}{more})"

    return code


for _name in ("foldl", "foldr"):
    OPS.append(
        Op(
            _name,
            draw_fold,
            fold_code(_name),
            fold_value(_name == "foldr"),
            lambda a, types, floatx: types[0],
            exact=True,
            statements=True,
            covers=(_name,),
            weight=0.6,
        )
    )


# Branches


def draw_switch(g):
    x = g.pick(lambda v: v.rank >= 0)
    if x is None:
        return None
    y = g.pick(lambda v: v.dims == x.dims and v.dtype == x.dtype)

    def fits(v):
        return v.dtype == "bool" and v.rank <= x.rank and v.dims == x.dims[: v.rank]

    condition = g.pick(fits)
    if condition is None:
        condition = g.new(x.dims[: g.below(x.rank + 1)], "bool")
    return [condition, x, y], {}


def switch_value(r, a, condition, x, y):
    rank = max(x.ndim, y.ndim)
    condition = (real(condition) != 0).reshape(condition.shape + (1,) * (rank - condition.ndim))
    return np.where(condition, x, y)


OPS.append(
    Op(
        "switch",
        draw_switch,
        "K.switch({0}, {1}, {2})",
        switch_value,
        lambda a, types, floatx: types[1],
        exact=True,
        covers=("switch",),
        weight=1.2,
    )
)


def draw_branches(g):
    """Two bodies that end in the same shape; a scalar decides."""
    decider = g.pick(lambda v: v.is_float and v.finite)
    like = g.pick(lambda v: v.is_float and v.finite and v.top < 50)
    if decider is None or like is None:
        return None
    bodies, captured = [], []
    for _ in range(2):
        inner = g.inner()
        own = inner.capture(like)
        inner.fill(g.between(1, 3))
        result = matching(inner, own, (own,))
        body, outside = inner.body([], [result])
        if not body["captured"]:
            return None
        bodies.append(body)
        captured.append(outside)
    a = {"bodies": bodies, "split": len(captured[0]), "at": g.choice([0.0, 0.5, -0.5])}
    return [decider, *captured[0], *captured[1]], a


def branches_value(condition):
    def value(evaluation, a, inputs, types):
        n = a["split"] + 1
        parts = [(inputs[1:n], types[1:n]), (inputs[n:], types[n:])]
        which = 0 if condition(evaluation, a, inputs, types) else 1
        return evaluation.body(a["bodies"][which], *parts[which])[0]

    return value


def above(evaluation, a, inputs, types):
    noise = evaluation.noise
    noise.dtype = types[0]
    x = real(inputs[0])
    total = noise(np.asarray(np.sum(x)), np.asarray(np.sum(np.abs(x))))
    return bool(total > a["at"])


def branch_functions(op):
    a, tag = op["args"], op["out"][0]
    n = a["split"] + 1
    lines = []
    for name, body, captured in zip(("then", "else"), a["bodies"], (op["in"][1:n], op["in"][n:])):
        lines.append(f"def {name}_{tag}():")
        lines += body_lines(body, captured, body["results"][0])
    return lines, f"then_{tag}, else_{tag}"


def branches_code(op):
    lines, both = branch_functions(op)
    return lines, f"K.switch(K.greater(K.sum({op['in'][0]}), {op['args']['at']}), {both})"


def branch_types(a, types, floatx):
    return body_types(a["bodies"][0], types[1 : a["split"] + 1], floatx)[0]


OPS.append(
    Op(
        "switch_call",
        draw_branches,
        branches_code,
        branches_value(above),
        branch_types,
        exact=True,
        statements=True,
        covers=("switch",),
        weight=0.8,
    )
)


def training(evaluation, a, inputs, types):
    if a["training"] is not None:
        return bool(a["training"])
    return bool(evaluation.phase and evaluation.phase[evaluation.call])


def draw_phase(g):
    made = draw_branches(g)
    if made is None:
        return None
    made[1]["training"] = g.choice([None, None, None, 0, 1])
    return made


def phase_code(name):
    def code(op):
        lines, both = branch_functions(op)
        training = op["args"]["training"]
        return lines, f"K.{name}({both}{'' if training is None else f', training={training}'})"

    return code


for _name in ("in_train_phase", "in_test_phase"):
    OPS.append(
        Op(
            _name,
            draw_phase,
            phase_code(_name),
            branches_value(
                training
                if _name == "in_train_phase"
                else lambda e, a, x, t: not training(e, a, x, t)
            ),
            branch_types,
            exact=True,
            statements=True,
            outer=True,
            covers=(_name, "learning_phase"),
            weight=0.5,
        )
    )


# Reading a variable after its update


def draw_updated(g):
    def fits(v):
        taken = any(op["op"] == "updated" and op["in"][0] == v.name for op in g.ops)
        return v.leaf is not None and v.leaf["kind"] == "variable" and v.is_float and not taken

    v = g.pick(fits)
    new = v and g.pick(lambda w: w.dims == v.dims and w.dtype == v.dtype)
    return v and ([v, new], {"kind": g.choice(["update", "update_add", "update_sub"])})


def updated_value(evaluation, a, inputs, types):
    old, new = inputs
    noise = evaluation.noise
    noise.dtype = types[0]
    made = real(new) if a["kind"] == "update" else None
    if made is None:
        made = noise(real(old) + (real(new) if a["kind"] == "update_add" else -real(new)))
    evaluation.pending[a["variable"]] = made
    # An assignment has no derivative; reading the variable has.
    return made + 1j * old.imag if old.dtype.kind == "c" else made


def updated_code(op):
    tag, (name, new) = op["out"][0], op["in"]
    lines = [
        f"with K.control_dependencies([K.{op['args']['kind']}({name}, {new})]):",
        f"    after_{tag} = K.identity({name})",
    ]
    return lines, f"after_{tag}"


def draw_updated_named(g):
    made = draw_updated(g)
    if made:
        made[1]["variable"] = made[0][0].name
    return made


OPS.append(
    Op(
        "updated",
        draw_updated_named,
        updated_code,
        updated_value,
        lambda a, types, floatx: types[0],
        exact=True,
        statements=True,
        outer=True,
        covers=("control_dependencies", "update", "update_add", "update_sub"),
        weight=0.25,
    )
)
