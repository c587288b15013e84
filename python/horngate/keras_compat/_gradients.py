"""What optimizers say where a gradient is None."""

import functools

from horngate.keras_compat._items import item


def explanations(loss, params, grads):
    """A line for each parameter without a gradient."""
    import horngate

    for param, grad in zip(params, grads):
        if grad is None:
            _, _, reason = horngate.explain_gradient(loss, param).partition(" because ")
            yield f"{param.name}: {reason}"


@item(
    "None gradients",
    "Where an optimizer meets a gradient that is `None`, Keras names functions that may be the cause. The same"
    " error goes on with the parameter, the node that cut the way to it, and a remedy (`K.explain_gradient`).",
    "keras.optimizers",
)
def named_causes(optimizers):
    own = optimizers.Optimizer.get_gradients

    @functools.wraps(own)
    def get_gradients(self, loss, params):
        try:
            return own(self, loss, params)
        except ValueError as error:
            if "`None` for gradient" not in str(error):
                raise
            from keras import backend as K

            lines = list(explanations(loss, params, K.gradients(loss, params)))
            if not lines:
                raise
            raise ValueError("\n".join([str(error), *lines])) from None

    optimizers.Optimizer.get_gradients = get_gradients
