"""Callbacks of the C++ library beside Keras's: when they stop, what they write, which rates they set."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_recurrent import Draw  # noqa: E402
from keras import callbacks, layers, models, optimizers  # noqa: E402
from keras_cases import run_steps as run  # noqa: E402


def net(seed, rate=0.3):
    random = np.random.RandomState(seed)
    model = models.Sequential()
    model.add(layers.Dense(5, activation="tanh", input_shape=(4,)))
    model.add(layers.Dense(2, activation="softmax"))
    model.compile(
        optimizers.SGD(rate, momentum=0.9), "categorical_crossentropy", metrics=["accuracy"]
    )
    model.set_weights([random.normal(size=w.shape) for w in model.get_weights()])
    x = random.normal(size=(20, 4)).astype("float32")
    return model, x, np.eye(2, dtype="float32")[random.randint(0, 2, 20)]


def fitted(model, x, y, ours, theirs, folder, epochs=12):
    """Histories of both; and weights afterwards are the same."""
    path = str(folder / "net.h5")
    model.save(path)
    options = {"batch_size": 6, "epochs": epochs, "validation_split": 0.3}
    arrays = {"x": [keras_cases.described(x)], "y": [keras_cases.described(y)]}
    fit = {"do": "fit", **arrays, **options, "callbacks": ours}
    got = run([{"do": "load", "path": path}, fit, {"do": "weights"}, {"do": "events"}], folder)
    wanted = model.fit(x, y, shuffle=False, verbose=0, callbacks=theirs, **options).history
    assert sorted(got[1]) == sorted(wanted)
    for name, values in wanted.items():
        np.testing.assert_allclose(got[1][name], values, rtol=2e-4, err_msg=name)
    for a, b in zip(got[2], model.get_weights(), strict=True):
        np.testing.assert_allclose(keras_cases.array_of(a), b, rtol=2e-4, atol=1e-5)
    return wanted, got[3]


def both(name, **options):
    return [{"class_name": name, "config": options}], [getattr(callbacks, name)(**options)]


MONITORS = [("val_loss", "auto"), ("loss", "min"), ("accuracy", "auto"), ("val_accuracy", "max")]


def test_early_stopping(tmp_path):
    lengths = set()
    for seed in range(12):
        d = Draw(seed)
        monitor, mode = d.of(MONITORS)
        options = {
            "monitor": monitor,
            "mode": mode,
            "min_delta": d.of([0, 0.01, 0.1]),
            "patience": d.size(0, 3),
            "baseline": d.of([None, None, 0.5]),
        }
        if options["baseline"] is None:  # else Keras fails where no epoch was better
            options["restore_best_weights"] = d.flag()
        history, _ = fitted(*net(seed), *both("EarlyStopping", **options), tmp_path)
        lengths.add(len(history["loss"]))
    assert len(lengths) > 2


def test_rates_on_a_plateau(tmp_path):
    rates = set()
    for seed in range(12):
        d = Draw(seed)
        monitor, mode = d.of(MONITORS)
        options = {
            "monitor": monitor,
            "mode": mode,
            "factor": d.of([0.1, 0.5]),
            "patience": d.size(0, 2),
            "min_delta": d.of([1e-4, 0.05]),
            "cooldown": d.size(0, 2),
            "min_lr": d.of([0, 0.05]),
        }
        history, _ = fitted(*net(seed), *both("ReduceLROnPlateau", **options), tmp_path)
        rates.add(len(set(history["lr"])))
    assert len(rates) > 2


def test_rates_by_a_schedule(tmp_path):
    theirs = [callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.7)]
    ours = [{"class_name": "LearningRateScheduler", "config": {"factor": 0.7}}]
    history, _ = fitted(*net(1), ours, theirs, tmp_path, epochs=4)
    np.testing.assert_allclose(history["lr"], [0.3 * 0.7**i for i in range(1, 5)], rtol=1e-5)


def test_the_end_when_the_loss_is_not_a_number(tmp_path):
    model, x, y = net(2)
    x[9] = np.nan
    _, events = fitted(
        model,
        x,
        y,
        [*both("TerminateOnNaN")[0], {"class_name": "LambdaCallback", "config": {}}],
        [callbacks.TerminateOnNaN()],
        tmp_path,
    )
    assert events.count("batch begins 0") == 1 and "batch begins 2" not in events


def test_the_order_of_events(tmp_path):
    seen = []

    def note(what):
        return lambda number, logs: seen.append(f"{what} {number}")

    theirs = callbacks.LambdaCallback(
        on_epoch_begin=note("epoch begins"),
        on_epoch_end=note("epoch ends"),
        on_batch_begin=note("batch begins"),
        on_batch_end=note("batch ends"),
        on_train_begin=lambda logs: seen.append("training begins 0"),
        on_train_end=lambda logs: seen.append("training ends 0"),
    )
    ours = [{"class_name": "LambdaCallback", "config": {}}]
    _, events = fitted(*net(3), ours, [theirs], tmp_path, epochs=2)
    assert events == seen


def test_a_second_base_logger_changes_nothing(tmp_path):
    ours = [{"class_name": "BaseLogger", "config": {}}]
    fitted(*net(4), ours, [callbacks.BaseLogger(stateful_metrics=["accuracy"])], tmp_path, epochs=2)


@pytest.mark.parametrize("separator", [",", ";"])
def test_tables_of_epochs(separator, tmp_path):
    """The same columns and numbers; a second training appends."""
    paths = [str(tmp_path / name) for name in ("ours.csv", "theirs.csv")]
    for append in (False, True):
        options = {"separator": separator, "append": append}
        ours = [{"class_name": "CSVLogger", "config": {"filename": paths[0], **options}}]
        theirs = [callbacks.CSVLogger(paths[1], **options)]
        fitted(*net(5), ours, theirs, tmp_path, epochs=3)
    tables = []
    for path in paths:
        with open(path, newline="") as f:
            tables.append(list(csv.reader(f, delimiter=separator)))
    assert tables[0][0] == tables[1][0] and len(tables[0]) == len(tables[1]) == 7
    for mine, its in zip(tables[0][1:], tables[1][1:]):
        np.testing.assert_allclose(np.array(mine, float), np.array(its, float), rtol=2e-4)


@pytest.mark.parametrize("seed", range(8))
def test_files_of_epochs(seed, tmp_path):
    d = Draw(seed)
    monitor, mode = d.of(MONITORS)
    options = {
        "monitor": monitor,
        "mode": mode,
        "save_best_only": d.flag(),
        "save_weights_only": d.flag(),
        "period": d.size(1, 3),
    }
    name = d.of(
        ["best.h5", "{epoch:02d}.h5", "{epoch}-{val_loss:.2f}.h5", "{epoch:03d}-{accuracy:.3f}.h5"]
    )
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    for folder in folders:
        folder.mkdir()
    ours = [
        {"class_name": "ModelCheckpoint", "config": {"filepath": str(folders[0] / name), **options}}
    ]
    theirs = [callbacks.ModelCheckpoint(str(folders[1] / name), **options)]
    model, x, y = net(seed)
    fitted(model, x, y, ours, theirs, tmp_path, epochs=6)
    names = [sorted(p.name for p in folder.iterdir()) for folder in folders]
    assert names[0] == names[1] and names[0]
    for file in names[0]:
        weights = []
        for folder in folders:
            if options["save_weights_only"]:
                model.load_weights(str(folder / file))
                weights.append(model.get_weights())
            else:
                weights.append(models.load_model(str(folder / file)).get_weights())
        for a, b in zip(*weights, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)
