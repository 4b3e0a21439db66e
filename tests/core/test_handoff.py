import pytest

from context_editor.core.handoff import (
    INSTRUCTIONS_MOST,
    SECTION,
    FindingKind,
    HandoffFacts,
    OpenItem,
    checked,
    named_paths,
    standing_instructions,
    with_instructions,
)


def subjects(text: str, facts: HandoffFacts, kind: FindingKind) -> list[str]:
    return [finding.subject for finding in checked(text, facts) if finding.kind is kind]


def test_km2_named_paths_are_those_that_look_like_files() -> None:
    text = (
        "See src/a.py:12, `README.md`, ./run and /etc/hosts. (docs/x.md) ~/n.txt tests/core/\n"
        "but not and/or, owner/repo, README.md, 2026/11/30 or https://x.y/z.py"
    )

    assert named_paths(text) == (
        "src/a.py",
        "./run",
        "/etc/hosts",
        "docs/x.md",
        "~/n.txt",
        "tests/core/",
        "README.md",
    )


def test_km2_a_named_file_that_is_not_there_draws_a_finding() -> None:
    facts = HandoffFacts(existing={"src/a.py": True, "src/b.py": False})

    assert subjects("src/a.py, src/b.py, src/c.py", facts, FindingKind.PATH) == ["src/b.py"]


def test_km2_an_id_that_never_occurred_draws_a_finding() -> None:
    facts = HandoffFacts(session_texts=["commit abc1234", "toolu_01AbCd, o/r#5"])
    text = "At abc1234 then def5678, toolu_01AbCd, toolu_01XyZw, o/r#5 and #77; took 3.2 ms"

    assert subjects(text, facts, FindingKind.ID) == ["def5678", "#77", "toolu_01XyZw"]


@pytest.mark.parametrize(
    ("text", "is_missing"),
    [
        pytest.param("Next: fix the parser for nested lists.", False, id="word-for-word"),
        pytest.param("Open: the nested list parser needs a fix", False, id="reworded"),
        pytest.param("t4 is open", False, id="by-id"),
        pytest.param("Everything else is done", True, id="left-out"),
        pytest.param("t44 parser", True, id="another-id"),
    ],
)
def test_km2_an_open_item_must_be_mentioned(text: str, *, is_missing: bool) -> None:
    item = OpenItem("Fix the parser for nested lists", "t4")
    found = subjects(text, HandoffFacts(open_items=[item]), FindingKind.TODO)

    assert found == ([item.text] if is_missing else [])


def test_km2_an_open_item_in_chinese_is_found_by_its_pairs() -> None:
    facts = HandoffFacts(open_items=[OpenItem("修复嵌套列表"), OpenItem("补充文档")])

    assert subjects("接下来修复嵌套的列表", facts, FindingKind.TODO) == ["补充文档"]


def test_km2_a_running_task_must_be_named() -> None:
    facts = HandoffFacts(task_ids=["bash_1", "bash_12"])

    assert subjects("bash_12 serves the docs", facts, FindingKind.TASK) == ["bash_1"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Do not push.",
        "don't push to main",
        "Please don't touch the CI, ok?",
        "Fix it, but do not push.",
        "Run the tests and never skip any.",
        "Never commit secrets.",
        "Always use uv.",
        "From now on always run v1.2 of the tests.",
        "You must not delete files.",
        "No pushing to main!",
        "Only edit files under src/.",
        "If in doubt, never guess.",
        "不要推送！",  # noqa: RUF001 - wide marks are under test
        "请不要改配置。",
        "别动数据库",
        "提交前必须先跑测试。",
        "严禁删除文件",
    ],
)
def test_km2_a_prohibition_or_a_demand_is_a_standing_instruction(sentence: str) -> None:
    assert standing_instructions([f"Thanks. {sentence}\nBye."]) == (sentence,)


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't know why it never works.",
        "Why don't you try it?",
        "Don't you think so?",
        "It must return 3.",
        "The function must never block.",
        "I always do that.",
        "The map is checked but never populated.",
        "It starts and always stops.",
        "Added `{:lazy, only: :test}` to the list.",
        "No problem.",
        "特别是别的文件",
        "要不要推送？",  # noqa: RUF001 - wide marks are under test
        "> do not push",
        "```\ndo not push\n```",
    ],
)
def test_km2_what_has_another_subject_or_asks_is_no_instruction(sentence: str) -> None:
    assert standing_instructions([sentence]) == ()


def test_km2_instructions_come_oldest_first_and_a_repeated_one_counts_as_new() -> None:
    texts = ["Never push.", "- Always use uv.", "Never push."]

    assert standing_instructions(texts) == ("Always use uv.", "Never push.")


def test_km2_an_instruction_that_the_handoff_lacks_is_carried_word_for_word() -> None:
    text = with_instructions("Fix a. Never push.", ["Never push.", "Do not  touch CI."])

    assert text == f"Fix a. Never push.\n\n{SECTION}\n- Do not  touch CI.\n"
    assert with_instructions(text, ["Never push.", "Do not  touch CI."]) == text


def test_km2_of_many_instructions_the_newest_are_carried_and_the_rest_counted() -> None:
    orders = [f"Never do {n}." for n in range(INSTRUCTIONS_MOST + 2)]

    text = with_instructions("Handoff", orders)

    assert "- (2 older ones: " in text
    assert orders[1] not in text.splitlines()
    assert f"- {orders[2]}" in text.splitlines()


def test_km2_a_sound_handoff_draws_no_finding() -> None:
    assert checked("All is done.", HandoffFacts()) == ()
