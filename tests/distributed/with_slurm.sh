#!/usr/bin/env bash
# Runs a command on a Slurm of one node that lives as long as it: with_slurm.sh PACKAGES COMMAND.. PACKAGES are folders, separated by
# colons, with what Debian's packages put into /usr; they are laid over it for this command alone. Needs root.
set -euo pipefail
[[ -n ${HORNGATE_TEST_INSIDE-} ]] || HORNGATE_TEST_INSIDE=1 exec unshare --mount --net --pid --fork --mount-proc "$0" "$@"
packages="$1"
shift
# Slurm wants a network besides loopback; nobody else is in this one.
ip link set lo up
ip link add alone type veth peer name other
ip addr add 10.78.0.1/24 dev alone
ip link set alone up
mount -t overlay overlay -o "lowerdir=$packages:/usr" /usr
place="$(mktemp -d)"
mkdir "$place/state" "$place/spool"
export SLURM_CONF="$place/slurm.conf" LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/slurm-wlm
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
PluginDir=/usr/lib/x86_64-linux-gnu/slurm-wlm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes=ALL Default=YES
END
echo "PMIxCliTmpDirBase=$place" >"$place/mpi.conf"
slurmctld-wlm -D -c >"$place/slurmctld.log" 2>&1 &
slurmd-wlm -D -c -d /usr/sbin/slurmstepd-wlm >"$place/slurmd.log" 2>&1 &
for _ in {1..100}; do
  timeout 2 sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.1
done
code=0
"$@" || code=$?
rm -rf "$place"
exit "$code"
