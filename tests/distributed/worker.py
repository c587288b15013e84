"""A rank of the tests of horngate.distributed: worker.py COMMAND .., under `horngate launch`.

cases SEED COUNT   random operations beside what NumPy makes of all ranks' arrays
keras              callbacks of Keras while it trains
raises WELL        the last rank fails with an exception while the others wait for it, and end well if WELL is 1
differ WHAT        the last rank does something else
stays              what must not break anything
handler            operations in signal handlers
terminated         a handler of SIGTERM gives up and ends
leaves             Ctrl-C while this rank waits for the others to leave
late               the last rank comes late, while others ask
"""

import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np

DTYPES = ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]


def drawn(seed, rank, ragged):
    """What a rank has. The rank changes values, and the first size if that may differ."""
    common, own = np.random.default_rng(seed), np.random.default_rng([seed, rank])
    dtype, parts = str(common.choice(DTYPES)), int(common.integers(0, 4))
    rest = [int(n) for n in common.integers(0, 5, common.integers(0, 3))]
    first = int(own.integers(0, 6)) if ragged else parts
    x = own.integers(0, 9, [first, *rest])
    if dtype.startswith("float"):
        x = x + own.standard_normal(x.shape)
    return x.astype(dtype)


def near(got, wanted, dtype):
    assert got.dtype == dtype and got.shape == wanted.shape, (got, wanted)
    tolerance = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-12}.get(str(dtype), 0)
    np.testing.assert_allclose(got.astype("float64"), wanted, tolerance, tolerance)


