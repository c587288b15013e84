"""All-reduce of 25 MB beside the bare library and torch's gloo, in turn in one run: bench/all_reduce.py [--ranks 2] [--rounds 5].

Needs `horngate comm install openmpi` (HORNGATE_HOME) and, for gloo, a Python with torch. Prints a line per contender: the best
time of all rounds and how much faster ours is. On shared memory, then on TCP."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKER = ROOT / "build/bin/comm_worker"
HOME = pathlib.Path(os.environ.get("HORNGATE_HOME") or pathlib.Path.home() / ".horngate")
MPI = HOME / "comm/openmpi"

GLOO = """
import os, sys, time, json, torch, torch.distributed as d
d.init_process_group("gloo", init_method="env://", rank=int(os.environ["OMPI_COMM_WORLD_RANK"]),
                     world_size=int(os.environ["OMPI_COMM_WORLD_SIZE"]))
torch.set_num_threads(1)
x, best = torch.ones(int(sys.argv[1]) // 4), 1e9
for _ in range(int(sys.argv[2])):
    d.barrier()
    t = time.perf_counter()
    d.all_reduce(x)
    best = min(best, time.perf_counter() - t)
if d.get_rank() == 0:
    print(json.dumps({"best": best}))
"""


def mpirun(ranks, words, tcp):
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", HORNGATE_MPI=str(MPI))
    if tcp:
        env["OMPI_MCA_btl"] = "tcp,self"
    command = [str(MPI / "bin/mpirun"), "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    done = subprocess.run(command + words, env=env, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1])["best"] if lines else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=25_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bare, size = f"{folder}/bare", [str(options.bytes), "15"]
        source = str(ROOT / "bench/mpi_all_reduce.c")
        subprocess.run([str(MPI / "bin/mpicc"), "-O2", source, "-o", bare], check=True)
        contenders = {
            "ordered": [str(WORKER), "speed", *size, "ordered"],
            "library's own order": [str(WORKER), "speed", *size, "library"],
            "bare MPI_Allreduce": [bare, *size],
            "torch gloo (TCP)": [sys.executable, "-c", GLOO, *size],
        }
        for tcp in (False, True):
            best = dict.fromkeys(contenders)
            for _ in range(options.rounds):
                for name, words in contenders.items():
                    took = mpirun(options.ranks, words, tcp)
                    if took is not None:
                        best[name] = min(best[name] or took, took)
            print(
                "TCP" if tcp else "shared memory", f"{options.ranks} ranks, {options.bytes} bytes"
            )
            for name, took in best.items():
                said = (
                    f"{took * 1e3:8.2f} ms  x{took / best['ordered']:.2f}"
                    if took
                    else "not measured"
                )
                print(f"  {name:20} {said}")


if __name__ == "__main__":
    main()
