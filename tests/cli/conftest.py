"""A person's machine: a home with the host's transcripts, a project folder, and the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.transcripts import SESSION, Transcript, call, text

ROOT = Path(__file__).parents[2]
LISTING = "\n".join(f"src/module_{n}.py: def handler_{n}(request): ..." for n in range(200))


@dataclass
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 (JSON)
        return json.loads(self.out)


@dataclass
class Machine:
    """A home, a project in it, and `context-editor` as a real process.

    Attributes:
        root: The folder of the test.
    """

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def transcripts(self) -> Path:
        """Where the host keeps the transcripts of this project."""
        name = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.project))
        return self.home / ".claude" / "projects" / name

    @property
    def data(self) -> Path:
        return self.home / ".local" / "state" / "context-editor"

    def run(self, *arguments: str, given: bytes = b"", **variables: str) -> Ran:
        """Run `context-editor` in the project."""
        kept = {"PATH", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START", "LANG"}
        environment = {name: value for name, value in os.environ.items() if name in kept}
        done = subprocess.run(
            [sys.executable, "-m", "context_editor.cli", *arguments],
            cwd=self.project,
            env={
                **environment,
                "HOME": str(self.home),
                "PYTHONPATH": str(ROOT / "src"),
                **variables,
            },
            input=given,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def files(self) -> dict[str, bytes]:
        """Every file of the home, by its path."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file()
        }


def session() -> Transcript:
    """Two turns: a large listing was read, then another; the last answer names both."""
    transcript = Transcript()
    transcript.prompt("Where are the handlers?")
    transcript.attachment("environment", "# Environment\nPlatform: linux")
    transcript.answer(text("I look."), call("Grep", "toolu_1", pattern="def handler", path="src"))
    transcript.result("toolu_1", LISTING)
    transcript.answer(text("In src, one a module."))
    transcript.prompt("And the routes <b>&amp;</b>?")
    transcript.answer(
        call("Bash", "toolu_2", command="cat routes.py"),
        call("Bash", "toolu_3", command="cat <script>alert(1)</script>"),
    )
    transcript.result("toolu_2", LISTING.replace("handler", "route"))
    transcript.result("toolu_3", LISTING.replace("handler", "extra"))
    transcript.answer(text("In routes.py."))
    return transcript


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which one session was had in the project."""
    made = Machine(tmp_path)
    made.project.mkdir()
    made.transcripts.mkdir(parents=True)
    session().write(made.transcripts / f"{SESSION}.jsonl")
    return made


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A machine without any session."""
    made = Machine(tmp_path)
    made.project.mkdir()
    made.home.mkdir()
    return made
