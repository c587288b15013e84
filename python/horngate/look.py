"""Looking inside: pictures of functions; why a gradient is None or zero. Not part of the Keras backend."""

import html
import os

from horngate import _horngate as _hg
from horngate._names import wrong

__all__ = ["explain_gradient", "plot_function"]


def explain_gradient(loss, x):
    """Says why the gradient of a loss is None, or zero: the node that cut the way, and a remedy.

    Where it is neither, it says what the gradient flows through.

    Args:
        loss: tensor.
        x: tensor or variable that `K.gradients(loss, x)` differentiates by.

    Returns:
        String that begins with "The gradient is None because", "The gradient is zero everywhere
        because" or "The gradient is not None:".

    Example:
        >>> w = K.variable([1., 2.], name="w")
        >>> print(K.explain_gradient(K.sum(K.stop_gradient(w)), w))  # doctest: +ELLIPSIS
        The gradient is None because stop_gradient has no gradient (node "...", between the loss
        and variable "w"): blocking gradients is its purpose. Leave it out where the gradient is wanted.
    """
    for name, value in (("loss", loss), ("x", x)):
        if not _hg.is_tensor(value):
            raise wrong(f"explain_gradient: {name}", "a tensor", value)
    return _hg.explain_gradient(loss, x)


def plot_function(function, path, stage="plan", shapes=None, training=False):
    """Draws a function: its graph as it was built, or what runs, with shapes, bytes and fused groups.

    Args:
        function: what K.function gives.
        path: file to write. Its ending says the format: .svg, .png, .pdf (drawn by Graphviz), .dot,
            or .html: a page that needs no network, zooms, and folds layers and steps of large nets.
        stage: "plan": what runs; "program": the graph as it was built. A page has both.
        shapes: shapes of the inputs, for the plan; sizes that are None count as 32.
        training: whether the learning phase is that of training.

    Example:
        >>> x = K.placeholder((None, 2))
        >>> K.plot_function(K.function([x], [K.softmax(x)]), "softmax.dot")
    """
    if not isinstance(stage, str):
        raise wrong("plot_function: stage", "a string", stage)
    if shapes is not None:
        if not isinstance(shapes, (list, tuple)):
            raise wrong("plot_function: shapes", "a list of shapes", shapes)
        shapes = [list(shape) for shape in shapes]
    _hg.plot_function(function, os.fsencode(path), stage, shapes, training)


def function_html(function):
    """The page of plot_function, in a frame: what notebooks show."""
    page = html.escape(_hg.function_picture(function, "html"))
    return f'<iframe srcdoc="{page}" width="100%" height="420" style="border: 1px solid #ccc"></iframe>'


def tensor_html(tensor):
    """A row for notebooks."""
    kind = "variable" if isinstance(tensor, _hg.Variable) else "tensor"
    shape = ", ".join("None" if n is None else str(n) for n in tensor.shape)
    cells = (kind, tensor.name, f"({shape}{',' * (tensor.ndim == 1)})", tensor.dtype)
    return f"<code>{' &nbsp; '.join(html.escape(str(c)) for c in cells)}</code>"
