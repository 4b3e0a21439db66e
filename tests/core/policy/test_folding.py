"""Old digests folded into one row, before the host compacts by itself (rule L17)."""

from dataclasses import replace

from tests.support.policy_rows import CharSizer, Talk

from context_editor.core.assemble import OwnFacts
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Op, Replacement
from context_editor.core.names import Names
from context_editor.core.policy.candidates import PolicyGround
from context_editor.core.policy.folding import BARE, folds
from context_editor.core.policy.gate import Fill, Situation
from context_editor.core.policy.run import Request, run
from context_editor.core.policy.settings import PolicySettings

POINTER = "(original: /data/archive/originals/0123456789abcdef01234567.txt, open with Read): "
FILLER = "a line of what it showed, told once more in plain words\n" * 4


def digested(count: int, person_at: int = -1, author: str = "policy") -> PolicyGround:
    """A conversation whose oldest results are digests already, three whole results at its end."""
    talk = Talk()
    talk.person("go")
    anchors: list[str] = []
    for n in range(count):
        if n == person_at:
            talk.person("and go on")
        talk.say(f"own words {n}")
        text = f"Later, the retention policy replaced the full output of Bash cat f{n} {POINTER}"
        anchors.append(talk.bash(f"cat f{n}", f"{text}- f{n} fails with E{1000 + n}\n{FILLER}"))
    for n in range(3):
        talk.bash(f"cat new{n}", "new words\n" * 2_000)
    ids = {anchor: f"c{n + 1}" for n, anchor in enumerate(anchors)}
    made = {
        name: Replacement(name, Op.SUMMARIZE, author, (anchor,), "Bash", "/o", "/r")  # type: ignore[arg-type]
        for anchor, name in ids.items()
    }
    conversation = talk.conversation(own=OwnFacts(replacements=ids))
    ground = Ground(
        Names(conversation),
        CharSizer(),
        replacements=made,
        original_path=lambda _: "/data/archive/originals/0123456789abcdef01234567.txt",
    )
    return PolicyGround(ground)


def test_l17_digests_become_one_row_with_every_specific_and_own_words_stay() -> None:
    ground = digested(9)

    (batch,) = folds(ground, None)

    (edit,) = batch.edits
    assert (edit.op, edit.author, len(edit.anchors)) == (Op.COLLAPSE, "policy", 9)
    assert all(row.call is not None for row in batch.rows)
    assert all(f"E{1000 + n}" in edit.text for n in range(9))
    assert "0123456789abcdef" not in edit.text
    assert batch.saved_tokens > 0


def test_l17_a_fold_never_reaches_over_a_persons_prompt() -> None:
    batches = list(folds(digested(16, person_at=8), None))

    assert [len(batch.rows) for batch in batches] == [8, 8]


def test_l17_few_digests_and_those_of_the_agent_are_left() -> None:
    assert list(folds(digested(5), None)) == []
    assert list(folds(digested(9, author="agent"), None)) == []


def test_l17_a_protected_digest_is_left() -> None:
    ground = digested(9)
    pinned = ground.conversation.rows[2].anchor
    protected = replace(ground, ground=replace(ground.ground, protected={pinned: "pinned"}))

    (batch,) = folds(protected, None)

    assert pinned not in batch.edits[0].anchors
    assert len(batch.rows) == 8


def test_l17_digests_that_are_mostly_specifics_leave_a_pointer() -> None:
    ground = digested(9)
    rows = [row for row in ground.conversation.rows if row.replacement]
    dense = " ".join(f"E{n}" for n in range(2_000, 2_400))
    pieces = tuple(
        replace(p, text=f"Later, the retention policy replaced x {POINTER}{dense}")
        if p.call_id == rows[0].call.id  # type: ignore[union-attr]
        else p
        for p in ground.conversation.pieces
    )
    by_position = dict(enumerate(pieces))
    changed = replace(
        ground.conversation,
        pieces=pieces,
        rows=tuple(
            replace(row, pieces=tuple(by_position[at] for at in row.positions))
            for row in ground.conversation.rows
        ),
    )

    (batch,) = folds(replace(ground, ground=replace(ground.ground, names=Names(changed))), None)

    assert batch.edits[0].text == BARE


def test_l17_digests_are_folded_only_where_the_host_would_else_compact() -> None:
    ground = digested(60)
    tokens = sum(map(CharSizer().row, ground.conversation.rows))

    def kinds(moment: str, max_tokens: int) -> set[str]:
        situation = Situation(moment, 9, 63)  # type: ignore[arg-type]
        request = Request(ground, PolicySettings(), Fill(tokens, max_tokens), situation)
        return {batch.kind for batch in run(request).batches}

    assert kinds("host", tokens) == {"fold"}
    assert kinds("asked", tokens) == set()
    assert kinds("host", 2 * tokens) == set()
