"""Modules and names of the standard library that Windows does not have."""

import signal
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["LOOP_METHODS", "POSIX_MODULES", "POSIX_NAMES"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSIX_MODULES = _words(
    """
    _posixsubprocess crypt curses fcntl grp nis ossaudiodev posix pty pwd readline resource spwd
    syslog termios tty
    """
)

#: Names that modules have on POSIX only. Those of `signal` are all but a few.
POSIX_NAMES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "os": _words(
            """
            EX_OK EX_USAGE O_CLOEXEC O_DIRECTORY O_DSYNC O_NDELAY O_NOCTTY O_NOFOLLOW O_NONBLOCK
            O_SYNC P_PID WCOREDUMP WEXITSTATUS WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WSTOPSIG
            WTERMSIG WUNTRACED chown chroot ctermid eventfd fchdir fchmod fchown fdatasync fork
            forkpty fpathconf get_blocking getegid geteuid getgid getgroups getloadavg getpgid
            getpgrp getpriority getresuid getsid getuid initgroups killpg lchown lockf
            memfd_create mkfifo mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise
            posix_fallocate posix_spawn posix_spawnp pread preadv pwrite pwritev readv
            register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile
            set_blocking setegid seteuid setgid setgroups setpgid setpriority setsid setuid
            splice statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid
            writev
            """
        ),
        "signal": frozenset(name for name in dir(signal) if name.startswith("SIG"))
        - _words("SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_IGN")
        | _words(
            """
            ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL ItimerError Sigmasks alarm getitimer pause
            pidfd_send_signal pthread_kill pthread_sigmask setitimer siginterrupt sigpending
            sigtimedwait sigwait sigwaitinfo
            """
        ),
        "socket": _words(
            """
            AF_UNIX CMSG_LEN CMSG_SPACE MSG_DONTWAIT MSG_NOSIGNAL SCM_RIGHTS SO_PEERCRED
            SO_REUSEPORT recv_fds send_fds
            """
        ),
        "select": _words("EPOLLIN EPOLLOUT PIPE_BUF POLLIN POLLOUT epoll poll"),
        "time": _words(
            """
            CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME
            CLOCK_THREAD_CPUTIME_ID clock_getres clock_gettime clock_gettime_ns clock_settime
            pthread_getcpuclockid tzset
            """
        ),
    }
)

#: Methods of event loops that the default loop of Windows refuses.
LOOP_METHODS = _words(
    """
    add_reader add_signal_handler add_writer remove_reader remove_signal_handler remove_writer
    """
)
