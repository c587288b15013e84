"""Methods of tensors and variables that are written in Python."""

import copy as _copy

from horngate import _horngate as _hg


class _StaticShape(tuple):
    """A shape with the methods that TensorFlow programs use."""

    def as_list(self):
        return list(self)

    @property
    def ndims(self):
        return len(self)


def _eval(self, feed_dict=None, session=None):
    """Computes the value now.

    Args:
        feed_dict: values of tensors, if some are needed.
        session: ignored; there are no sessions.
    """
    if not feed_dict:
        return _hg.eval(self)
    inputs = list(feed_dict)
    function = _hg.function(inputs, [self], [], [], [], "eval", False, True)
    return function([feed_dict[x] for x in inputs])


def _get_shape(self):
    """The shape as known now, None where it is open."""
    return _StaticShape(self.shape)


def _itself(self, memo=None):
    """Itself: a tensor is part of a graph, which is not copied."""
    return self


def _refuse_pickle(self, protocol):
    raise TypeError(
        f'cannot pickle the tensor "{self.name}": it is part of a graph, not a value.'
        " Pickle K.eval(x) or a variable."
    )


def _refuse_array(self, dtype=None, copy=None):
    raise TypeError(
        f'the tensor "{self.name}" is not an array: it has no value while the graph is built.'
        " Use K.eval, or K functions in place of NumPy's."
    )


# What a copy of a variable takes along; its other attributes tie it to layers and models.
_KEPT = ("trainable", "constraint", "_tracked")


def _restore_variable(value, dtype, name, attributes):
    variable = _hg.variable(value, dtype, name)
    for key, item in attributes.items():
        setattr(variable, key, item)
    return variable


def _state_of(variable):
    attributes = {key: variable.__dict__[key] for key in _KEPT if key in variable.__dict__}
    value = _hg.batch_get_value([variable])[0]
    if variable.dtype == "bfloat16":
        value = value.astype("float32")  # which is read without ml_dtypes too
    return value, variable.dtype, variable.name, attributes


def _deepcopy_variable(self, memo):
    """A new variable with the same value."""
    value, dtype, name, attributes = _state_of(self)
    made = _restore_variable(value, dtype, name, _copy.deepcopy(attributes, memo))
    memo[id(self)] = made
    return made


def _reduce_variable(self, protocol):
    return _restore_variable, _state_of(self)


def _true(self):
    """True: `if self.bias:` asks whether there is one. Other tensors refuse the question."""
    return True


def _attach(cls, **methods):
    for name, method in methods.items():
        setattr(cls, name, method)


def _tensor_html(self):
    from horngate.look import tensor_html

    return tensor_html(self)


def _function_html(self):
    from horngate.look import function_html

    return function_html(self)


_attach(_hg.Function, _repr_html_=_function_html)
_attach(
    _hg.Tensor,
    _repr_html_=_tensor_html,
    eval=_eval,
    get_shape=_get_shape,
    __copy__=_itself,
    __deepcopy__=_itself,
    __reduce_ex__=_refuse_pickle,
    __array__=_refuse_array,
)
_attach(
    _hg.Variable,
    __bool__=_true,
    __deepcopy__=_deepcopy_variable,
    __reduce_ex__=_reduce_variable,
)
