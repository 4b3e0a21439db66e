from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_editor.core import specific_figures, specific_forms
from context_editor.core.specific_text import Text
from context_editor.core.specifics import (
    LINE_SHARE,
    SpecificKind,
    completed,
    extracted,
    held_by,
    invented,
    missing,
    required,
    specifics_line,
)

EXAMPLE: Final = "TypeError E1042 in v2.3.1, 87.4 % on MMLU, #981"
"""The rule's own example."""


def texts_of(text: str) -> list[str]:
    return [specific.text for specific in extracted(text)]


def test_l9_the_example_holds_each_of_its_values_once_in_order() -> None:
    assert texts_of(EXAMPLE + "\n" + EXAMPLE) == ["TypeError", "E1042", "v2.3.1", "87.4 %", "#981"]


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        pytest.param("see https://a.b/c_(d)?q=1#f.", "url", ["https://a.b/c_(d)?q=1#f"], id="url"),
        pytest.param(
            "[x](https://q.w/e)](http://r.t)",
            "url",
            ["https://q.w/e", "http://r.t"],
            id="url-in-markdown",
        ),
        pytest.param(
            "请看https://a.b/c。完", "url", ["https://a.b/c"], id="url-before-chinese-stop"
        ),
        pytest.param('{"u":"https://a.b/c\\n"}', "url", ["https://a.b/c"], id="url-in-json"),
        pytest.param(
            "E1042 HTTP_502 ERR-17 XYZ99",
            "error",
            ["E1042", "HTTP_502", "ERR-17", "XYZ99"],
            id="code",
        ),
        pytest.param("错误E1042发生", "error", ["E1042"], id="code-in-chinese"),
        pytest.param("aE1042 E1042b ABCDEFGHI10 E1", "error", [], id="no-code"),
        pytest.param("a.b.IOException: ENOENT", "error", ["IOException", "ENOENT"], id="named"),
        pytest.param(
            "ERR_MODULE_NOT_FOUND ErrNotFound SIGSEGV",
            "error",
            ["ERR_MODULE_NOT_FOUND", "ErrNotFound", "SIGSEGV"],
            id="named-elsewhere",
        ),
        pytest.param("Error Exception ERROR END ERRORS", "error", [], id="no-name"),
        pytest.param(
            "#12, owner/repo#34 and KEY-7", "issue", ["#12", "owner/repo#34", "KEY-7"], id="issue"
        ),
        pytest.param("&#39; ## 12", "issue", [], id="no-issue"),
        pytest.param("CVE-2024-12345", "issue", ["CVE-2024-12345"], id="long-key"),
        pytest.param(
            "v1.2 1.2.3 pkg==1.26 node@18 version 3",
            "version",
            ["v1.2", "1.2.3", "1.26", "18", "3"],
            id="version",
        ),
        pytest.param(
            "1.2.3-rc.1 2.0.0b2 py3.11.7 版本：2.4",  # noqa: RUF001 - wide marks are under test
            "version",
            ["1.2.3-rc.1", "2.0.0b2", "3.11.7", "2.4"],
            id="version-forms",
        ),
        pytest.param("x == 10, 3.14, user@163.com, pass@1", "version", [], id="no-version"),
        pytest.param(
            "3.2 ms, 14MB, -5 %, 12px, 83.4k, $12.50",
            "figure",
            ["3.2 ms", "14MB", "-5 %", "12px", "83.4k", "$12.50"],
            id="unit",
        ),
        pytest.param("用时12秒，提高3.5倍", "figure", ["12秒", "3.5倍"], id="unit-in-chinese"),  # noqa: RUF001 - wide marks are under test
        pytest.param(
            "F1: 0.88, pass@1 = 67.0, 91.2 on MMLU, 得分 0.7",
            "figure",
            ["0.88", "67.0", "91.2", "0.7"],
            id="score",
        ),
        pytest.param("line 12 of 4,500; 100%s; x=5; scoreboard 5", "figure", [], id="no-figure"),
        pytest.param(
            "abc1234 0123456789abcdef0123456789abcdef01234567",
            "hash",
            ["abc1234", "0123456789abcdef0123456789abcdef01234567"],
            id="hash",
        ),
        pytest.param(
            "123e4567-e89b-12d3-a456-426614174000",
            "hash",
            ["123e4567-e89b-12d3-a456-426614174000"],
            id="uuid",
        ),
        pytest.param("defaced 1234567 abc123 xabc1234 " + "a1" * 33, "hash", [], id="no-hash"),
        pytest.param("src/a.py:12, b.ts:3:7", "place", ["src/a.py:12", "b.ts:3:7"], id="place"),
        pytest.param("10:02:33 key:5 :8080", "place", [], id="no-place"),
    ],
)
def test_l9_specifics_are_found_by_their_form(text: str, kind: str, found: list[str]) -> None:
    assert [s.text for s in extracted(text) if s.kind == kind] == found


def test_l9_a_log_of_numbered_lines_has_no_specifics() -> None:
    log = "\n".join(f"{n:5d}\tstep {n} of 4500 went on to item {n * 7}" for n in range(1, 4501))

    assert extracted(log) == ()


def test_l9_what_lies_inside_another_specific_is_part_of_it() -> None:
    assert texts_of("https://x.y/E1042/abc1234#12 owner/repo#9 v1.2.3") == [
        "https://x.y/E1042/abc1234#12",
        "owner/repo#9",
        "v1.2.3",
    ]


