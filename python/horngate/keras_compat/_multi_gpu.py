"""multi_gpu_model on the one device that there is."""

import collections
import functools
import warnings

from horngate.keras_compat._items import item


def _unique(names):
    """Names of outputs; those of a layer that is used several times are numbered."""
    counts, seen = collections.Counter(names), collections.Counter()
    for name in names:
        seen[name] += 1
        yield name if counts[name] == 1 else f"{name}_{seen[name]}"


def _check(gpus):
    is_list = isinstance(gpus, (list, tuple))
    wanted = len(gpus) if is_list else gpus
    is_count = isinstance(wanted, int) and not isinstance(wanted, bool)
    if wanted is not None and (not is_count or wanted < (1 if is_list else 0)):
        raise ValueError(
            f"multi_gpu_model: gpus must be a number, a list of devices or None; got {gpus!r}."
        )
    if wanted is not None and wanted > 1:
        warnings.warn(
            f"multi_gpu_model: there is one device; it computes whole batches in place of {wanted}"
            " that compute parts of them.",
            stacklevel=3,
        )


@item(
    "multi_gpu_model",
    "It refuses a backend that is not called tensorflow. Horngate has one device: the model that comes"
    " back shares its weights with the given one and computes whole batches; a warning says so where"
    " several devices were asked for.",
    "keras.utils.multi_gpu_utils",
)
def one_device(multi_gpu_utils):
    @functools.wraps(multi_gpu_utils.multi_gpu_model)
    def multi_gpu_model(model, gpus=None, cpu_merge=True, cpu_relocation=False):
        from keras.layers import Activation

        _check(gpus)
        outputs = model(model.inputs)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        # As where parts are joined: a layer with the name of each output is last.
        outputs = [
            Activation("linear", name=name)(output)
            for name, output in zip(_unique(model.output_names), outputs)
        ]
        return multi_gpu_utils.Model(model.inputs, outputs)

    multi_gpu_utils.multi_gpu_model = multi_gpu_model
