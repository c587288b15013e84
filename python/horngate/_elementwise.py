"""Element-wise functions, comparisons and reductions."""

from horngate import _horngate as _hg

__all__ = [
    "abs",
    "all",
    "any",
    "argmax",
    "argmin",
    "cast",
    "clip",
    "cos",
    "cumprod",
    "cumsum",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "logsumexp",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "not_equal",
    "pow",
    "prod",
    "round",
    "sign",
    "sin",
    "sqrt",
    "square",
    "std",
    "sum",
    "var",
]


def square(x):
    """Multiplies each element by itself.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.square(K.constant([2., -3.])))
        array([4., 9.], dtype=float32)
    """
    return _hg.square(x)


def abs(x):
    """Takes absolute values.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.abs(K.constant([2., -3.])))
        array([2., 3.], dtype=float32)
    """
    return _hg.abs(x)


def sqrt(x):
    """Takes square roots; what is negative counts as 0.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sqrt(K.constant([4., 9., -1.])))
        array([2., 3., 0.], dtype=float32)
    """
    return _hg.sqrt(x)


def exp(x):
    """Takes e to the power of each element.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.exp(K.constant([0.])))
        array([1.], dtype=float32)
    """
    return _hg.exp(x)


def log(x):
    """Takes natural logarithms.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.log(K.constant([1.])))
        array([0.], dtype=float32)
    """
    return _hg.log(x)


def round(x):
    """Takes the nearest whole numbers, the even one of two.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.round(K.constant([0.5, 1.5, -1.2])))
        array([ 0.,  2., -1.], dtype=float32)
    """
    return _hg.round(x)


def sign(x):
    """Gives -1, 0 or 1.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sign(K.constant([3., 0., -2.])))
        array([ 1.,  0., -1.], dtype=float32)
    """
    return _hg.sign(x)


def sin(x):
    """Takes the sine of angles in radians.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sin(K.constant([0.])))
        array([0.], dtype=float32)
    """
    return _hg.sin(x)


def cos(x):
    """Takes the cosine of angles in radians.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.cos(K.constant([0.])))
        array([1.], dtype=float32)
    """
    return _hg.cos(x)


def cast(x, dtype):
    """Gives a new tensor in another element type.

    Args:
        x: tensor.
        dtype: such as "float16"; floats go to integers by truncation, to bool by != 0.

    Example:
        >>> K.dtype(K.cast(K.placeholder((2, 3)), "float16"))
        'float16'
    """
    return _hg.cast(x, dtype)


def pow(x, a):
    """Raises to a power.

    Args:
        x: tensor or number.
        a: exponent, a number or a tensor.

    Example:
        >>> K.eval(K.pow(K.constant([2., 3.]), 2))
        array([4., 9.], dtype=float32)
    """
    return _hg.pow(x, a)


def clip(x, min_value, max_value):
    """Sets what lies outside of an interval to the nearer bound.

    Args:
        x: tensor.
        min_value, max_value: numbers or tensors; None leaves a side open. Where max_value is below
            min_value, min_value counts.

    Example:
        >>> K.eval(K.clip(K.constant([-1., 0.5, 7.]), 0, 6))
        array([0. , 0.5, 6. ], dtype=float32)
    """
    return _hg.clip(x, min_value, max_value)


def maximum(x, y):
    """Gives the larger of two at each place.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.maximum(K.constant([-1., 2.]), 0))
        array([0., 2.], dtype=float32)
    """
    return _hg.maximum(x, y)


def minimum(x, y):
    """Gives the smaller of two at each place.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.minimum(K.constant([-1., 2.]), 0))
        array([-1.,  0.], dtype=float32)
    """
    return _hg.minimum(x, y)


def equal(x, y):
    """Tells where x == y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.equal(K.constant([1., 2., 3.]), 2))
        array([False,  True, False])
    """
    return _hg.equal(x, y)


def not_equal(x, y):
    """Tells where x != y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.not_equal(K.constant([1., 2., 3.]), 2))
        array([ True, False,  True])
    """
    return _hg.not_equal(x, y)


