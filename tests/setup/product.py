"""A copy of the product on a machine of its own, with programs that stand in for uv."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout that is tested."""

LOCK_ID: Final = "0123456789abcdef"
"""What the copy's lock file is named by."""

POLL_S: Final = 0.02
"""How often a condition is looked at."""

PUBLISHED: Final[dict[str, Any]] = {
    "serverInfo": {"name": "context-editor", "version": "9.9"},
    "instructions": "What the model is told.",
    "tools": [{"name": "context_list", "inputSchema": {"type": "object"}, "description": "L"}],
}
"""The copy's tools.json."""

UV: Final = """\
import os, pathlib, sys, time
here = pathlib.Path(__file__).parent
with open(here / "uv.calls", "a", encoding="utf-8") as calls:
    calls.write(" ".join(sys.argv[1:3]) + "\\n")
while (here / "uv.hold").exists():
    time.sleep(0.02)
fails = (here / "uv.fail").exists()
if sys.argv[1] == "venv":
    folder = pathlib.Path(sys.argv[-1]) / "bin"
    folder.mkdir(parents=True)
    if fails:
        (folder / "python").write_text("#!/bin/sh\\nexit 1\\n", encoding="utf-8")
        (folder / "python").chmod(0o755)
    else:
        (folder / "python").symlink_to(sys.executable)
elif fails:
    print("Resolving\\nerror: the index cannot be reached\\n(bye)")
    sys.exit(2)
"""
"""Stands in for uv: notes its calls, waits while held, makes a folder with nothing but Python.

Told to fail it makes one whose Python does not work, so that pip fails at once as well.
"""

SERVER: Final = """\
import json, os, sys
print(json.dumps({"server": os.getpid()}), file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        heard = {"jsonrpc": "2.0", "id": message["id"], "result": {"server": message["method"]}}
        print(json.dumps(heard), flush=True)
sys.exit(7)
"""
"""Stands in for the real server: answers every request with its method; its end is status 7."""

CLI: Final = "import json, sys\nprint(json.dumps([sys.prefix, *sys.argv[1:]]))\n"
"""Stands in for the command line: prints where it runs and its arguments."""

HOOK: Final = "import json, sys\nprint(json.dumps([sys.prefix, sys.argv[0].rpartition('/')[2]]))\n"
"""Stands in for a hook's script: prints where it runs and its name."""


@dataclass(frozen=True)
class Product:
    """One copy of the product.

    Attributes:
        machine: The folder that holds it all: the copy, a home, the host's data, PATH's programs.
        started: The processes that were started on it.
    """

    machine: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @classmethod
    def on(cls, machine: Path) -> Self:
        """Copy what a host copies, with stand-ins for the parts behind the set-up."""
        product = cls(machine)
        package = product.root / "src" / "context_editor"
        shutil.copytree(ROOT / "src" / "context_editor" / "setup", package / "setup")
        (package / "__init__.py").touch()
        for part, code in (("server", SERVER), ("cli", CLI)):
            (package / part).mkdir()
            (package / part / "__init__.py").touch()
            (package / part / "__main__.py").write_text(code, encoding="utf-8")
        (product.root / "hooks").mkdir()
        for script in (ROOT / "hooks").glob("*.py"):
            (product.root / "hooks" / script.name).write_text(HOOK, encoding="utf-8")
        (package / "server" / "tools.json").write_text(json.dumps(PUBLISHED), encoding="utf-8")
        (product.root / "bin").mkdir()
        shutil.copy(ROOT / "bin" / "context-editor", product.root / "bin")
        product.lock("")
        for folder in (product.home, product.path):
            folder.mkdir()
        return product

    @property
    def root(self) -> Path:
        return self.machine / "plugin"

    @property
    def home(self) -> Path:
        return self.machine / "home"

    @property
    def data(self) -> Path:
        return self.machine / "data"

    @property
    def path(self) -> Path:
        """The folder that comes first on PATH."""
        return self.machine / "path"

    @property
    def folder(self) -> Path:
        """Where the environment belongs."""
        return self.data / "env" / LOCK_ID

    @property
    def is_ready(self) -> bool:
        return (self.folder / f"ready-{LOCK_ID}").exists()

    @property
    def variables(self) -> dict[str, str]:
        """The environment of every process: the machine's own, nothing from pip's or uv's index."""
        kept = {key: value for key, value in os.environ.items() if key.startswith("COVERAGE")}
        return {
            **kept,
            "HOME": str(self.home),
            "PATH": f"{self.path}:/usr/bin:/bin",
            "CLAUDE_PLUGIN_DATA": str(self.data),
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
        }

    def lock(self, requirements: str) -> None:
        """Write the copy's lock file with these requirements."""
        text = f"# environment {LOCK_ID}\n{requirements}"
        (self.root / "requirements.lock").write_text(text, encoding="utf-8")

    def program(self, name: str, code: str, interpreter: str = sys.executable) -> None:
        """Put a program on PATH."""
        program = self.path / name
        program.write_text(f"#!{interpreter}\n{code}", encoding="utf-8")
        program.chmod(0o755)

    def with_uv(self) -> Self:
        """Put the stand-in for uv, and a Python, on PATH."""
        self.program("uv", UV)
        (self.path / "python3").symlink_to(sys.executable)
        return self

    def tell_uv(self, what: str) -> Path:
        """Tell the stand-in for uv to `hold` or to `fail`, until the file is removed."""
        told = self.path / f"uv.{what}"
        told.touch()
        return told

    def uv_calls(self) -> list[str]:
        """The first two words of every call of uv, oldest first."""
        calls = self.path / "uv.calls"
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    def module(self, name: str, *arguments: str) -> list[str]:
        """The command line that runs a module of the copy on the Python of these tests."""
        enter = self.root / "src" / "context_editor" / "setup" / "enter.py"
        return [sys.executable, "-I", str(enter), name, *arguments]

    def start(self, command: list[str], **more: str) -> subprocess.Popen[bytes]:
        """Start a process on this machine, its three streams in our hands."""
        pipe = subprocess.PIPE
        variables = {**self.variables, **more}
        process = subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, stderr=pipe)
        self.started.append(process)
        return process

    def end(self) -> None:
        """End what a failed test left running."""
        (self.path / "uv.hold").unlink(missing_ok=True)
        for process in self.started:
            if process.returncode is None:
                process.kill()
                process.communicate()

    def run(self, command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
        """Run a process on this machine to its end."""
        variables = {**self.variables, **more}
        return subprocess.run(
            command, env=variables, capture_output=True, check=False, encoding="utf-8"
        )

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the install to its end."""
        return self.run(self.module("context_editor.setup.install", *arguments))

    def script(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the copy's `bin/context-editor` to its end."""
        return self.run([str(self.root / "bin" / "context-editor"), *arguments], **more)

    def await_ready(self) -> None:
        """Wait until the environment is ready; the test's own time limit ends a vain wait."""
        while not self.is_ready:
            time.sleep(POLL_S)

    def await_uv(self) -> None:
        """Wait until uv has been called; the test's own time limit ends a vain wait."""
        while not self.uv_calls():
            time.sleep(POLL_S)


def wheel(folder: Path) -> str:
    """Lay a wheel that holds one module, `tiny`, into a folder; its requirement with its hash."""
    folder.mkdir()
    path = folder / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", "VALUE = 1\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"tiny==1.0 --hash=sha256:{digest}\n"
