"""Several hosts: network namespaces that are joined by a bridge, each with a name of its own."""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import pytest
from distributed.ranks import (
    LAUNCHER,
    ROOT,
    TIMEOUT,
    WORKER,
    moved_openmpi4,
    new_mark,
    read_pids,
    run,
    seconds_until_gone,
    slow,
    start,
)

SSH = str(ROOT / "tests/distributed/netns_ssh.sh")


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


@pytest.fixture(scope="module")
def hosts():
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("needs root and ip (iproute2)")
    names = [f"hg{os.getpid()}{letter}" for letter in "ab"]
    switch = names[0] + "s"
    listed = "127.0.0.1 localhost\n"
    listed += "".join(f"10.77.0.{i + 1} {name}\n" for i, name in enumerate(names))
    try:
        try:
            ip("netns", "add", switch)
            ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        except OSError as e:
            pytest.skip(f"network namespaces are not allowed here: {e}")
        ip("-n", switch, "link", "set", "bridge", "up")
        for i, name in enumerate(names):
            ip("netns", "add", name)
            ip(
                "-n",
                name,
                "link",
                "add",
                "eth0",
                "type",
                "veth",
                "peer",
                "name",
                f"port{i}",
                "netns",
                switch,
            )
            ip("-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", switch, "link", "set", f"port{i}", "master", "bridge", "up")
            folder = pathlib.Path("/etc/netns") / name
            folder.mkdir(parents=True)
            (folder / "hosts").write_text(listed)
        yield names
    finally:
        for name in [*names, switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
            shutil.rmtree(f"/etc/netns/{name}", ignore_errors=True)


def on(hosts, library, slots=2):
    """Arguments of start: the command runs on the first host."""
    list_ = ",".join(f"{name}:{slots}" for name in hosts)
    login = moved_openmpi4() if library == "openmpi4" else {}
    return {
        "options": ("--all-output", "-H", list_, "--ssh", SSH),
        "around": ("ip", "netns", "exec", hosts[0], "unshare", "--uts")
        + ("sh", "-c", 'hostname "$0" && exec "$@"', hosts[0]),
        "HORNGATE_TEST_LOGIN": " ".join(f"{k}={v}" for k, v in login.items()),
        # These hosts have one memory, and MPICH would use it.
        "UCX_TLS": "tcp,self",
        "FI_PROVIDER": "tcp",
    }


@slow
@LAUNCHER
def test_operations_between_hosts(library, hosts):
    code, text = run(
        library, 4, WORKER, "cases", str(random.randrange(10**6)), "10", **on(hosts, library)
    )
    assert code == 0 and len(re.findall("rank . of 4: 10 cases", text)) == 4, text


@slow
@LAUNCHER
def test_what_ranks_on_other_hosts_get(library, hosts):
    """Variables, the working folder, processors of each host, and the number of a restart."""
    script = 'echo "$(hostname) $PWD $SECRET $HORNGATE_NUM_THREADS $HORNGATE_RESTART"; [ $HORNGATE_RESTART = 1 ]'
    how = on(hosts, library)
    how["options"] += ("--restarts", "1")
    code, text = run(library, 4, "sh", "-c", script, SECRET="a  word", **how)
    threads = max(1, len(os.sched_getaffinity(0)) // 2)
    assert code == 0, text
    for name in hosts:
        assert text.count(f"{name} {os.getcwd()} a  word {threads} 1\n") == 2, text


@slow
@LAUNCHER
@pytest.mark.parametrize("elastic", [False, True])
def test_a_rank_that_is_killed_is_named_with_its_host(library, elastic, hosts):
    mark, how = new_mark(), on(hosts, library)
    how["options"] += ("--elastic",) if elastic else ()
    process = start(library, 4, WORKER, "elastic" if elastic else "loop", "4", **mark, **how)
    pids = read_pids(process, 4)
    time.sleep(random.random())
    rank, at = random.randrange(4), time.time()
    os.kill(pids[rank], signal.SIGKILL)
    text = process.communicate(timeout=30)[0]
    name = hosts[rank // 2]
    assert f"horngate launch: rank {rank} (host {name}) ended by a signal: Killed." in text, text
    assert process.returncode == (0 if elastic else 137), text
    if elastic:
        named = re.findall(rf"at ([\d.]+) rank \d: \S+: rank {rank} \(host {name}\)", text)
        assert len(named) == 3 and max(map(float, named)) - at < 1, text
        assert text.count("of 3 is through") == 3, text
    seconds_until_gone(mark, 5)


@slow
@LAUNCHER
@pytest.mark.parametrize("number, most", [(signal.SIGINT, 3.0), (signal.SIGKILL, 5.0)])
def test_nothing_is_left_on_other_hosts(library, number, most, hosts):
    mark = new_mark()
    process = start(library, 4, WORKER, "loop", "60", **mark, **on(hosts, library))
    read_pids(process, 4)
    time.sleep(random.random() * 0.5)
    process.send_signal(number)
    took = seconds_until_gone(mark, 20)
    process.wait(timeout=5)
    process.stdout.close()
    assert took < most, took


@slow
@LAUNCHER
def test_a_host_that_cannot_be_reached_any_more(library, hosts):
    """Its cable is pulled: nothing says so, and nothing answers."""
    mark = new_mark()
    process = start(library, 4, WORKER, "loop", "60", **mark, **on(hosts, library))
    read_pids(process, 4)
    time.sleep(random.random() * 0.5)
    at = time.time()
    ip("-n", hosts[1], "link", "set", "eth0", "down")
    try:
        code = process.wait(timeout=30)
        took = time.time() - at
        # What is on the other host holds the pipe, until the ranks there have noticed too.
        os.set_blocking(process.stdout.fileno(), False)
        text = os.read(process.stdout.fileno(), 65536).decode()
        seconds_until_gone(mark, 10)
    finally:
        ip("-n", hosts[1], "link", "set", "eth0", "up")
        process.kill()
        process.stdout.close()
    assert code != 0 and took < TIMEOUT + 3, (took, text)
    assert re.search(rf"rank [23] \(host {hosts[1]}\) does not answer", text), text


@slow
@LAUNCHER
def test_a_host_that_does_not_exist(library, hosts):
    how = on([hosts[0], "no-such-host"], library, slots=1)
    began = time.time()
    code, text = run(library, 2, "true", seconds=60, **how)
    assert code != 0 and "no-such-host" in text and time.time() - began < 20, text
