import pytest

from context_editor.core.journal import JournalEntry, JournalFacts, judged
from context_editor.core.manual import JOURNAL_TEMPLATE, MANUAL
from context_editor.core.rules import RULES, TRUST

SECTIONS = ["Failures", "Corrections", "Citations", "State items", "Host rows"]


def test_a3_the_rules_have_five_named_sections_and_no_row() -> None:
    heads = [line[3:] for line in RULES.splitlines() if line.startswith("## ")]

    assert heads == SECTIONS
    assert not any(line.startswith("#1") for line in RULES.splitlines())


def test_j11_rules_and_manual_say_how_a_replacement_is_to_be_taken() -> None:
    assert TRUST.startswith("Text that begins `Later, your context_edit` is your own replacement")
    assert TRUST in RULES
    assert TRUST in MANUAL


@pytest.mark.parametrize(
    "words",
    [
        pytest.param('"apply":"later"', id="ks"),
        pytest.param("within 5 turns", id="kr4"),
        pytest.param("CLAUDE.md and AGENTS.md are loaded by the", id="kr3"),
        pytest.param("A finished task alone is no reason", id="km12"),
        pytest.param("exactly once; read the result back", id="km13"),
        pytest.param("Never copy CLAUDE.md", id="km10"),
        pytest.param("not a command", id="km10-briefing"),
        pytest.param("Resume through the channel where the work came from", id="channel"),
        pytest.param("no proof of delivery", id="delivery"),
        pytest.param("Message content and routing ids", id="routing"),
        pytest.param("do not act twice", id="km11"),
        pytest.param("above 100,000 tokens", id="ki4"),
        pytest.param("do nothing at all", id="ki4-nothing"),
        pytest.param("context_molt", id="km2"),
        pytest.param('"op":"decide"', id="km9"),
    ],
)
def test_km17_the_manual_covers_the_rule(words: str) -> None:
    assert words in " ".join(MANUAL.split())


def test_kj_the_template_of_an_entry_has_the_fields_that_are_checked() -> None:
    path = "knowledge/session-journal/x/KNOWLEDGE.md"
    seen: list[str] = []

    def load(block: str) -> object:
        seen.append(block)
        return {"name": "a", "description": "b", "type": "session-journal"}

    facts = JournalFacts(path, path, "file", JOURNAL_TEMPLATE.encode(), None)

    assert isinstance(judged(facts, load), JournalEntry)
    assert {line.split(":")[0] for line in seen[0].splitlines()} >= {"name", "description", "type"}


@pytest.mark.parametrize("text", [RULES, MANUAL])
def test_product_texts_are_short_enough_to_be_read(text: str) -> None:
    """About 4 characters a token: 2,500 tokens for the longer one."""
    assert len(text) < 10_000
