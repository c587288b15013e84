"""The worker of the theano engine: builds and runs programs for the process that started it.

Started as: python3 -I worker.py CACHE PARENT, with a socket as descriptor 3. src/engines/theano/worker.cpp
describes the messages on it. Arrays pass through memory that both sides map.
"""

import array
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback
import warnings

SOCKET = 3
LOOK_FOR = 60e-6  # seconds
CODES = {ValueError: 1, TypeError: 2, IndexError: 3, NotImplementedError: 4}


def watch_parent(parent):
    """Ends this process when the parent is gone, even in the middle of a call or a compilation."""
    poll = select.poll()
    poll.register(SOCKET, 0)  # only the hang-up matters
    while os.getppid() == parent:
        if any(event & select.POLLHUP for _, event in poll.poll(1000)):
            break
    os._exit(0)


def prepare(cache):
    """Settings that Theano reads while it is imported."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.setrecursionlimit(100000)  # Theano walks graphs recursively
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    deep = 120 << 20
    resource.setrlimit(
        resource.RLIMIT_STACK,
        (deep if hard == resource.RLIM_INFINITY else min(deep, hard), hard),
    )
    warnings.simplefilter("ignore")
    sys.modules["theano.scan_module.scan_perform_ext"] = None  # its C file needs an older Python
    import blas

    flags = {
        "floatX": "float32",
        "device": "cpu",
        "warn_float64": "ignore",
        "on_unused_input": "ignore",
        "compile.timeout": "1000000",  # cache_lock.py has its own lock
        "gcc.cxxflags": "-g0",  # a fifth less time
        "base_compiledir": cache,
        "blas.ldflags": blas.link_flags(cache),
    }
    if not cache:
        del flags["base_compiledir"]
    extra = os.environ.get("HORNGATE_THEANO_FLAGS", "")
    os.environ["THEANORC"] = os.devnull
    os.environ["THEANO_FLAGS"] = ",".join([f"{k}={v}" for k, v in flags.items()] + [extra])


class Server:
    def __init__(self):
        import cache_lock

        self.broken_off = cache_lock.reset
        self.socket = socket.socket(fileno=SOCKET)
        self.programs = {}
        self.is_busy = False
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, number, frame):
        # Late ones, whose call has ended, are dropped.
        if self.is_busy:
            self.is_busy = False
            raise KeyboardInterrupt

    def build(self, number):
        from program import WorkerGraph

        self.with_files(lambda *fds: self.programs.__setitem__(number, WorkerGraph(*fds)))

    def with_files(self, use):
        """Calls `use` on the files of the next message."""
        fds = array.array("i")
        _, extra, _, _ = self.socket.recvmsg(64, socket.CMSG_SPACE(3 * fds.itemsize))
        fds.frombytes(extra[0][2])
        try:
            use(*fds)
        finally:
            for fd in fds:
                os.close(fd)

    def answer(self, letter, number, places):
        try:
            if letter == b"R":
                self.is_busy = True
                self.programs[number].run(places)
                self.is_busy = False
            elif letter == b"P":
                self.with_files(self.programs[number].place)
            elif letter == b"B":
                self.build(number)
            return b"k"
        except KeyboardInterrupt:
            self.broken_off()
            return b"i"
        except Exception as e:  # noqa: BLE001 - the other side raises it again
            self.is_busy = False
            self.broken_off()
            return error_text(e)

    def next_request(self, look):
        """The request, and whether it came soon. If they do, polling for a moment before sleeping pays: being woken
        takes longer than many a call."""
        receive, now = self.socket.recv, time.perf_counter
        began = now()
        while look and now() - began < LOOK_FOR:
            try:
                return receive(64, socket.MSG_DONTWAIT), True
            except BlockingIOError:
                pass
        request = receive(64)
        return request, now() - began < LOOK_FOR

    def serve(self):
        write, look, soon = os.write, False, False
        while True:
            request, soon = self.next_request(look and soon)
            if not request:
                return
            number = int.from_bytes(request[4:8], "little")
            if request[:1] == b"F":
                self.programs.pop(number, None)
            else:
                write(SOCKET, self.answer(request[:1], number, request[1]))
                look = request[2]


def error_text(e):
    from host_ops import Refused

    refused = Refused.last
    Refused.last = None
    if refused:  # Theano has wrapped it in a longer text
        return f"e{CODES[refused[0]]}{refused[1]}".encode()
    traceback.print_exception(type(e), e, e.__traceback__)
    first = (str(e) or type(e).__name__).splitlines()[0]
    return f"e5engine theano: {type(e).__name__}: {first[:800]}".encode()


def main(cache, parent):
    os.set_inheritable(SOCKET, False)
    os.closerange(SOCKET + 1, 1 << 20)
    threading.Thread(target=watch_parent, args=(int(parent),), daemon=True).start()
    try:
        prepare(cache)
        import theano

        import program  # noqa: F401 - now, not in the first call

        if theano.__version__ != "1.0.5":
            raise ImportError(f"found Theano {theano.__version__}; this engine drives Theano 1.0.5")
    except BaseException as e:  # noqa: BLE001 - the other side raises it
        text = f"e5engine theano: Theano could not be loaded: {type(e).__name__}: {e}"
        os.write(SOCKET, text.encode()[:2000])
        raise
    os.write(SOCKET, b"h")
    Server().serve()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
