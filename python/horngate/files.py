"""Arrays and variables in files: K.save and K.load."""

import os

from horngate import _horngate as _hg

__all__ = ["load", "save"]


def save(path, arrays):
    """Writes variables or arrays by name to an .npz or .safetensors file, or one to an .npy file.

    The file is whole or, if anything fails, as it was before. All variables have the values of one
    moment.

    Args:
        path: file to write; its ending says the format.
        arrays: a dictionary of names and variables or arrays; a list of variables, stored under
            their own names; for .npy one variable or array. bfloat16 fits .safetensors alone.

    Example:
        >>> w = K.variable([1.0, 2.0])
        >>> K.save("net.npz", {"w": w, "steps": 10})
        >>> K.load("net.npz")["w"]
        array([1., 2.], dtype=float32)
    """
    if isinstance(arrays, dict):
        named = arrays
    elif isinstance(arrays, (list, tuple)) and all(isinstance(v, _hg.Variable) for v in arrays):
        named = {v.name: v for v in arrays}
        if len(named) < len(arrays):
            raise ValueError("save: two variables have one name; give a dictionary of names.")
    else:
        _hg.save_array(os.fsencode(path), arrays)
        return
    _hg.save_arrays(os.fsencode(path), named)


def load(path, variables=None):
    """Reads an .npz, .safetensors or .npy file.

    Args:
        path: file to read.
        variables: a list of variables, which are set to what the file has under their names, or a
            dictionary of names and variables: all of them, or none if one is missing or has another
            shape; for .npy one variable. Left out: the arrays are returned.

    Returns:
        A dictionary of names and NumPy arrays; of an .npy file the array; None for variables.

    Example:
        >>> w = K.variable([1.0, 2.0])
        >>> K.save("net.npz", {"w": w})
        >>> K.load("net.npz", {"w": w})
    """
    arrays = _hg.load_arrays(os.fsencode(path))
    if variables is None:
        return arrays[""] if os.fspath(path).endswith(".npy") else arrays
    if isinstance(variables, _hg.Variable):
        of_one = os.fspath(path).endswith(".npy")
        variables = {"" if of_one else variables.name: variables}
    elif not isinstance(variables, dict):
        variables = {v.name: v for v in variables}
    for name in variables:
        if name not in arrays:
            raise ValueError(f'load: {os.fspath(path)} has no array named "{name}".')
    _hg.batch_set_value([(v, arrays[name]) for name, v in variables.items()])
    return None
