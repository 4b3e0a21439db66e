import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.digest import (
    LINE_CHARS,
    LINES_MOST,
    Evidence,
    by_rule,
    checked,
    malformed,
    mended,
    mentions,
    original_text,
)
from context_editor.core.specifics import LINE_HEAD, invented, missing

SOURCE = Evidence(
    "Read src/app.py 1-40",
    "     1\timport os\n     2\t\n     3\tclass App:\n"
    "     4\t    def run(self) -> int:\n     5\t        return 3\n"
    + "".join(f"{n:6}\t        # and so on\n" for n in range(6, 41)),
    title="src/app.py",
)
FAILURE = Evidence(
    "Bash pytest -q",
    "..F\nTraceback (most recent call last):\n  File 'x'\nTypeError: bad E1042\n"
    "=== 1 failed, 12 passed in 3.41s ===",
    is_error=True,
)
PAGE = Evidence(
    "WebFetch https://a.b/c",
    "# Guide\n\nWe reach 87.4 % on MMLU (#981).\n\n## Install v2.3.1\n\nRun it.\n"
    + "More words follow here.\n" * 20,
    title="Guide",
    urls=("https://a.b/c",),
    channel="WebFetch",
)


def test_l5_a_digest_names_what_each_item_was_and_held() -> None:
    assert by_rule([SOURCE, FAILURE, PAGE]).text.splitlines() == [
        "- Read src/app.py 1-40 (40 lines)",
        "  Defines: App, run",
        "- Bash pytest -q (5 lines, failed)",
        "  First error: TypeError: bad E1042",
        "  Last line: === 1 failed, 12 passed in 3.41s ===",
        "- WebFetch https://a.b/c: Guide (27 lines)",
        "  Headings: Guide; Install v2.3.1",
        "  Last line: More words follow here.",
        "Specifics: 87.4 %; #981",
    ]


def test_l5_search_results_are_told_by_their_files() -> None:
    found = Evidence("Grep run", "src/a.py:12:run()\nsrc/b.py:3:run\nsrc/a.py:14:run\n")

    assert "  Files: src/a.py, src/b.py" in by_rule([found]).text.splitlines()


def test_l5_json_is_told_by_its_keys() -> None:
    answer = Evidence("Bash curl", '[{"id": 1, "name": "x"}, {"id": 2}]')

    assert by_rule([answer]).text.splitlines()[1] == "  Keys: id, name"


def test_l5_the_outline_reads_any_language() -> None:
    page = Evidence("Read 说明.md", "# 安装\n\n步骤如下\n\n## 运行\n\n完成\n")

    assert "  Headings: 安装; 运行" in by_rule([page]).text.splitlines()


def test_l5_a_comment_in_a_script_is_no_heading() -> None:
    script = Evidence("Read run.sh", "#!/bin/sh\nset -e\n# not a heading\nexec x\n")

    assert "Headings" not in by_rule([script]).text


def test_l5_a_batch_of_many_items_keeps_within_the_limit() -> None:
    lines = by_rule([Evidence(f"Bash run {n}", "fine") for n in range(14)]).text.splitlines()

    assert len(lines) == LINES_MOST
    assert lines[-1] == "- 5 more: Bash run 9; Bash run 10; Bash run 11; Bash run 12; Bash run 13"


def test_l9_a_batch_of_nothing_but_specifics_does_not_fit() -> None:
    codes = Evidence("Bash codes", "\n".join(f"E{n}" for n in range(1000, 1200)))

    assert not by_rule([codes]).fits


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        pytest.param(PAGE, "", id="good"),
        pytest.param(FAILURE, "", id="a-command-has-no-address"),
        pytest.param(Evidence("Bash x", " \n"), "empty result", id="empty"),
        pytest.param(Evidence("Web a", "t", "", ("u",), channel="Web"), "no title", id="title"),
        pytest.param(Evidence("Web a", "t", "T", (" ",), channel="Web"), "no address", id="url"),
        pytest.param(
            Evidence("Webb a", "t", "T", ("u",), channel="Web"),
            "another channel's name",
            id="channel",
        ),
    ],
)
def test_l21_evidence_needs_title_address_and_its_channels_name(
    item: Evidence, reason: str
) -> None:
    assert malformed(item) == reason