def greater(x, y):
    """Tells where x > y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.greater(K.constant([1., 2., 3.]), 2))
        array([False, False,  True])
    """
    return _hg.greater(x, y)


def greater_equal(x, y):
    """Tells where x >= y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.greater_equal(K.constant([1., 2., 3.]), 2))
        array([False,  True,  True])
    """
    return _hg.greater_equal(x, y)


def less(x, y):
    """Tells where x < y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.less(K.constant([1., 2., 3.]), 2))
        array([ True, False, False])
    """
    return _hg.less(x, y)


def less_equal(x, y):
    """Tells where x <= y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.less_equal(K.constant([1., 2., 3.]), 2))
        array([ True,  True, False])
    """
    return _hg.less_equal(x, y)


def max(x, axis=None, keepdims=False):
    """Takes the largest element along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.max(K.constant([[1., 2.], [3., 4.]]), axis=1))
        array([2., 4.], dtype=float32)
    """
    return _hg.max(x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    """Takes the smallest element along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.min(K.constant([[1., 2.], [3., 4.]]), axis=1))
        array([1., 3.], dtype=float32)
    """
    return _hg.min(x, axis, keepdims)


def sum(x, axis=None, keepdims=False):
    """Adds along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.sum(K.constant([[1., 2.], [3., 4.]]), axis=1, keepdims=True))
        array([[3.],
               [7.]], dtype=float32)
    """
    return _hg.sum(x, axis, keepdims)


def prod(x, axis=None, keepdims=False):
    """Multiplies along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.prod(K.constant([[1., 2.], [3., 4.]]), axis=1))
        array([ 2., 12.], dtype=float32)
    """
    return _hg.prod(x, axis, keepdims)


def mean(x, axis=None, keepdims=False):
    """Takes the arithmetic mean along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.mean(K.constant([[1., 2.], [3., 4.]])))
        np.float32(2.5)
    """
    return _hg.mean(x, axis, keepdims)


def var(x, axis=None, keepdims=False):
    """Takes the variance along axes, divided by n, not n - 1.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.var(K.constant([[1., 2.], [3., 4.]]), axis=0))
        array([1., 1.], dtype=float32)
    """
    return _hg.var(x, axis, keepdims)


def std(x, axis=None, keepdims=False):
    """Takes the standard deviation along axes, the square root of `var`.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.std(K.constant([[1., 2.], [3., 4.]]), axis=0))
        array([1., 1.], dtype=float32)
    """
    return _hg.std(x, axis, keepdims)


def any(x, axis=None, keepdims=False):
    """Tells whether one element along axes is not 0.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.any(K.constant([[0, 1], [0, 0]]), axis=1))
        array([ True, False])
    """
    return _hg.any(x, axis, keepdims)


def all(x, axis=None, keepdims=False):
    """Tells whether no element along axes is 0.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.all(K.constant([[1, 1], [0, 1]]), axis=1))
        array([ True, False])
    """
    return _hg.all(x, axis, keepdims)


def logsumexp(x, axis=None, keepdims=False):
    """Takes log(sum(exp(x))) along axes, without overflow.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.logsumexp(K.constant([1e4, -1e4])))
        np.float32(10000.0)
    """
    return _hg.logsumexp(x, axis, keepdims)


def cumsum(x, axis=0):
    """Takes the running sum along an axis.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.cumsum(K.constant([1., 2., 3.])))
        array([1., 3., 6.], dtype=float32)
    """
    return _hg.cumsum(x, axis)


def cumprod(x, axis=0):
    """Takes the running product along an axis.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.cumprod(K.constant([1., 2., 3.])))
        array([1., 2., 6.], dtype=float32)
    """
    return _hg.cumprod(x, axis)


def argmax(x, axis=-1):
    """Gives the position of the largest element along an axis, the first of equals.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.argmax(K.constant([[1., 5., 2.]])))
        array([1])
    """
    return _hg.argmax(x, axis)


def argmin(x, axis=-1):
    """Gives the position of the smallest element along an axis, the first of equals.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.argmin(K.constant([[1., 5., 2.]])))
        array([0])
    """
    return _hg.argmin(x, axis)
