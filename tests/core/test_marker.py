import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.marker import MARKER, ends_with_marker


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        pytest.param(f"All done.\n\n{MARKER}", True, id="alone-on-the-last-line"),
        pytest.param(f"All done.\n\n{MARKER}\n", True, id="newline-behind"),
        pytest.param(f"All done.\n\n{MARKER}  \t\n \n\t\n", True, id="blank-lines-behind"),
        pytest.param(f"All done.\r\n\r\n{MARKER}\r\n", True, id="carriage-returns"),
        pytest.param(f"All done.\n \t{MARKER} \t", True, id="spaces-and-tabs-around"),
        pytest.param(f"All done.\n{MARKER}", True, id="no-blank-line-before"),
        pytest.param(MARKER, True, id="whole-answer"),
        pytest.param(f"{MARKER}\n\n{MARKER}", True, id="twice"),
        pytest.param(f"```sh\nls\n```\n{MARKER}", True, id="after-a-closed-fence"),
        pytest.param(f"- a\n      ```\n      x\n      ```\n{MARKER}", True, id="fence-in-a-list"),
        pytest.param(f"``` x ```\n{MARKER}", True, id="code-within-a-line-opens-no-fence"),
        pytest.param(f"~~~\n```\n~~~\n{MARKER}", True, id="other-fence-inside"),
        pytest.param(f"````\n```\n````\n{MARKER}", True, id="shorter-fence-inside"),
        pytest.param("", False, id="empty"),
        pytest.param(" \n\t\n", False, id="blank"),
        pytest.param("All done.", False, id="no-marker"),
        pytest.param(f"Done. {MARKER}", False, id="shares-its-line"),
        pytest.param(f"{MARKER} done", False, id="words-behind"),
        pytest.param(f"{MARKER}.", False, id="full-stop-behind"),
        pytest.param(f"{MARKER}\nOne more line.", False, id="not-last"),
        pytest.param(f"> {MARKER}", False, id="quoted"),
        pytest.param(f"`{MARKER}`", False, id="code"),
        pytest.param(f"- {MARKER}", False, id="list-item"),
        pytest.param(f"**{MARKER}**", False, id="bold"),
        pytest.param(f"``` \n{MARKER}", False, id="open-fence"),
        pytest.param(f"```text\n{MARKER}\n```", False, id="fence-line-is-last"),
        pytest.param(f"~~~\n{MARKER}", False, id="open-tilde-fence"),
        pytest.param(f"1. a\n   ```\n   {MARKER}", False, id="open-fence-in-a-list"),
        pytest.param(f"```\n~~~\n{MARKER}", False, id="other-mark-does-not-close"),
        pytest.param(f"````\n```\n{MARKER}", False, id="shorter-mark-does-not-close"),
        pytest.param(f"```\n``` x\n{MARKER}", False, id="words-behind-the-mark-do-not-close"),
        pytest.param("[Context-Editor: Optimize]", False, id="other-case"),
        pytest.param("[context-editor:optimize]", False, id="no-space"),
        pytest.param("[context-editor:  optimize]", False, id="two-spaces"),
        pytest.param("[context-editor: optimize", False, id="cut-off"),
        pytest.param(f"{MARKER}\u00a0", False, id="no-break-space-behind"),
        pytest.param(f"a\u2028{MARKER}", False, id="line-separator-is-no-line-end"),
    ],
)
def test_e1_marker_validity(text: str, *, is_valid: bool) -> None:
    assert ends_with_marker(text) is is_valid


@given(st.text(alphabet=st.characters(exclude_characters="`~")), st.text(alphabet=" \t\r\n"))
def test_e1_a_marker_on_a_line_of_its_own_counts_behind_any_text(text: str, blank: str) -> None:
    assert ends_with_marker(f"{text}\n{MARKER}{blank}")


@given(st.text(), st.text(alphabet=st.characters(exclude_characters=" \t\r\n"), min_size=1))
def test_e1_anything_else_on_the_last_line_makes_it_invalid(text: str, other: str) -> None:
    assert not ends_with_marker(f"{text}\n{MARKER}{other}")
    assert not ends_with_marker(f"{text}\n{other}{MARKER}")
