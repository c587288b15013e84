"""Names that come as arguments."""


def own_name(name):
    """The name; none for "scope/", which name_scope gave and which is where we are anyway."""
    return None if name and name.endswith("/") else name


def wrong(argument, wanted, got):
    """The error for an argument, in the words that all errors have."""
    return TypeError(f"{argument} must be {wanted}; got {type(got).__name__}.")
