"""Trains the nets of nets.py for 20 steps on each side and compares the losses.

training.py ours|theirs FILE    trains; the environment's Keras 2.3.1 on our module, or tf_keras
training.py compare OURS THEIRS prints the largest relative difference per net and optimizer
"""

import json
import sys
import warnings

import nets
import numpy as np

# Float64 shows that what differs in float32 is rounding. Not less than 1e-6: behind a sigmoid theirs
# computes binary_crossentropy from logits, ours as 2.3.1 does, with epsilon under the logarithm.
TOLERANCE = {"float32": 1e-4, "float64": 1e-6}


def side(which):
    """(keras, optimizers) of a side."""
    if which == "ours":
        import keras

        assert keras.backend.backend() == "horngate", keras.backend.backend()
        assert keras.__version__ == "2.3.1", keras.__version__
        return keras, keras.optimizers
    import tf_keras

    class Optimizers:
        SGD, Adam = tf_keras.optimizers.SGD, tf_keras.optimizers.Adam
        # The new one adds epsilon under the root; 2.3.1 and their older one, outside.
        RMSprop = tf_keras.optimizers.legacy.RMSprop

    return tf_keras, Optimizers


def loss_of(y):
    if y.shape[1] > 1:
        return "categorical_crossentropy"
    return "mse" if y.dtype.kind == "f" else "binary_crossentropy"


def train(keras, optimizer, name, dtype):
    """The loss of each step, and of a test afterwards."""
    keras.backend.clear_session()
    keras.backend.set_floatx(dtype)
    layers, x, y = nets.NETS[name](keras.layers)
    model = keras.models.Sequential(layers)
    model.set_weights(nets.starting_weights(model, name))
    model.compile(optimizer=optimizer, loss=loss_of(y))
    n = len(x) // nets.STEPS
    if x.dtype.kind == "f":
        x, y = x.astype(dtype), y.astype(dtype)
    batches = [(x[i * n : (i + 1) * n], y[i * n : (i + 1) * n]) for i in range(nets.STEPS)]
    return [float(model.train_on_batch(*b)) for b in batches] + [float(model.test_on_batch(x, y))]


def run(which, path):
    warnings.simplefilter("ignore")
    keras, optimizers = side(which)
    made = {}
    for dtype in TOLERANCE:
        for name in nets.NETS:
            for kind, make in nets.OPTIMIZERS.items():
                optimizer = make[dtype](optimizers)
                made[f"{dtype}/{name}/{kind}"] = train(keras, optimizer, name, dtype)
    with open(path, "w") as f:
        json.dump(made, f)


def compare(ours_path, theirs_path):
    with open(ours_path) as f, open(theirs_path) as g:
        ours, theirs = json.load(f), json.load(g)
    width, failed = max(map(len, nets.NETS)), 0
    for dtype, allowed in TOLERANCE.items():
        title = f"{dtype}, {nets.STEPS} steps"
        print(f"{title:{width}} " + " ".join(f"{k:>9}" for k in nets.OPTIMIZERS))
        for name in nets.NETS:
            worst = []
            for kind in nets.OPTIMIZERS:
                key = f"{dtype}/{name}/{kind}"
                a, b = np.array(ours[key]), np.array(theirs[key])
                assert len(a) == len(b) == nets.STEPS + 1 and np.all(np.isfinite(b)), key
                assert abs(b[-2] - b[0]) > 1e-4 * b[0], f"{key}: nothing was learnt"
                if "BatchNorm" in name:
                    # 2.3.1 makes the moving variance that of a sample, theirs for images alone
                    a, b = a[:-1], b[:-1]
                worst.append(float(np.max(np.abs(a - b) / np.abs(b))))
            failed += sum(not d <= allowed for d in worst)
            marks = " ".join(f"{d:9.1e}" for d in worst)
            print(f"{name:{width}} {marks}" + ("  FAIL" if not max(worst) <= allowed else ""))
    print(f"training: {failed} of {2 * len(nets.NETS) * len(nets.OPTIMIZERS)} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    run(*sys.argv[1:])