def test_l9_a_score_keeps_the_name_beside_it_for_the_line() -> None:
    (score,) = extracted("Accuracy: 0.912")

    assert (score.text, score.words) == ("0.912", "Accuracy 0.912")


@pytest.mark.parametrize(
    ("original", "digest"),
    [
        ("87.4 %", "87%"),
        ("87.4 %", "87.4%"),
        ("87.4 %", "187.4 %"),
        ("E1042", "E104 and E10421"),
        ("v2.3.1", "v2.3.1-rc1"),
        ("v2.3.1", "v2.3"),
        ("abc1234", "abc12345"),
        ("#98", "#981"),
        ("https://a.b/c", "https://a.b/c/d"),
        ("TypeError", "MyTypeError"),
        ("5 %", "-5 %"),
    ],
)
def test_l9_a_digest_that_changes_a_value_misses_it(original: str, digest: str) -> None:
    assert [s.text for s in missing(original, digest)] == [original]


def test_l9_a_digest_that_rounds_a_score_is_missing_a_specific() -> None:
    assert [s.text for s in missing("87.4 % on MMLU", "about 87% on MMLU")] == ["87.4 %"]


def test_l9_a_place_in_a_file_is_not_required() -> None:
    assert missing("src/a.py:12: TypeError", "TypeError") == ()
    assert [s.kind for s in required("src/a.py:12")] == []


def test_l9_a_place_does_not_take_a_required_value_along() -> None:
    assert [s.text for s in missing("logs/E1042.txt:7", "a log")] == ["E1042"]


def test_l9_the_line_completes_a_digest() -> None:
    done = completed(EXAMPLE * 20, "it failed in v2.3.1")

    assert done.text == "it failed in v2.3.1\nSpecifics: TypeError; E1042; 87.4 %; #981"
    assert done.fits


def test_l9_a_whole_digest_gets_no_line() -> None:
    assert completed(EXAMPLE, EXAMPLE).text == EXAMPLE


def test_l9_a_line_over_a_quarter_of_the_original_does_not_fit() -> None:
    line = specifics_line(required("E1042"))
    over, within = len(line) * 4 - 1, len(line) * 4

    assert LINE_SHARE == 0.25
    assert not completed("E1042".ljust(over), "").fits
    assert completed("E1042".ljust(within), "").fits


def test_l9_an_invented_value_is_named() -> None:
    found = invented("E1042 in src/a.py:12", "E1043 in src/a.py:13, not E1042")

    assert [s.text for s in found] == ["E1043", "src/a.py:13"]


PIECES: Final = st.sampled_from(
    [
        *(
            "https://a.b/c",
            "E1042",
            "KEY-7",
            "#981",
            "o/r#5",
            "v2.3.1",
            "1.2.3",
            "87.4 %",
            "0.88",
            "-",
        ),
        *(
            "F1",
            "abc1234",
            "src/a.py:12",
            "TypeError",
            "ENOENT",
            "==",
            "@",
            "version",
            "$",
            "ms",
            ".",
        ),
        *(
            " ",
            "\n",
            "，",  # noqa: RUF001 - wide marks are under test
            "的",
            "(",
            ")",
            "12",
            "a",
            "Z",
            "\t",
            "\ud800",
            "\u00a0",
            ";",
            ":",
            "&",
            "_",
        ),
    ]
)
TEXTS: Final = st.lists(PIECES, max_size=24).map("".join) | st.text(max_size=60)


@given(TEXTS)
def test_l9_every_text_holds_its_own_specifics(text: str) -> None:
    assert missing(text, text) == ()
    assert invented(text, text) == ()


@given(TEXTS)
def test_l9_every_specific_is_cut_from_the_text_and_stands_there_once(text: str) -> None:
    found = [s.text for s in extracted(text)]

    assert len(set(found)) == len(found)
    assert all(value in text for value in found)


@given(TEXTS)
def test_l9_what_a_text_is_not_searched_for_does_not_stand_in_it(text: str) -> None:
    source = Text(text.encode("utf-8", "surrogatepass"))

    for scanner in (*specific_forms.REQUIRED, *specific_figures.FIGURES, specific_forms.PLACES):
        assert scanner.may_hold(source) or not list(scanner.scan(source))


@given(st.lists(TEXTS.map(lambda text: text.replace("\n", " ")), max_size=6))
def test_l9_lines_together_hold_what_each_of_them_holds(lines: list[str]) -> None:
    together = {(one.kind, one.text) for one in held_by(lines)}
    alone = {(one.kind, one.text) for line in lines for one in extracted(line)}

    assert alone <= together


@given(TEXTS, TEXTS)
def test_l9_a_completed_digest_misses_nothing(original: str, digest: str) -> None:
    done = completed(original, digest)

    assert missing(original, done.text) == ()


@pytest.mark.parametrize("kind", list(SpecificKind))
def test_l9_each_class_survives_in_a_line_of_its_own(kind: SpecificKind) -> None:
    text = "https://a.b E1042 #12 v2.3.1 4 ms abc1234 a.py:12"
    specific = next(s for s in extracted(text) if s.kind is kind)

    assert invented(specifics_line([specific]), specific.text) == ()


@pytest.mark.parametrize(
    "unit", ["1", "a", "A1", "1.", "#1", "://", "f1:", "a/", "v1.", "E-", "1 ", "((", "é"]
)
def test_l9_long_runs_of_one_form_take_linear_time(unit: str) -> None:
    """The suite's timeout is the guard: a pattern that backtracks needs hours for this."""
    extracted(unit * (300_000 // len(unit)))
