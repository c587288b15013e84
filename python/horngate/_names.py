"""Names that come as arguments."""


def own_name(name):
    """The name without what name_scope gave: "scope/" says where, and the scope is open there anyway."""
    return None if name and name.endswith("/") else name
