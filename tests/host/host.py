"""The real host in a scratch home, driven by a scripted model: headless or in a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from tests.host.scripted_model import Answer, Body, Exchange, ScriptedModel

BINARY_VARIABLE: Final = "CONTEXT_EDITOR_CLAUDE"
"""Names the host's binary; without it the copy that `bin/test` fetched is used."""

PINNED_VERSION: Final = "2.1.332"
"""The release that the tests are written against; `bin/test` fetches this one."""

MISSING: Final = (
    f"the real host is not here: set {BINARY_VARIABLE} to a Claude Code {PINNED_VERSION} binary, "
    "or run bin/test, which fetches it through npm"
)

FAKE_KEY: Final = "sk-ant-a-key-for-a-scripted-model"
"""Any text will do: nothing but the scripted model reads it."""

PROMPT_BOX: Final = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
"""What the host draws in front of the box that takes a prompt, once it is ready."""

POLL_S: Final = 0.02
"""How often a condition is looked at; small beside the second that a host run takes."""

STOP_WAIT_S: Final = 10.0
"""How long a process may take to end once it was told to, before it is killed."""


def binary() -> Path | None:
    """The host's binary: the one named by the environment, else the cached one, else None."""
    named = os.environ.get(BINARY_VARIABLE)
    if named:
        return Path(named)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    package = cache / "context-editor" / f"claude-code-{PINNED_VERSION}" / "node_modules"
    found = sorted(package.glob("@anthropic-ai/claude-code-*/claude*"))
    return next((path for path in found if os.access(path, os.X_OK)), None)


@dataclass(slots=True)
class Live:
    """A run while it goes on: what conditions may look at.

    Attributes:
        model: The scripted model, with the requests so far.
        project: The folder that the host runs in.
        events: The stream-json lines printed so far.
        process: The host's process.
    """

    model: ScriptedModel
    project: Path
    events: list[dict[str, Any]]
    process: subprocess.Popen[str]

    @property
    def turns_ended(self) -> int:
        return sum(event.get("type") == "result" for event in self.events)


Condition = Callable[[Live], bool]
"""Whether the moment has come."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A prompt that a person types into a running session, at a moment.

    Attributes:
        text: The prompt, or its content blocks.
        when: The moment; None types it at once.
    """

    text: str | list[dict[str, Any]]
    when: Condition | None = None


def after_turns(count: int) -> Condition:
    """Once this many turns have ended."""
    return lambda live: live.turns_ended >= count


def once_file(name: str) -> Condition:
    """Once the project holds this file: a tool call makes it, so the tool is running."""
    return lambda live: (live.project / name).exists()


def after_requests(count: int) -> Condition:
    """Once the model has been asked this many times."""
    return lambda live: len(live.model.exchanges) >= count


@dataclass(frozen=True, slots=True)
class Run:
    """What a finished run left behind.

    Attributes:
        exchanges: The main conversation's requests with the usage answered.
        side_bodies: Requests apart from it, such as titles and the host's own summaries.
        events: The stream-json output, a line each.
        session_id: The session's id as the host told it.
        transcript: The session's transcript file; it may be missing when the host never wrote one.
        debug: The host's debug log.
        stderr: What the host printed on its error stream.
        code: The exit code; negative where a signal ended it.
    """

    exchanges: list[Exchange]
    side_bodies: list[Body]
    events: list[dict[str, Any]]
    session_id: str
    transcript: Path
    debug: str
    stderr: str
    code: int

    @property
    def bodies(self) -> list[Body]:
        return [exchange.body for exchange in self.exchanges]

    def rows(self) -> list[dict[str, Any]]:
        """The transcript's rows, parsed."""
        return read_rows(self.transcript)

    def answers(self) -> list[str]:
        """The final text of every turn."""
        return [event.get("result", "") for event in self.events if event.get("type") == "result"]


def read_rows(transcript: Path) -> list[dict[str, Any]]:
    """The rows of a transcript file, parsed; a last half line is left out."""
    whole = transcript.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines() if line.strip()]


