"""Which functions of the catalogue programs are made of, and why the others are not operations."""

from fuzz.ops import TABLE

# What every program does outside of its operations.
BY_PROGRAMS = {
    "variable": "leaves are variables",
    "constant": "leaves are constants",
    "placeholder": "leaves are placeholders, dense and sparse, with open sizes",
    "function": "every program is one",
    "gradients": "of a part of the graph, beside its outputs",
    "moving_average_update": "programs have updates",
    "update": "programs have updates",
    "update_add": "programs have updates",
    "update_sub": "programs have updates",
    "dtype": "asked of every output and compared",
    "int_shape": "asked of every output and compared",
    "get_value": "asked of every variable after every call and compared",
    "set_floatx": "set by every program",
    "set_image_data_format": "set by every program",
    "learning_phase": "fed by programs that have a phase",
}

REASONS = {
    "asks": "gives no tensor: a question about a tensor or a setting; tests/cases has it",
    "sets": "changes a setting of the process or the session, not a graph; tests/python has it",
    "host": "moves values between host and variables, outside of a graph; tests/cases has it",
    "shell": "wraps a Python function or names a scope: no computation",
}

EXCLUDED = {
    **dict.fromkeys(
        [
            "backend",
            "epsilon",
            "floatx",
            "image_data_format",
            "image_dim_ordering",
            "is_keras_tensor",
            "is_placeholder",
            "is_tensor",
            "is_variable",
            "ndim",
            "count_params",
            "get_variable_shape",
            "normalize_data_format",
        ],
        REASONS["asks"],
    ),
    **dict.fromkeys(
        [
            "set_epsilon",
            "set_image_dim_ordering",
            "set_learning_phase",
            "get_uid",
            "reset_uids",
            "clear_session",
            "manual_variable_initialization",
        ],
        REASONS["sets"],
    ),
    **dict.fromkeys(
        ["cast_to_floatx", "eval", "batch_get_value", "set_value", "batch_set_value"],
        REASONS["host"],
    ),
    **dict.fromkeys(["eager", "symbolic", "name_scope"], REASONS["shell"]),
    "print_tensor": "prints; its value is identity's, and tests/cases has it",
    "random_uniform_variable": "a variable whose start is drawn: tests/cases has the numbers",
    "random_normal_variable": "a variable whose start is drawn: tests/cases has the numbers",
}


def of_table():
    return {name for op in TABLE.values() for name in op.covers if name}
