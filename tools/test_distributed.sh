#!/usr/bin/env bash
# Tests ranks under each MPI library: tools/test_distributed.sh [--short] [pytest arguments]. Gets the libraries into build/: wheels
# of Open MPI 5 and MPICH 5; without --short also Debian's Open MPI 4.1 and Slurm, unpacked there with what they need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export HORNGATE_HOME="$PWD/build/horngate-home"
build/bin/horngate comm install openmpi mpich

# Unpacks packages of Debian into build/NAME, once.
unpack() {
  local name="$1" file="$2"
  shift 2
  [[ -e build/$name/$file ]] && return
  rm -rf "build/$name"
  mkdir -p "build/$name/packages"
  (
    cd "build/$name/packages"
    apt-get download "$@" 2>&1 | tail -1
    for package in *.deb; do dpkg -x "$package" ..; done
  )
  rm -r "build/$name/packages"
}

if [[ ${1-} == --short ]]; then
  shift
  export HORNGATE_TEST_SHORT=1
else
  unpack openmpi4 usr/bin/orterun libnl-3-200 libnl-route-3-200 libibverbs1 libevent-core-2.1-7 libevent-pthreads-2.1-7 \
    libevent-2.1-7 libpsm-infinipath1 libpsm2-2 librdmacm1 libfabric1 libhwloc15 libmunge2 libpmix2 libucx0 libopenmpi3 \
    openmpi-common openmpi-bin
  unpack slurm usr/bin/srun slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm38 libpmi2-0 liblua5.1-0
  # Slurm looks for the name that only the package for developers has.
  mkdir -p build/slurm/usr/lib/x86_64-linux-gnu/pmix2/lib
  ln -sf ../../libpmix.so.2 build/slurm/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so
fi

exec .venv/bin/python -m pytest tests/distributed -q -rs -p no:cacheprovider "$@"
