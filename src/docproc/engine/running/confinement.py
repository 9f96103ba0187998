"""What a child process may not do: reach the network, or compute for ever.

Files that strangers sent are parsed by native code, which has had and will have mistakes. A child that is
taken over by one must not be able to tell anybody, so the kernel refuses it every socket but those between
processes of this machine.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys

_SET_NO_NEW_PRIVILEGES = 38
_SET_FILTER, _FOR_ALL_THREADS = 1, 1
_UNIX_SOCKETS = 1  # AF_UNIX: pipes by another name, which LibreOffice needs
_IO_URING_SETUP = 425  # could make sockets without the call that makes them; the same number everywhere
_OTHER_CALLS = 0x40000000  # x86's third set of numbers for the same calls

# By machine: what the kernel calls it, and the numbers of `socket` and `seccomp`.
_MACHINES = {"x86_64": (0xC000003E, 41, 317), "aarch64": (0xC00000B7, 198, 277)}

# Instructions of the kernel's filter language, and what a filter says in the end.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _SAY = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_CALL_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def cut_network() -> str | None:
    """For this process, its threads and whatever it starts, for good. Returns why it could not be done."""
    known = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or known is None:
        return f"no filter for {sys.platform} on {platform.machine()}"
    machine, socket_call, seccomp_call = known
    code = _filter(machine, socket_call)
    kept = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(kept))
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return os.strerror(ctypes.get_errno())
    if kernel.syscall(seccomp_call, _SET_FILTER, _FOR_ALL_THREADS, ctypes.byref(program)) != 0:
        return os.strerror(ctypes.get_errno())
    return None


def _filter(machine: int, socket_call: int) -> bytes:
    """Refuses `socket` for anything but AF_UNIX, `io_uring_setup`, and calls in another machine's numbers."""
    return b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (_LOAD, 0, 0, _MACHINE_AT),
            (_IF_EQUAL, 0, 6, machine),  # else: refuse
            (_LOAD, 0, 0, _CALL_AT),
            (_IF_AT_LEAST, 4, 0, _OTHER_CALLS),  # refuse
            (_IF_EQUAL, 3, 0, _IO_URING_SETUP),  # refuse
            (_IF_EQUAL, 0, 3, socket_call),  # else: allow
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
            (_IF_EQUAL, 1, 0, _UNIX_SOCKETS),  # allow
            (_SAY, 0, 0, _REFUSE),
            (_SAY, 0, 0, _ALLOW),
        )
    )


def allow_cpu(seconds: float) -> None:
    """From now on, for the next call: a process that computes longer is ended by the kernel (SIGXCPU).

    A stage's time limit ends what waits as well; this one also ends what runs away with nobody waiting.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
