"""Models for others: K.export_onnx, and the command that writes a saved Keras model as ONNX."""

import os
import sys

from horngate import _horngate as _hg

__all__ = ["export_keras_model", "export_onnx"]


def export_onnx(function, path):
    """Writes a function as an ONNX model for inference.

    The model is of opset 18. Variables become constants with their values of now, the learning
    phase is 0, and dimensions that are None stay open. Functions with updates, random numbers or
    sparse inputs cannot be written.

    Args:
        function: what K.function gives.
        path: file to write.

    Example:
        >>> x = K.placeholder((None, 2))
        >>> K.export_onnx(K.function([x], [K.softmax(x)]), "softmax.onnx")
    """
    _hg.export_onnx(function, os.fsencode(path))


def export_keras_model(model_path, path):
    """Writes a model that Keras saved (`model.save`) as ONNX.

    Args:
        model_path: file that keras.models.load_model reads.
        path: file to write.
    """
    os.environ["KERAS_BACKEND"] = "horngate"
    import keras

    import horngate as K

    if keras.backend.function is not K.function:
        raise RuntimeError("export: Keras runs on another backend; use Keras 2.2.4 to 2.3.1.")
    model = keras.models.load_model(os.fspath(model_path), compile=False)
    export_onnx(K.function(model.inputs, model.outputs), path)


def main(arguments):
    """`python -m horngate export MODEL OUT.onnx`, also reached by `horngate export`."""
    if len(arguments) != 2:
        print(
            "usage: horngate export MODEL.h5 OUT.onnx\n"
            "Writes a model that Keras saved as ONNX. In Python and C++ any function: K.export_onnx.",
            file=sys.stderr,
        )
        return 2
    try:
        export_keras_model(*arguments)
    except ImportError as e:
        print(f"horngate export: Keras is needed to read the model: {e}", file=sys.stderr)
        return 1
    except (OSError, ValueError, RuntimeError) as e:
        print(f"horngate export: {e}", file=sys.stderr)
        return 1
    return 0
