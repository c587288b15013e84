#!/usr/bin/env bash
# Tests ranks under each MPI library: tools/test_distributed.sh [pytest arguments]. Gets the libraries into build/: wheels
# of Open MPI 5 and MPICH 5, and Debian's Open MPI 4.1, unpacked there with what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export HORNGATE_HOME="$PWD/build/horngate-home"
build/bin/horngate comm install openmpi mpich

if [[ ! -e build/openmpi4/usr/bin/orterun ]]; then
  rm -rf build/openmpi4
  mkdir -p build/openmpi4/packages
  (
    cd build/openmpi4/packages
    apt-get download libnl-3-200 libnl-route-3-200 libibverbs1 libevent-core-2.1-7 libevent-pthreads-2.1-7 libevent-2.1-7 \
      libpsm-infinipath1 libpsm2-2 librdmacm1 libfabric1 libhwloc15 libmunge2 libpmix2 libucx0 libopenmpi3 \
      openmpi-common openmpi-bin 2>&1 | tail -1
    for package in *.deb; do dpkg -x "$package" ..; done
  )
  rm -r build/openmpi4/packages
fi

exec .venv/bin/python -m pytest tests/distributed -q -rs -p no:cacheprovider "$@"
