"""Runs a script of Keras as it is, within limits: boot.py result.json script.py [arguments].

Stops each call of fit after HORNGATE_FIT_SECONDS of CPU time and the script after
HORNGATE_SCRIPT_SECONDS; keeps the losses of its first and last batches. Files in the cache of Keras
count as what they are named for, since ours are generated and have other checksums.
"""

import collections
import functools
import json
import os
import runpy
import signal
import sys
import time
import traceback
import warnings

FIT_SECONDS = float(os.environ.get("HORNGATE_FIT_SECONDS", "10"))
SCRIPT_SECONDS = float(os.environ.get("HORNGATE_SCRIPT_SECONDS", "60"))


class TimeUp(BaseException):
    """The script has run for as long as it may."""


class Losses:
    """The losses of the first and the last ten batches."""

    def __init__(self):
        self.count, self.fits = 0, 0
        self.first, self.last = [], collections.deque(maxlen=10)

    def add(self, loss):
        self.count += 1
        if len(self.first) < 10:
            self.first.append(float(loss))
        self.last.append(float(loss))

    def means(self):
        return [sum(part) / len(part) if part else None for part in (self.first, self.last)]


def refuse_download(origin, *args, **kwargs):
    raise OSError(f"not in the cache: {origin}")


def watch(losses):
    """Makes Keras report its batches to us."""
    import keras
    from keras.utils import data_utils

    data_utils.validate_file = lambda *args, **kwargs: True
    data_utils.urlretrieve = refuse_download
    try:
        keras.utils.vis_utils._check_pydot()
    except (ImportError, OSError):  # no pydot or no Graphviz: no drawing of the model
        keras.utils.plot_model = keras.utils.vis_utils.plot_model = lambda *args, **kwargs: None
    inside = []

    class Watch(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.start = time.process_time()

        def on_batch_end(self, batch, logs=None):
            losses.add(logs["loss"])
            if time.process_time() - self.start > FIT_SECONDS:
                self.model.stop_training = True

    def watched(method):
        @functools.wraps(method)  # scikit-learn's wrapper reads the signature
        def call(self, *args, **kwargs):
            losses.fits += 1
            inside.append(method)
            kwargs["callbacks"] = [*(kwargs.get("callbacks") or ()), Watch()]
            try:
                return method(self, *args, **kwargs)
            finally:
                inside.pop()

        return call

    def train_on_batch(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if not inside:
            losses.add(result[0] if isinstance(result, list) else result)
        return result

    model = keras.models.Model
    original = model.train_on_batch
    model.train_on_batch = train_on_batch
    model.fit = watched(model.fit)
    model.fit_generator = watched(model.fit_generator)


def run(script):
    """None if it ran to its end, else why not."""
    try:
        runpy.run_path(script, run_name="__main__")
    except TimeUp:
        return "time"
    except SystemExit as e:
        return f"exit status {e.code}" if e.code else None
    except BaseException as e:  # noqa: BLE001
        traceback.print_exc()
        where = traceback.extract_tb(e.__traceback__)[-1]
        file = os.path.join(*where.filename.split(os.sep)[-2:])
        text = str(e).strip().splitlines() or [""]
        return f"{type(e).__name__}: {text[0]} ({file}:{where.lineno})"
    return None


def time_up(signum, frame):
    raise TimeUp


def main():
    result, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    warnings.simplefilter("ignore", ResourceWarning)
    losses = Losses()
    watch(losses)
    signal.signal(signal.SIGPROF, time_up)
    signal.setitimer(signal.ITIMER_PROF, SCRIPT_SECONDS)
    start, cpu = time.monotonic(), time.process_time()
    why = run(script)
    signal.setitimer(signal.ITIMER_PROF, 0)
    first, last = losses.means()
    report = {
        "why": why,
        "seconds": time.monotonic() - start,
        "cpu": time.process_time() - cpu,
        "batches": losses.count,
        "first": first,
        "last": last,
    }
    with open(result, "w") as f:
        json.dump(report, f)
    sys.stdout.flush()
    os._exit(0)  # threads of a generator that was stopped may still wait


if __name__ == "__main__":
    main()
