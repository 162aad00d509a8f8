"""A real server with tripwires and baits, whose memory is sampled all the time."""

import http.server
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import psutil
from hostile.asking import Question, answer_of, refusal_answer
from support.running import RunningServer

__all__ = ["Answer", "Siege"]

_TRIPWIRE = Path(__file__).resolve().parent / "tripwire"
_EVERY_SECONDS = 0.02
_SCANS_EVERY = 10
_ANY_SIZE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_PREFIX = "/sidecheck.v1."


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a server."""

    #: The summary that `asking` describes.
    summary: dict[str, Any]
    #: The whole response, for comparison with another answer.
    whole: Any
    seconds: float
    bytes: int


class Siege:
    """A server under attack, with *settings* as environment variables.

    A server that does not answer a question within *patience* seconds is killed and replaced,
    so that it does not delay the next question.
    """

    def __init__(self, folder: Path, *, patience: float = 300.0, **settings: str) -> None:
        self._folder = folder
        self._patience = patience
        self._settings = settings
        self.log = folder / "tripwire.jsonl"
        self._bait = _Bait()
        bait_file = folder / "sidecheck-bait.json"
        bait_file.write_text('{"const": "s3cret"}')
        self.baits = {"http": self._bait.url, "file": bait_file.as_uri()}
        self.weight = Weight()
        self.restarts = 0
        self._start()

    def _start(self) -> None:
        paths = [str(_TRIPWIRE), os.environ.get("PYTHONPATH", "")]
        self.server = RunningServer(
            self._folder,
            PYTHONPATH=os.pathsep.join(filter(None, paths)),
            SIDECHECK_TRIPWIRE=str(self.log),
            **self._settings,
        )
        self._channel = grpc.insecure_channel(self.server.address, options=_ANY_SIZE)
        grpc.channel_ready_future(self._channel).result(timeout=180)
        self.weight.put_on_scales(self.server.process.pid)

    def ask(self, question: Question) -> Answer:
        """Return the answer to *question*, which may be an error."""
        call: Callable[..., Iterator[bytes]] = self._channel.stream_stream(
            _PREFIX + question.method
        )
        started = time.perf_counter()
        try:
            # A session has a summary after the response.
            response, *_ = call(iter([question.message]), timeout=self._patience)
        except grpc.RpcError as error:
            seconds = time.perf_counter() - started
            summary, whole = refusal_answer(error)
            if summary in ({"status": "DEADLINE_EXCEEDED"}, {"status": "UNAVAILABLE"}):
                self._replace()
                summary = {"unanswered": summary["status"]}
            return Answer(summary, whole, seconds, 0)
        seconds = time.perf_counter() - started
        return Answer(*answer_of(question.method, response), seconds, len(response))

    def _replace(self) -> None:
        self.restarts += 1
        self._channel.close()
        self.weight.take_off()
        tree = psutil.Process(self.server.process.pid).children(recursive=True)
        self.server.process.kill()
        for process in tree:
            process.kill()
        self.server.close()
        self._start()

    @property
    def hits(self) -> list[str]:
        """The paths of the requests to the HTTP bait."""
        return self._bait.hits

    def alarms(self) -> Iterator[tuple[str, str]]:
        """Yield the events of the tripwires and their subjects, except those of any start."""
        socket = str(self.server.socket)
        start = {
            ("watched", ""),
            # The address to listen on.
            ("socket.getaddrinfo", "('127.0.0.1', 0, 0, 1, 0)"),
            # A test whether another server listens at the unix socket, and its removal.
            ("socket.connect", f"('{socket}',)"),
            ("os.remove", f"('{socket}', -1)"),
            # uuid and multiprocessing load the program itself as a library.
            ("import", "ctypes"),
            ("ctypes.dlopen", "(None,)"),
            # prometheus_client makes a decorator, reads its process once, and imports an HTTP
            # server and client that are not used.
            ("exec", "<decorator-gen-0>"),
            ("import", "http.client"),
            ("import", "http.server"),
            ("import", "urllib.request"),
            ("open", "/proc/self/limits"),
            ("open", "/proc/self/stat"),
            ("open", "/proc/stat"),
            # The log reopens standard error without blocking, and silences gRPC's log.
            ("open", "/proc/self/fd/2"),
            ("os.putenv", "(b'GRPC_VERBOSITY', b'NONE')"),
        }
        for line in self.log.read_text().splitlines():
            _, event, subject = json.loads(line)
            if (event, subject) not in start:
                yield event, subject

    def watched(self) -> set[int]:
        """Return the ids of the processes with a tripwire."""
        lines = map(json.loads, self.log.read_text().splitlines())
        return {process for process, event, _ in lines if event == "watched"}

    def processes(self) -> set[int]:
        """Return the ids of the Python processes of the server: itself and its workers."""
        server = psutil.Process(self.server.process.pid)
        return {server.pid, *(process.pid for process in server.children(recursive=True))}

    def close(self) -> None:
        """Stop the server, the bait and the sampling."""
        self._channel.close()
        self.weight.close()
        self.server.close()
        self._bait.close()


class Weight:
    """Resident memory of a process and its descendants, sampled every 20 ms."""

    def __init__(self) -> None:
        self.peak = 0
        #: The largest weight since it was last set to 0.
        self.recent = 0
        self._root: psutil.Process | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def put_on_scales(self, process: int) -> None:
        """Begin to sample *process*."""
        self._root = psutil.Process(process)

    def take_off(self) -> None:
        """Stop sampling until the next `put_on_scales`."""
        self._root = None

    def _watch(self) -> None:
        tree: list[psutil.Process] = []
        turn = 0
        while not self._ended.wait(_EVERY_SECONDS):
            root = self._root
            if root is None:
                tree, turn = [], 0
                continue
            try:
                if turn % _SCANS_EVERY == 0:
                    tree = [root, *root.children(recursive=True)]
                turn += 1
                weight = sum(process.memory_info().rss for process in tree)
            except psutil.NoSuchProcess:
                turn = 0
                continue
            self.recent = max(self.recent, weight)
            self.peak = max(self.peak, weight)

    def close(self) -> None:
        """End the sampling thread."""
        self._ended.set()
        self._thread.join()


class _Bait:
    """An HTTP server that counts requests; any request is a failure."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        hits = self.hits

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hits.append(self.path)
                self.send_error(404)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/sidecheck-bait"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
