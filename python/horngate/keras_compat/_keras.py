"""What Keras itself does wrong for a backend whose name it does not know, or with new packages."""

import functools
import sys

from horngate.keras_compat._items import Overlay, item


@item(
    "keras.backend",
    "Keras 2.2.5 and later hand on a fixed list of names, and `clear_session`,"
    " `manual_variable_initialization` and older names only for backends that they know.",
)
def all_names():
    # The module is half-loaded now and gets its names one by one; these count when one is missing.
    import horngate

    names = frozenset(horngate.__all__)

    def missing(name):
        if name in names:
            return getattr(horngate, name)
        raise AttributeError(f"module 'keras.backend' has no attribute {name!r}")

    sys.modules["keras.backend"].__getattr__ = missing


def _trace(layer, input_shape):
    """Shapes of what a Lambda layer makes of placeholders."""
    import horngate as K

    dtypes = getattr(layer, "_input_dtypes", None)
    if isinstance(input_shape, list):
        if not isinstance(dtypes, (list, tuple)):
            dtypes = [dtypes] * len(input_shape)
        x = [K.placeholder(shape, dtype=dtype) for shape, dtype in zip(input_shape, dtypes)]
    else:
        x = K.placeholder(input_shape, dtype=dtypes)
    y = layer.call(x)
    return [K.int_shape(part) for part in y] if isinstance(y, list) else K.int_shape(y)


@item(
    "Lambda",
    "A `Lambda` layer without `output_shape` infers its shape only if the backend is called"
    " tensorflow or cntk, and else takes that of its input. Here its function is traced on"
    " placeholders.",
    "keras.layers.core",
)
def lambda_shapes(core):
    compute = core.Lambda.compute_output_shape

    @functools.wraps(compute)
    def compute_output_shape(self, input_shape):
        if getattr(self, "_output_shape", None) is None:
            return _trace(self, input_shape)
        return compute(self, input_shape)

    core.Lambda.compute_output_shape = compute_output_shape


@item(
    "yaml.load",
    "PyYAML 6 wants to be told a loader; Keras before 2.3 does not say one.",
    "keras.engine.saving",
)
def yaml_loader(saving):
    yaml = getattr(saving, "yaml", None)
    if yaml is None:
        return

    def load(stream, Loader=yaml.FullLoader):
        return yaml.load(stream, Loader)

    saving.yaml = Overlay(yaml, load=load)
