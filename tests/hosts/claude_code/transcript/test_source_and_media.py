"""Labels of tool calls, and pixel sizes of images."""

import base64
import struct

import pytest
from tests.support.transcripts import PNG_4_BY_3

from context_editor.core.rows import Call
from context_editor.hosts.claude_code.transcript import source_label
from context_editor.hosts.claude_code.transcript.media import image_size

CWD = "/home/dev/project"


@pytest.mark.parametrize(
    ("name", "arguments", "label"),
    [
        ("Read", {"file_path": f"{CWD}/src/app.py"}, "Read src/app.py"),
        (
            "Read",
            {"file_path": f"{CWD}/src/app.py", "offset": 1, "limit": 220},
            "Read src/app.py 1-220",
        ),
        ("Read", {"file_path": f"{CWD}/a.py", "offset": 90, "limit": 10}, "Read a.py 90-99"),
        ("Read", {"file_path": f"{CWD}/a.py", "offset": 90}, "Read a.py 90-"),
        ("Read", {"file_path": f"{CWD}/a.pdf", "pages": "1-3"}, "Read a.pdf 1-3"),
        ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts"),
        ("Read", {"file_path": f"{CWD}-other/a"}, f"Read {CWD}-other/a"),
        ("Bash", {"command": "pytest -q\n  tests", "description": "run"}, "Bash pytest -q tests"),
        ("Grep", {"pattern": "def a", "path": f"{CWD}/src"}, "Grep def a in src"),
        ("Glob", {"pattern": "**/*.py"}, "Glob **/*.py"),
        ("Edit", {"file_path": f"{CWD}/a.py", "old_string": "x"}, "Edit a.py"),
        ("NotebookEdit", {"notebook_path": f"{CWD}/n.ipynb"}, "NotebookEdit n.ipynb"),
        ("WebFetch", {"url": "https://a.b/c", "prompt": "sum"}, "WebFetch https://a.b/c"),
        ("WebSearch", {"query": "how to"}, "WebSearch how to"),
        ("Agent", {"description": "look", "prompt": "long"}, "Agent look"),
        ("Skill", {"skill": "review"}, "Skill review"),
        ("TodoWrite", {"todos": [1, 2]}, "TodoWrite 2 item(s)"),
        ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "AskUserQuestion Which?"),
        ("mcp__git__log_file", {"path": f"{CWD}/a.py"}, "git.log_file a.py"),
        ("Odd", {"n": 3, "other": "words"}, "Odd words"),
        ("Odd", {}, "Odd"),
        ("Read", {"file_path": 7, "offset": "x", "limit": True}, "Read"),
    ],
)
def test_a_call_is_named_by_its_tool_and_main_argument(
    name: str, arguments: dict[str, object], label: str
) -> None:
    assert source_label(Call("t1", name, arguments), CWD) == label  # type: ignore[arg-type]


def test_a_long_label_is_cut_at_eighty_characters() -> None:
    label = source_label(Call("t1", "Bash", {"command": "x" * 200}), CWD)

    assert len(label) == 80
    assert label.endswith("x…")


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


JPEG = (
    b"\xff\xd8\xff\xe0"
    + struct.pack(">H", 2000)
    + b"\0" * 1998
    + b"\xff\xff\xff\xc2"
    + struct.pack(">HBHH", 17, 8, 480, 640)
    + b"\0" * 10
)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG_4_BY_3, (4, 3)),
        (encoded(b"GIF89a" + struct.pack("<HH", 7, 5)), (7, 5)),
        (encoded(JPEG), (640, 480)),
        (
            encoded(b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (99).to_bytes(3, "little") + b"\x31\0\0"),
            (100, 50),
        ),
        (
            encoded(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (9 | 19 << 14).to_bytes(4, "little")),
            (10, 20),
        ),
        (
            encoded(b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 320, 200)),
            (320, 200),
        ),
        (encoded(b"RIFF\0\0\0\0WEBPVP9 " + b"\0" * 20), (0, 0)),
        (encoded(b"BM" + b"\0" * 40), (0, 0)),
        (encoded(b"\xff\xd8\xff\xd9"), (0, 0)),
        (encoded(b"\x89PNG\r\n\x1a\n"), (0, 0)),
        ("no base64 at all!", (0, 0)),
        ("", (0, 0)),
    ],
)
def test_the_size_of_an_image_is_read_from_its_head(data: str, size: tuple[int, int]) -> None:
    assert image_size(data) == size