def cases(seed, count):
    from horngate import distributed as hvd

    rank, ranks = hvd.rank(), hvd.size()
    for seed in range(seed, seed + count):
        ragged = [drawn(seed, r, True) for r in range(ranks)]
        got = hvd.allgather(ragged[rank])
        near(got, np.concatenate(ragged).astype("float64"), ragged[0].dtype)

        # As many parts as ranks, so that the first axis can be divided.
        all_ = [np.repeat(drawn(seed, r, False), ranks, axis=0) for r in range(ranks)]
        x, dtype = all_[rank], all_[0].dtype
        wide = np.stack(all_).astype("float64")
        ops = {hvd.Min: np.min, hvd.Max: np.max}
        if dtype != "bool":
            ops |= {hvd.Sum: np.sum, hvd.Product: np.prod}
        if dtype.kind == "f":
            ops |= {hvd.Average: np.mean}
        part = slice(rank * (len(x) // ranks), (rank + 1) * (len(x) // ranks))
        for op, of in ops.items():
            wanted = of(wide, axis=0)
            if dtype == "uint8":
                wanted = wanted % 256
            near(hvd.allreduce(x, op=op), wanted, dtype)
            near(hvd.reducescatter(x, op=op), wanted[part], dtype)
        exchanged = np.concatenate([np.split(y, ranks)[rank] for y in all_])
        near(hvd.alltoall(x), exchanged.astype("float64"), dtype)
        # Not contiguous, and a number.
        near(hvd.broadcast(x.T, seed % ranks), wide[seed % ranks].T, dtype)
        assert hvd.allreduce(rank + 0.5) == ranks / 2
        assert hvd.allreduce(np.float16(60000)) == 60000  # of which the sum is infinite
        assert hvd.broadcast_object([seed, rank], ranks - 1) == [seed, ranks - 1]
        assert hvd.allgather_object("x" * rank) == ["x" * r for r in range(ranks)]
    print(f"rank {rank} of {ranks}: {count} cases")


def keras():
    os.environ["KERAS_BACKEND"] = "horngate"
    from keras import backend as K
    from keras.callbacks import Callback
    from keras.layers import Dense
    from keras.models import Sequential
    from keras.optimizers import SGD

    from horngate import distributed as hvd
    from horngate.distributed import callbacks

    rank, ranks = hvd.rank(), hvd.size()
    own = np.random.default_rng(rank)
    model = Sequential([Dense(3, activation="tanh", input_shape=(4,)), Dense(1)])
    model.set_weights([own.standard_normal(w.shape) for w in model.get_weights()])
    model.compile(SGD(lr=0.1 * (rank + 1), momentum=0.5), "mse", metrics=["mae"])
    seen, rates = {}, []

    class Look(Callback):
        def on_train_begin(self, logs=None):
            seen["weights"] = [*self.model.get_weights(), K.get_value(self.model.optimizer.lr)]

        def on_batch_begin(self, batch, logs=None):
            optimizer = self.model.optimizer
            rates.append((float(K.get_value(optimizer.lr)), float(K.get_value(optimizer.momentum))))

        def on_epoch_end(self, epoch, logs=None):
            seen[epoch] = dict(logs)

    warmup = callbacks.LearningRateWarmupCallback(warmup_epochs=2)
    steps = callbacks.LearningRateScheduleCallback(
        multiplier=lambda epoch: 0.5**epoch, start_epoch=2, momentum_correction=False
    )
    parts = [
        callbacks.BroadcastGlobalVariablesCallback(0),
        callbacks.MetricAverageCallback(),
        warmup,
        steps,
        Look(),
    ]
    x, y = own.standard_normal((12, 4)), own.standard_normal((12, 1))
    model.fit(x, y, batch_size=4, epochs=4, callbacks=parts, verbose=0)

    for all_ in zip(*hvd.allgather_object(seen["weights"])):
        for other in all_[1:]:
            np.testing.assert_array_equal(all_[0], other)
    figures = hvd.allgather_object([seen[epoch] for epoch in range(4)])
    assert all(other == figures[0] for other in figures), figures
    assert {"loss", "mae", "lr"} <= set(figures[0][0]), figures[0][0]

    # Three batches an epoch: the rate goes up to 0.1 in six steps, then halves are taken of it.
    base = 0.1
    wanted = [base * (1 + (ranks - 1) * (i + 1) / 6) / ranks for i in range(6)]
    wanted += [base / 4] * 3 + [base / 8] * 3
    np.testing.assert_allclose([rate for rate, _ in rates], wanted, 1e-5)
    before = [base, *wanted[:5]]
    momentum = [0.5 * now / old for now, old in zip(wanted[:6], before)] + [0.5] * 6
    np.testing.assert_allclose([m for _, m in rates], momentum, 1e-5)

    # Once more, with shorter batches; then two schedules for one batch.
    model.fit(x, y, batch_size=2, epochs=2, callbacks=[warmup], verbose=0)
    assert abs(K.get_value(model.optimizer.lr) - base) < 1e-6, K.get_value(model.optimizer.lr)
    both = [callbacks.LearningRateScheduleCallback(multiplier=k) for k in (2.0, 4.0)]
    model.fit(x, y, batch_size=4, epochs=1, callbacks=both, verbose=0)
    assert K.get_value(model.optimizer.momentum) == 0.5, K.get_value(model.optimizer.momentum)
    # Ranks that have different figures.
    average = callbacks.MetricAverageCallback()
    more = {"validation_data": (x, y)} if rank == 0 else {}
    said = told(model.fit, x, y, epochs=1, callbacks=[average], verbose=0, **more)
    assert ranks == 1 or "must have the same figures" in said, said
    print(f"rank {rank} of {ranks}: trained")


def raises(end_well=0):
    from horngate import distributed as hvd

    hvd.init()
    if hvd.rank() == hvd.size() - 1:
        raise ValueError("a file is missing")
    try:
        hvd.barrier()
    except hvd.CommError as e:
        print(f"rank {hvd.rank()} sees rank {e.rank}, {e.reason}: {e}")
        if not end_well:
            raise


def told(call, *words, **more):
    """What a call gives, or says."""
    try:
        return repr(call(*words, **more))
    except BaseException as e:
        return f"{type(e).__name__} {getattr(e, 'reason', '')}: {e}"


def differ(what):
    from horngate import distributed as hvd

    rank, is_odd = hvd.rank(), hvd.rank() == hvd.size() - 1
    x = np.arange(6.0)
    began = time.time()
    if what == "end":
        said = None if is_odd else told(hvd.barrier)
    elif what == "root":
        said = told(hvd.broadcast, x, 1 if is_odd else 0)
    elif what == "op":
        said = told(hvd.allreduce, x, op=hvd.Sum if is_odd else hvd.Average)
    elif what == "order":
        said = told(hvd.allreduce, x, op=hvd.Sum, order="library" if is_odd else "ordered")
    elif what == "shape":
        said = told(hvd.allreduce, x.reshape((2, 3) if is_odd else (3, 2)))
    elif what == "half":
        said = told(hvd.allreduce, x.astype("float16" if is_odd else "float32"))
    elif what == "name":
        said = told(hvd.allreduce, 1.0, "accuracy" if is_odd else "loss")
    elif what == "size":
        said = told(hvd.broadcast, np.zeros(5 if is_odd else 3))
    print(f"after {time.time() - began:.3f} s rank {rank}: {said}")


def grandchild(queue):
    from horngate import distributed as hvd

    queue.put(told(hvd.rank))


def stays():
    from horngate import distributed as hvd

    rank, ranks = hvd.rank(), hvd.size()
    # What one rank cannot pickle is an error on all of them, and the next call is the next one.
    for call in (hvd.broadcast_object, hvd.allgather_object):
        said = told(call, (lambda: 0) if rank == 0 else "x")
        assert ("cannot pickle" in said) == (rank > 0) and "Error" in said, said
    assert hvd.broadcast_object(f"y{rank}") == "y0"
    # A process that a rank starts is not one.
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=grandchild, args=(queue,))
    child.start()
    said = queue.get(timeout=30)
    child.join()
    assert "was started by a rank" in said, said
    pid = os.fork()
    if pid == 0:
        said = told(hvd.barrier), told(hvd.shutdown), told(hvd.rank)
        is_right = "is not a rank" in said[0] and said[1:] == ("None", repr(rank))
        os._exit(0 if is_right else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert "no rank was lost" in told(hvd.shrink)
    assert hvd.allreduce(rank + 0.5) == ranks / 2
    big = np.arange(3.0).astype(">f4")
    assert hvd.allreduce(big, op=hvd.Sum).tolist() == [0, ranks, 2 * ranks]
    nan = np.array([np.nan, 1.0]) if rank == 0 else np.array([1.0, 2.0])
    np.testing.assert_array_equal(hvd.allreduce(nan, op=hvd.Min, order="library"), [np.nan, 1])
    print(f"rank {rank} of {ranks}: unbroken")


def signal_soon(number, seconds=0.3):
    pid = os.getpid()
    threading.Thread(target=lambda: (time.sleep(seconds), os.kill(pid, number))).start()


def handler():
    from horngate import distributed as hvd

    hvd.init()
    said = []
    signal.signal(signal.SIGUSR1, lambda *_: said.append(told(hvd.allreduce, 1.0)))
    if hvd.rank() == 0:
        signal_soon(signal.SIGUSR1)
    else:
        time.sleep(0.8)
    hvd.barrier()
    print(f"rank {hvd.rank()}: {said}")


def terminated():
    from horngate import distributed as hvd

    hvd.init()

    def end(*_):
        hvd.give_up("preempted")
        sys.exit(5)

    signal.signal(signal.SIGTERM, end)
    if hvd.rank() == 0:
        signal_soon(signal.SIGTERM)
    else:
        time.sleep(0.8)
    try:
        hvd.barrier()
    except hvd.CommError as e:
        print(f"rank {hvd.rank()}: {e}")


def leaves():
    from horngate import distributed as hvd

    hvd.init()
    if hvd.rank() > 0:
        time.sleep(3)
        return
    signal_soon(signal.SIGINT)
    began = time.time()
    print(f"{told(hvd.shutdown)} after {time.time() - began:.3f} s")


def late():
    from horngate import distributed as hvd

    # Before it has met them a rank cannot ask who it is.
    number = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or 0)
    if number > 0:
        time.sleep(1.5)
    other = threading.Thread(target=hvd.init)
    other.start()
    time.sleep(0.1)
    hvd.is_initialized()
    other.join()
    print(f"rank {hvd.rank()} of {hvd.size()}: met")


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command == "differ":
        differ(*words)
    else:
        globals()[command](*map(int, words))