def test_l21_a_malformed_item_is_listed_and_none_of_its_outline_is_told() -> None:
    lines = by_rule([Evidence("Web a", "# Head\n\n## Other\n", channel="Web")]).text.splitlines()

    assert lines == ["- Web a (malformed: no title)"]


def test_l9_a_foreign_digest_is_told_what_it_lacks_and_what_it_made_up() -> None:
    check = checked("87% on MMLU in v2.3.2 of https://a.b/c", [PAGE])

    assert [s.text for s in check.missing] == ["87.4 %", "#981", "v2.3.1"]
    assert [s.text for s in check.invented] == ["87%", "v2.3.2"]
    assert not check.is_mendable
    assert check.request == (
        "Keep these exactly, character for character: 87.4 %; #981; v2.3.1\n"
        "Leave these out, they are not in the text: 87%; v2.3.2"
    )


def test_l9_a_foreign_digest_that_only_lacks_values_is_completed_by_the_line() -> None:
    digest = "A guide to v2.3.1 at https://a.b/c"

    assert checked(digest, [PAGE]).is_mendable
    assert mended(digest, [PAGE]).text == f"{digest}\n{LINE_HEAD}87.4 %; #981"


def test_l5_a_foreign_digest_over_ten_lines_or_blank_is_refused() -> None:
    assert checked("word\n" * 11, [SOURCE]).extra_lines == 1
    assert checked(" \n", [SOURCE]).is_blank
    assert not checked("", [SOURCE]).is_good


WORDS = st.sampled_from(
    [
        *(
            "https://a.b/c",
            "E1042",
            "#981",
            "v2.3.1",
            "87.4",
            "%",
            "ms",
            "F1",
            "abc1234",
            "src/a.py:12",
        ),
        *(
            "TypeError:",
            "def run(",
            "# Head",
            "\n",
            "\n\n",
            "version",
            "a",
            "的",
            "，",  # noqa: RUF001 - wide marks are under test
            "{",
            '"k":1}',
            "-",
        ),
    ]
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join) | st.lists(WORDS, max_size=90).map("".join)
ITEMS = st.lists(
    st.builds(Evidence, TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2).map(tuple), st.booleans()),
    max_size=4,
)


@given(ITEMS)
def test_l9_a_digest_by_rule_loses_nothing_and_never_invents(items: list[Evidence]) -> None:
    original, digest = original_text(items), by_rule(items).text

    assert missing(original, digest) == ()
    assert invented(original, digest) == ()


@given(ITEMS)
def test_l9_lines_checked_at_once_make_the_same_digest_as_one_by_one(items: list[Evidence]) -> None:
    assert by_rule(items) == by_rule(items, at_once=False)


@given(ITEMS)
def test_l5_a_digest_keeps_to_its_lines_and_is_always_the_same(items: list[Evidence]) -> None:
    lines = by_rule(items).text.split("\n")
    told = [line for line in lines if not line.startswith(LINE_HEAD)]

    assert len(told) <= LINES_MOST
    assert len(lines) <= LINES_MOST + 1
    assert all(len(line) <= LINE_CHARS for line in told)
    assert by_rule(items).text.split("\n") == lines


def test_l5_long_names_and_paths_are_told_the_most_frequent_first() -> None:
    text = "\n".join(
        (
            "the session_registry calls Spotter.Services.Tmux and POSTs to /api/hooks/session-start",
            "then Spotter.Services.Tmux answers; plain-words and incomprehensibilities stay out",
            *(f"more words of line {n}" for n in range(200)),
        )
    )

    line = mentions(Evidence("Bash run", text))

    names = line.removeprefix("Mentions: ").split(", ")
    assert names[0] == "Spotter.Services.Tmux"
    assert {"session_registry", "/api/hooks/session-start"} <= set(names)
    assert "incomprehensibilities" not in line
    assert line in by_rule([Evidence("Bash run", text)]).text
    assert mentions(Evidence("Bash run", "nothing to tell")) == ""
