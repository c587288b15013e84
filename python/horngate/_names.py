"""Names that come as arguments."""


def own_name(name):
    """The name; none for "scope/", which name_scope gave and which is where we are anyway."""
    return None if name and name.endswith("/") else name
