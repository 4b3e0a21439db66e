"""Which rows are marked `~` (rule A6)."""

import pytest
from tests.support.policy_rows import Talk, disk

from context_editor.core.candidates.facts import FileFact, paths_named
from context_editor.core.candidates.reproducible import DiskFacts, reproducible


def test_scenario_2_read_grep_and_glob_are_marked_and_bash_is_not() -> None:
    talk = Talk()
    marked = {
        talk.read("a.py", ["x"]),
        talk.tool("Grep", {"pattern": "x"}, "a.py:1"),
        talk.tool("Glob", {"pattern": "*.py"}, "a.py"),
    }
    talk.bash("ls", "a.py")

    assert reproducible(talk.conversation(), disk({"a.py": FileFact("/project/a.py")})) == marked


@pytest.mark.parametrize(
    "fact",
    [
        FileFact("/project/a.py", exists=False),
        FileFact("/tmp/a.py", is_lasting=False),  # noqa: S108 - a name, no file is made
    ],
)
def test_a6_file_that_is_gone_or_may_vanish_is_not_marked(fact: FileFact) -> None:
    talk = Talk()
    talk.read("a.py", ["x"])
    talk.tool("Grep", {"pattern": "x", "path": "a.py"}, "1:x")

    assert reproducible(talk.conversation(), disk({"a.py": fact})) == frozenset()


def test_a6_nothing_gathered_is_not_counted_on() -> None:
    talk = Talk()
    talk.read("a.py", ["x"])

    assert reproducible(talk.conversation(), DiskFacts()) == frozenset()


def test_a6_call_without_its_result_is_no_pair() -> None:
    talk = Talk()
    talk.tool("Glob", {"pattern": "*"}, None)

    assert reproducible(talk.conversation(), DiskFacts()) == frozenset()


def test_a6_paths_are_named_once_with_their_folder() -> None:
    talk = Talk()
    talk.read("a.py", ["x"])
    talk.edit("a.py")
    talk.tool("Grep", {"pattern": "x", "path": "src"}, "hit")
    talk.tool("Read", {"file_path": 3}, "odd")

    assert paths_named(talk.conversation()) == (("/project", "a.py"), ("/project", "src"))
