"""Several processes that run one program together: who they are, and what they do to arrays together.

`horngate launch -n 4 python program.py`, mpirun or srun starts the processes, the *ranks*. Every rank calls the same
operations in the same order. Without a launcher a program is its own only rank, and all operations work.

    from horngate import distributed as hvd

    hvd.init()
    mean = hvd.allreduce(loss)            # of all ranks
    hvd.broadcast_variables([w, b], 0)    # as they are on rank 0

The names are Horovod's. `callbacks` has those for Keras.
"""

import atexit
import pickle
import sys

import numpy as np

from horngate import _horngate as _hg
from horngate._horngate import CommError
from horngate._names import wrong

__all__ = [
    "Average",
    "CommError",
    "Max",
    "Min",
    "Product",
    "Sum",
    "allgather",
    "allgather_object",
    "allreduce",
    "alltoall",
    "barrier",
    "broadcast",
    "broadcast_object",
    "broadcast_variables",
    "give_up",
    "host",
    "init",
    "is_initialized",
    "local_rank",
    "local_size",
    "rank",
    "reducescatter",
    "shrink",
    "shutdown",
    "size",
]

Average, Sum, Min, Max, Product = "average", "sum", "min", "max", "prod"


def _telling(hook):
    """An excepthook that tells the other ranks why this one ends, then does what it did before."""

    def tell(kind, value, trace):
        # What came from another rank is known there.
        if not issubclass(kind, (CommError, KeyboardInterrupt)):
            try:
                if _hg.comm_is_initialized():
                    _hg.comm_give_up(f"{kind.__name__}: {value}".replace("\0", "\\0"))
            except Exception:  # the program ends for its own reason, not for this one
                pass
        hook(kind, value, trace)

    return tell


sys.excepthook = _telling(sys.excepthook)
# The library waits for the other ranks at the end of the process, where Ctrl-C is no longer heard: leave before.
atexit.register(_hg.comm_shutdown)


def init():
    """Meets the other ranks. The other functions do so by themselves; every rank does, at about the same time.

    An exception that ends a rank's program is told to the others, whose operations fail with its text.

    Example:
        >>> from horngate import distributed as hvd
        >>> hvd.init()
        >>> hvd.rank(), hvd.size()
        (0, 1)
    """
    _hg.comm_init()


def is_initialized():
    """Whether this process has met the others.

    Example:
        >>> hvd.init()
        >>> hvd.is_initialized()
        True
    """
    return _hg.comm_is_initialized()


def shutdown():
    """Leaves the others, once all of them do. The end of a program does so by itself.

    MPI cannot be opened again by the same process.

    Example:
        >>> hvd.shutdown()
    """
    _hg.comm_shutdown()


def rank():
    """This process's number, from 0 on.

    Example:
        >>> if hvd.rank() == 0:
        ...     print("one rank says so")
        one rank says so
    """
    return _hg.comm_rank()


def size():
    """How many ranks there are.

    Example:
        >>> hvd.size()
        1
    """
    return _hg.comm_size()


def local_rank():
    """The number among the ranks on this machine.

    Example:
        >>> hvd.local_rank()
        0
    """
    return _hg.comm_local_rank()


def local_size():
    """How many ranks there are on this machine.

    Example:
        >>> hvd.local_size()
        1
    """
    return _hg.comm_local_size()


def host(rank):
    """The name of the machine on which a rank runs.

    Example:
        >>> isinstance(hvd.host(0), str)
        True
    """
    return _hg.comm_host(rank)


def allreduce(value, name=None, op=Average, order="auto"):
    """The mean of the ranks' arrays, or their sum, on all ranks.

    Args:
        value: number, array or variable; shape and dtype are the same on all ranks.
        name: for messages.
        op: Average, Sum, Min, Max or Product.
        order: "ordered": the same bits from run to run, whatever the library and the network;
            "library": as MPI adds; "auto": ordered for up to 64 ranks.

    Returns:
        NumPy array; of a number a NumPy number.

    Example:
        >>> hvd.allreduce(2.5)
        np.float64(2.5)
    """
    return _hg.comm_all_reduce(_value(value), *_words("allreduce", op=op, order=order, name=name))


