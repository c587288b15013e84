"""Ranks that Slurm's srun starts, on a Slurm of one node that lives as long as the test."""

import os
import re
import subprocess

import pytest
from distributed.ranks import BUILD, LIBRARIES, ROOT, WORKER, clean_environment, slow

SLURM = BUILD / "slurm/usr"


@slow
@pytest.mark.parametrize(
    "library, interface", [("openmpi5", "pmix"), ("openmpi4", "pmix"), ("mpich5", "pmi2")]
)
def test_srun(library, interface):
    if not SLURM.exists() or os.geteuid() != 0:
        pytest.skip("needs root, and Slurm in build/slurm, which tools/test_distributed.sh gets")
    openmpi4 = BUILD / "openmpi4/usr"
    # Debian's is where it belongs then.
    path = LIBRARIES[library]
    path = "/usr" / path.relative_to(openmpi4) if library == "openmpi4" else path
    command = [ROOT / "tests/distributed/with_slurm.sh", f"{SLURM}:{openmpi4}"]
    command += ["timeout", "30", "srun", "-n", "3", f"--mpi={interface}"]
    command += ["env", "-u", "LD_LIBRARY_PATH", f"HORNGATE_MPI={path}", WORKER, "cases", "3", "5"]
    done = subprocess.run(
        command, env=clean_environment(), capture_output=True, text=True, timeout=60
    )
    assert len(re.findall("rank . of 3: 5 cases", done.stdout)) == 3, done
