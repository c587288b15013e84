"""Callbacks of Keras for programs of several ranks, with Horovod's names. Importing this imports Keras."""

from keras import backend as K
from keras.callbacks import Callback

from horngate import _horngate as _hg
from horngate import distributed

__all__ = [
    "BroadcastGlobalVariablesCallback",
    "LearningRateScheduleCallback",
    "LearningRateWarmupCallback",
    "MetricAverageCallback",
]

# The attribute of an optimizer that keeps its momentum for a batch.
OWN_MOMENTUM = "_momentum_before_batch"


def variables_of(model):
    """All that training changes or reads: weights, the optimizer's state and its settings."""
    optimizer = getattr(model, "optimizer", None)
    found = [*model.weights, *getattr(optimizer, "weights", [])]
    found += [v for _, v in sorted(vars(optimizer).items())] if optimizer else []
    # By identity: comparing variables makes a tensor.
    return list({id(v): v for v in found if isinstance(v, _hg.Variable)}.values())


class BroadcastGlobalVariablesCallback(Callback):
    """Before training all ranks get the weights, the optimizer's state and its settings of one of them.

    Ranks that begin with random weights, or of which one has loaded a checkpoint, go on as one.
    """

    def __init__(self, root_rank, device=""):
        super().__init__()
        self.root_rank = root_rank

    def on_train_begin(self, logs=None):
        distributed.broadcast_variables(variables_of(self.model), self.root_rank)


class MetricAverageCallback(Callback):
    """After each epoch the figures that callbacks behind this one see are the means over all ranks."""

    def __init__(self, device=""):
        super().__init__()

    def on_epoch_end(self, epoch, logs=None):
        names = sorted(logs or ())
        for rank, theirs in enumerate(distributed.allgather_object(names)):
            if theirs != names:
                raise ValueError(
                    "MetricAverageCallback: all ranks must have the same figures; "
                    f"here are {names}, rank {rank} has {theirs}."
                )
        if names:
            means = distributed.allreduce([float(logs[name]) for name in names])
            logs.update(zip(names, means.tolist()))


class LearningRateScheduleCallback(Callback):
    """Sets the learning rate to initial_lr * multiplier(epoch) from start_epoch to before end_epoch.

    Args:
        initial_lr: unset: the rate that the optimizer begins with.
        multiplier: number, or a function of the epoch.
        staircase: at the beginning of epochs only; else the epoch that `multiplier` gets is a fraction, and
            changes with each batch.
        momentum_correction: momentum is scaled with the rate for the batch in which it changes.
        steps_per_epoch: batches of an epoch; unset: what Keras says.
    """

    def __init__(
        self,
        initial_lr=None,
        multiplier=None,
        start_epoch=0,
        end_epoch=None,
        staircase=True,
        momentum_correction=True,
        steps_per_epoch=None,
    ):
        super().__init__()
        if multiplier is None:
            raise ValueError(
                "LearningRateScheduleCallback: multiplier must be a number or a function of the epoch; got None."
            )
        self.initial_lr, self.given_steps = initial_lr, steps_per_epoch
        self.steps_per_epoch = steps_per_epoch
        self.multiplier = multiplier if callable(multiplier) else lambda epoch: multiplier
        self.start_epoch, self.end_epoch = start_epoch, end_epoch
        # A number is the same at any moment of an epoch.
        self.staircase = staircase or not callable(multiplier)
        self.momentum_correction = momentum_correction
        self.epoch = 0

    def on_train_begin(self, logs=None):
        if self.initial_lr is None:
            self.initial_lr = float(K.get_value(self.model.optimizer.lr))
        if not self.staircase and self.given_steps is None:
            self.steps_per_epoch = self.steps_of_keras()

    def steps_of_keras(self):
        params = self.params or {}
        if params.get("steps"):
            return params["steps"]
        if params.get("samples") and params.get("batch_size"):
            return -(-params["samples"] // params["batch_size"])
        raise ValueError(
            f"{type(self).__name__}: Keras does not say how many batches an epoch has; give steps_per_epoch."
        )

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_batch_begin(self, batch, logs=None):
        ends = self.end_epoch is not None and self.epoch >= self.end_epoch
        if self.epoch < self.start_epoch or ends:
            return
        if self.staircase and batch == 0:
            self.adjust(self.epoch)
        elif not self.staircase:
            self.adjust(self.epoch + batch / self.steps_per_epoch)

    def adjust(self, epoch):
        optimizer = self.model.optimizer
        before, now = float(K.get_value(optimizer.lr)), self.initial_lr * self.multiplier(epoch)
        K.set_value(optimizer.lr, now)
        if self.momentum_correction and hasattr(optimizer, "momentum") and before:
            # What was gathered at the old rate counts as if it had been gathered at the new one. Several schedules
            # may change it for one batch.
            momentum = float(K.get_value(optimizer.momentum))
            vars(optimizer).setdefault(OWN_MOMENTUM, momentum)
            K.set_value(optimizer.momentum, momentum * now / before)

    def on_batch_end(self, batch, logs=None):
        own = vars(self.model.optimizer).pop(OWN_MOMENTUM, None)
        if own is not None:
            K.set_value(self.model.optimizer.momentum, own)

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["lr"] = float(K.get_value(self.model.optimizer.lr))


class LearningRateWarmupCallback(LearningRateScheduleCallback):
    """Raises the learning rate from initial_lr / size to initial_lr over the first epochs.

    A rate that is multiplied by the number of ranks, as large batches want it, is too large for the first steps.
    """

    def __init__(
        self,
        initial_lr=None,
        warmup_epochs=5,
        momentum_correction=True,
        steps_per_epoch=None,
        verbose=0,
    ):
        self.warmup_epochs, self.verbose = warmup_epochs, verbose
        super().__init__(
            initial_lr=initial_lr,
            multiplier=self.part_of_rate,
            end_epoch=warmup_epochs,
            staircase=False,
            momentum_correction=momentum_correction,
            steps_per_epoch=steps_per_epoch,
        )

    def part_of_rate(self, epoch):
        # A batch further, so that the last one of an epoch has a round part.
        done = (epoch + 1 / self.steps_per_epoch) / self.warmup_epochs
        ranks = distributed.size()
        return (done * (ranks - 1) + 1) / ranks

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if epoch == self.warmup_epochs - 1 and self.verbose > 0:
            rate = float(K.get_value(self.model.optimizer.lr))
            print(f"\nEpoch {epoch + 1}: finished gradual learning rate warmup to {rate:g}.")