def reducescatter(value, name=None, op=Average, order="auto"):
    """The same, of which each rank gets its part of the first axis, which the number of ranks must divide.

    Example:
        >>> hvd.reducescatter([1.0, 2.0])
        array([1., 2.])
    """
    return _hg.comm_reduce_scatter(
        _value(value), *_words("reducescatter", op=op, order=order, name=name)
    )


def allgather(value, name=None):
    """The ranks' arrays one behind the other along the first axis, which may differ in length.

    Example:
        >>> hvd.allgather([1.0, 2.0])
        array([1., 2.])
    """
    return _hg.comm_all_gather(_value(value), *_words("allgather", name=name))


def alltoall(value, name=None):
    """Part r of the first axis goes to rank r; the result has the parts that came, by rank.

    Example:
        >>> hvd.alltoall([1.0, 2.0])
        array([1., 2.])
    """
    return _hg.comm_all_to_all(_value(value), *_words("alltoall", name=name))


def broadcast(value, root_rank=0, name=None):
    """The array of one rank, on all of them. Shapes and dtypes are the same on all ranks.

    Example:
        >>> hvd.broadcast([1.0, 2.0], root_rank=0)
        array([1., 2.])
    """
    return _hg.comm_broadcast(_value(value), root_rank, *_words("broadcast", name=name))


def broadcast_object(obj=None, root_rank=0, name=None):
    """What one rank has, whatever it is, on all of them: it is pickled.

    Example:
        >>> hvd.broadcast_object({"epoch": 3})
        {'epoch': 3}
    """
    error, data = _pickled(obj) if rank() == root_rank else (None, b"")
    length = int(broadcast(np.int64(-1 if error else len(data)), root_rank, name))
    if error:
        raise error
    if length < 0:  # all ranks stay in step
        raise RuntimeError(f"broadcast_object: rank {root_rank} cannot pickle its object.")
    room = np.zeros(length, np.uint8)
    room[: len(data)] = np.frombuffer(data, np.uint8)
    return pickle.loads(broadcast(room, root_rank, name).tobytes())


def allgather_object(obj, name=None):
    """A list with what each rank has, whatever it is: it is pickled.

    Example:
        >>> hvd.allgather_object("a")
        ['a']
    """
    error, data = _pickled(obj)
    sizes = allgather(np.int64(-1 if error else len(data)), name)
    if error:
        raise error
    if sizes.min() < 0:
        raise RuntimeError(f"allgather_object: rank {sizes.argmin()} cannot pickle its object.")
    ends = np.cumsum(sizes)
    whole = allgather(np.frombuffer(data, np.uint8), name)
    return [pickle.loads(part.tobytes()) for part in np.split(whole, ends[:-1])]


def broadcast_variables(variables, root_rank=0):
    """Sets variables to their values on one rank: all of them or, if that fails, none.

    Example:
        >>> w = K.variable([1.0, 2.0])
        >>> hvd.broadcast_variables([w], root_rank=0)
    """
    if isinstance(variables, _hg.Variable):
        raise TypeError("broadcast_variables: variables must be a list of variables; got one.")
    _hg.comm_broadcast_variables(list(variables), root_rank)


def barrier():
    """Waits for all ranks.

    Example:
        >>> hvd.barrier()
    """
    _hg.comm_barrier()


def give_up(why):
    """Tells the other ranks that this one cannot go on: what they wait for fails with this text.

    Example:
        >>> hvd.give_up("a file is missing.")
    """
    _hg.comm_give_up(why)


def shrink():
    """After a CommError: the ranks that are left go on with new numbers, in the same order. All of them call it.

    Under `horngate launch --elastic`.

    Example:
        >>> try:
        ...     hvd.barrier()
        ... except hvd.CommError:
        ...     hvd.shrink()
    """
    _hg.comm_shrink()


def _value(value):
    """In the order of bytes of this machine."""
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    return value


def _words(function, **words):
    """Arguments that are texts; None is an empty one."""
    for argument, word in words.items():
        if word is not None and not isinstance(word, str):
            raise wrong(f"{function}: {argument}", "a string", word)
    return [word or "" for word in words.values()]


def _pickled(obj):
    """(error, bytes)."""
    try:
        return None, pickle.dumps(obj)
    except Exception as error:
        return error, b""
