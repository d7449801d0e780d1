"""A Slurm of one node on this machine, in a folder of its own: munge, controller and node daemon,
on 127.0.0.1 alone, without systemd and cgroups."""

import contextlib
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
_PATH = "/usr/sbin:/sbin"
_PATIENCE = 120
_CPUS = 2

_CONFIGURATION = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=5
JobRequeue=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=tests Nodes={host} Default=YES MaxTime=60 State=UP
"""


def why_not() -> str:
    """Why there can be none here; empty if there can."""
    if os.geteuid():
        return "Slurm's daemons need root"
    missing = [name for name in _PROGRAMS if not _found(name)]
    return f"no {', '.join(missing)}: apt-get install slurm-wlm munge" if missing else ""


@contextlib.contextmanager
def slurm(place: pathlib.Path) -> Iterator[dict[str, str]]:
    """The settings of processes that use it, as long as it runs."""
    for name in ("state", "spool"):
        (place / name).mkdir()
    key = place / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    configuration = place / "slurm.conf"
    controller, daemon = _free_ports(2)
    host = socket.gethostname().partition(".")[0]
    configuration.write_text(
        _CONFIGURATION.format(
            host=host, place=place, controller=controller, daemon=daemon, cpus=_CPUS
        )
    )
    (place / "cgroup.conf").write_text(_cgroups())
    settings = {"SLURM_CONF": str(configuration), "PATH": f"{os.environ['PATH']}:{_PATH}"}
    munge = [
        "munged", "--foreground", "--force", f"--key-file={key}",
        f"--socket={place}/munge.socket", f"--pid-file={place}/munge.pid",
        f"--log-file={place}/munge.log", f"--seed-file={place}/munge.seed",
    ]  # fmt: skip
    commands = [
        munge,
        ["slurmctld", "-D", "-i", "-f", str(configuration)],
        ["slurmd", "-D", "-N", host, "-f", str(configuration)],
    ]
    with contextlib.ExitStack() as running:
        for command in commands:
            running.enter_context(_daemon(command, settings, place))
            if command is munge:
                _wait(lambda: (place / "munge.socket").exists(), place)
        _wait(lambda: "idle" in _answer(["sinfo", "-h", "-o", "%T"], settings), place)
        yield settings


def _cgroups() -> str:
    """Newer daemons ask for cgroups even where nothing uses them, unless they are told."""
    version = subprocess.check_output([_found("slurmd"), "-V"], text=True).split()[-1]
    major, minor, *_ = map(int, version.split("."))
    return "CgroupPlugin=disabled\n" if (major, minor) >= (23, 11) else ""


@contextlib.contextmanager
def _daemon(command: list[str], settings: dict[str, str], place: pathlib.Path) -> Iterator[None]:
    with (place / f"{command[0]}.out").open("w") as log:
        process = subprocess.Popen(
            [_found(command[0]), *command[1:]],
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answer(command: list[str], settings: dict[str, str]) -> str:
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    return done.stdout


def _wait(condition, place: pathlib.Path) -> None:
    until = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > until:
            logs = [*place.glob("*.out"), *place.glob("*.log")]
            raise RuntimeError("\n".join(f"{log.name}: {log.read_text()[-2000:]}" for log in logs))
        time.sleep(0.2)


def _found(name: str) -> str:
    return shutil.which(name) or shutil.which(name, path=_PATH) or ""


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as open_:
        sockets = [open_.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