@dataclass(slots=True)
class Host:
    """One person's machine: a home, a project folder, and the host that runs there.

    Attributes:
        program: The host's binary.
        root: An empty folder; home, project and logs are made in it.
        plugins: Plugin folders that every run loads.
        environment: Variables added to every run.
    """

    program: Path
    root: Path
    plugins: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    _runs: int = 0

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    def run(  # noqa: PLR0913 - the options of one command line, all by name
        self,
        prompt: str | Sequence[Typed],
        script: Sequence[Answer],
        *,
        resume: str | None = None,
        fork: bool = False,
        tools: Sequence[str] = ("Bash", "Read", "Write", "Edit"),
        args: Sequence[str] = (),
        end_when: Condition | None = None,
        kill_when: Condition | None = None,
        timeout_s: float = 100.0,
    ) -> Run:
        """Run the host headless until it ends.

        Args:
            prompt: The one prompt, or what a person types over time into a stream-json session.
            script: What the model answers, one step a request.
            resume: A session id to resume.
            fork: Whether the resumed session gets a new id.
            tools: Tools allowed without asking.
            args: Further arguments of the command line.
            end_when: The moment at which a stream-json session's input ends; by default when the
                last line is typed. A plugin's own prompts and commands are refused after it.
            kill_when: The moment at which the host is killed, as a crash would.
            timeout_s: Seconds after which the host is killed and the run fails.
        """
        typed = None if isinstance(prompt, str) else list(prompt)
        self._runs += 1
        debug = self.root / f"debug-{self._runs}.log"
        command = [
            *(str(self.program), "-p", "--output-format", "stream-json", "--verbose"),
            *("--debug-file", str(debug), "--permission-mode", "acceptEdits"),
            *(("--input-format", "stream-json") if typed is not None else ()),
            *self._plugin_arguments(),
            *(("--resume", resume) if resume else ()),
            *(("--fork-session",) if fork else ()),
            *args,
            *("--allowedTools", ",".join(tools)),
        ]
        with ScriptedModel(script) as model:
            process = self._start(command, model.url)
            live = Live(model, self.project, [], process)
            lines = [Typed(prompt)] if isinstance(prompt, str) else typed or []
            until = _Until(
                time.monotonic() + timeout_s, kill_when, end_when, is_stream=typed is not None
            )
            stderr = _drive(live, lines, until)
            assert not model.faults, model.faults
        said = (str(event["session_id"]) for event in live.events if event.get("session_id"))
        session_id = next(said, resume or "")
        return Run(
            exchanges=model.exchanges,
            side_bodies=model.side_bodies,
            events=live.events,
            session_id=session_id,
            transcript=self.transcript_of(session_id),
            debug=debug.read_text(encoding="utf-8") if debug.exists() else "",
            stderr=stderr,
            code=process.returncode,
        )

    def transcript_of(self, session_id: str) -> Path:
        """Where a session's transcript stands, or would stand."""
        projects = self.home / ".claude" / "projects"
        found = sorted(projects.glob(f"*/{session_id}.jsonl")) if session_id else []
        return found[0] if found else projects / "missing" / f"{session_id}.jsonl"

    @contextlib.contextmanager
    def terminal(
        self,
        script: Sequence[Answer],
        *,
        args: Sequence[str] = (),
        size: tuple[int, int] = (160, 50),
    ) -> Generator[Terminal]:
        """The host in a terminal of its own, past its first-start questions, ready for a prompt."""
        self._answer_first_start()
        self._runs += 1
        debug = self.root / f"debug-{self._runs}.log"
        command = [
            *(str(self.program), "--debug-file", str(debug)),
            *("--permission-mode", "acceptEdits", *self._plugin_arguments(), *args),
        ]
        with ScriptedModel(script) as model:
            socket = self.root / f"tmux-{self._runs}.sock"
            terminal = Terminal(socket, model, debug)
            terminal.start(command, self.project, self.environment_for(model.url), size)
            try:
                terminal.wait_for(PROMPT_BOX)
                yield terminal
            finally:
                terminal.close()

    def environment_for(self, url: str) -> dict[str, str]:
        """The environment of a run: nothing of the caller's own host or account comes in."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CLAUDE", "ANTHROPIC", "TMUX", "AI_AGENT"))
        }
        return {
            **inherited,
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": FAKE_KEY,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **self.environment,
        }

    def _plugin_arguments(self) -> list[str]:
        return [part for plugin in self.plugins for part in ("--plugin-dir", str(plugin))]

    def _start(self, command: Sequence[str], url: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment_for(url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def _answer_first_start(self) -> None:
        settings = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [FAKE_KEY[-20:]], "rejected": []},
            "projects": {
                str(self.project.resolve()): {
                    "hasTrustDialogAccepted": True,
                    "hasCompletedProjectOnboarding": True,
                }
            },
        }
        path = self.home / ".claude.json"
        held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**held, **settings}), encoding="utf-8")


def _drive(live: Live, lines: Sequence[Typed], until: _Until) -> str:
    """Type the lines at their moments and wait for the end; what the host said on stderr."""
    process = live.process
    complaints: list[str] = []
    readers = [
        threading.Thread(target=_collect_events, args=(process, live.events), daemon=True),
        threading.Thread(target=_collect_text, args=(process, complaints), daemon=True),
    ]
    for reader in readers:
        reader.start()
    waiting = deque(lines)
    try:
        while process.poll() is None and not until.is_killed(live):
            _type_what_is_due(live, waiting, is_stream=until.is_stream)
            if not waiting and until.is_input_over(live):
                _close_stdin(process)
            time.sleep(POLL_S)
    finally:
        _end(process)
        for reader in readers:
            reader.join(STOP_WAIT_S)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return "".join(complaints)


@dataclass(frozen=True, slots=True)
class _Until:
    """When a run ends, other than by itself."""

    deadline: float
    kill_when: Condition | None
    end_when: Condition | None
    is_stream: bool

    def is_input_over(self, live: Live) -> bool:
        """Whether nothing more is typed, once all lines are."""
        return self.end_when is None or self.end_when(live)

    def is_killed(self, live: Live) -> bool:
        """Whether the host was killed just now, as the test asked; fails when its time is up."""
        assert time.monotonic() < self.deadline, (
            "the host ran longer than it was given; it was last sent "
            f"{str([body['messages'] for body in live.model.bodies[-1:]])[-2_000:]}"
        )
        if self.kill_when is None or not self.kill_when(live):
            return False
        live.process.kill()
        return True


def _type_what_is_due(live: Live, waiting: deque[Typed], *, is_stream: bool) -> None:
    while waiting and (waiting[0].when is None or waiting[0].when(live)):
        _type(live.process, waiting.popleft(), is_stream=is_stream)


def _type(process: subprocess.Popen[str], line: Typed, *, is_stream: bool) -> None:
    assert process.stdin is not None
    if is_stream:
        message = {"type": "user", "message": {"role": "user", "content": line.text}}
        written = json.dumps(message) + "\n"
    else:
        written = str(line.text)
    with contextlib.suppress(BrokenPipeError):  # it ended first; its exit code tells
        process.stdin.write(written)
        process.stdin.flush()


def _close_stdin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()


def _end(process: subprocess.Popen[str]) -> None:
    """See to it that the host, and what it started, is gone."""
    _close_stdin(process)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            # The host leads a process group of its own: its tools go with it.
            os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_WAIT_S)


def _collect_events(process: subprocess.Popen[str], events: list[dict[str, Any]]) -> None:
    assert process.stdout is not None
    # Line by line: conditions look at the events while the host still prints.
    events.extend(json.loads(line) for line in process.stdout if line.startswith("{"))


def _collect_text(process: subprocess.Popen[str], said: list[str]) -> None:
    assert process.stderr is not None
    said.extend(process.stderr)


@dataclass(slots=True)
class Terminal:
    """The host in a tmux session on a socket of its own."""

    socket: Path
    model: ScriptedModel
    debug: Path

    def start(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        width, height = size
        # The server takes its environment from the first client, and every window has it.
        self._tmux(
            *("-f", os.devnull, "new-session", "-d", "-s", "host"),
            *("-x", str(width), "-y", str(height), "-c", str(cwd), "--", *command),
            env=env,
        )

    def type(self, text: str) -> Self:
        """Type characters; nothing is submitted."""
        self._tmux("send-keys", "-t", "host", "-l", "--", text)
        return self

    def press(self, *keys: str) -> Self:
        """Press keys by their tmux names, such as `Enter`, `Escape` or `C-c`."""
        self._tmux("send-keys", "-t", "host", *keys)
        return self

    def submit(self, text: str) -> Self:
        """Type a prompt and send it once the box shows it."""
        self.type(text)
        self.wait_for(text[-20:])
        return self.press("Enter")

    def screen(self) -> str:
        """What the person sees, with what has scrolled away above."""
        return self._tmux("capture-pane", "-p", "-S", "-2000", "-t", "host")

    def wait_for(self, text: str, timeout_s: float = 20.0) -> str:
        """The screen, once it holds a text."""
        return self.wait_until(
            lambda: text in self.screen(), f"the screen shows {text!r}", timeout_s
        )

    def wait_until(self, come: Callable[[], bool], what: str, timeout_s: float = 20.0) -> str:
        """The screen, once a condition holds; `what` words it for the failure."""
        deadline = time.monotonic() + timeout_s
        while not come():
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}\n{self.screen()}"
            time.sleep(POLL_S * 5)
        return self.screen()

    @property
    def pid(self) -> int:
        """The host's process id."""
        return int(self._tmux("list-panes", "-t", "host", "-F", "#{pane_pid}"))

    def close(self) -> None:
        """End the host and the tmux server that was started for it alone."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")
        self.socket.unlink(missing_ok=True)

    def _tmux(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        program = shutil.which("tmux")
        assert program is not None, "tmux is not installed"
        done = subprocess.run(
            [program, "-S", str(self.socket), *words],
            env=None if env is None else dict(env),
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        return done.stdout
