"""Names that come as arguments."""


def own_name(name):
    """The name; empty for "scope/", which name_scope returned and in which we are anyway."""
    return None if name and name.endswith("/") else name


def wrong(argument, wanted, got):
    """The error for an argument, worded like all errors."""
    return TypeError(f"{argument} must be {wanted}; got {type(got).__name__}.")
