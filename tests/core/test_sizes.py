import base64
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.rows import Call, Media, Piece, PieceForm
from context_editor.core.sizes import (
    FIGURES,
    Calibration,
    Content,
    Family,
    Gain,
    Ruler,
    Sample,
    TextKind,
    family_of,
    format_delta,
    format_tokens,
    image_dimensions,
    plain_chars,
    spread,
)
from context_editor.core.sizes.calibration import DEFAULT_BASE_TOKENS, FACTOR_MAX, FACTOR_MIN
from context_editor.core.sizes.estimate import (
    CALL_OVERHEAD_TOKENS,
    DOCUMENT_DEFAULT_TOKENS,
    IMAGE_DEFAULT_TOKENS,
)

OPUS = "claude-opus-4-6"
SONNET = "claude-sonnet-4-6"
FABLE = "claude-fable-5"

families = st.sampled_from(Family)
texts = st.text(st.characters(codec=None), max_size=400)
sizes = st.integers(0, 100_000)


def sample(context: int, output: int = 0, *, model: str = OPUS, message_id: str = "") -> Sample:
    return Sample(model, 0, context, 0, output, message_id or f"msg_{context}_{output}_{model}")


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-4-20250514", Family.OLDER),
        ("claude-opus-4-1-20250805", Family.OLDER),
        ("claude-opus-4-5-20251101", Family.OLDER),
        ("claude-opus-4-6", Family.OLDER),
        ("claude-opus-4-6[1m]", Family.OLDER),
        ("us.anthropic.claude-opus-4-6-v1:0", Family.OLDER),
        ("anthropic/claude-opus-4.6", Family.OLDER),
        ("claude-sonnet-4@20250514", Family.OLDER),
        ("claude-sonnet-4-5-20250929", Family.OLDER),
        ("claude-sonnet-4-6", Family.OLDER),
        ("claude-haiku-4-5-20251001", Family.OLDER),
        ("claude-3-5-sonnet-20241022", Family.OLDER),
        ("claude-3-7-sonnet-latest", Family.OLDER),
        ("claude-instant-1.2", Family.OLDER),
        ("claude-opus-4-7", Family.NEWER),
        ("claude-opus-4-8", Family.NEWER),
        ("claude-opus-4-10", Family.NEWER),
        ("claude-opus-5-20270101", Family.NEWER),
        ("claude-sonnet-5", Family.NEWER),
        ("claude-haiku-5", Family.NEWER),
        ("claude-fable-5", Family.NEWER),
        ("opus", Family.NEWER),
        ("some-other-model", Family.NEWER),
        ("", Family.NEWER),
    ],
)
def test_a_model_id_tells_its_tokenizer_family(model: str, family: Family) -> None:
    assert family_of(model) is family


@given(texts)
def test_the_length_of_a_text_never_counts_for_less_than_its_characters(text: str) -> None:
    assert plain_chars(text) >= len(text)


@given(texts, texts, families, st.sampled_from(TextKind))
def test_a_longer_text_is_never_smaller(
    text: str, more: str, family: Family, kind: TextKind
) -> None:
    ruler = Ruler(family)

    assert 0 <= ruler.text(text, kind) <= ruler.text(text + more, kind)


@given(texts, st.sampled_from(TextKind))
def test_the_newer_family_never_needs_fewer_tokens_than_the_older(
    text: str, kind: TextKind
) -> None:
    assert Ruler(Family.OLDER).text(text, kind) <= Ruler(Family.NEWER).text(text, kind)


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        pytest.param("plain ascii", 1.0, id="ascii"),
        pytest.param("→─│✓", 1.0, id="symbols"),
        pytest.param("café", 1.0, id="latin-1"),
        pytest.param("这是中文", 2.8, id="chinese"),
        pytest.param("これはかな", 2.8, id="japanese"),
        pytest.param("한국어", 2.8, id="korean"),
        pytest.param("русский", 1.5, id="russian"),
        pytest.param("😀", 1 + 2 * 1.8, id="an emoji is two halves"),
        pytest.param("\ud83d", 2.8, id="a lone surrogate"),
    ],
)
def test_a_character_counts_by_its_script(text: str, weight: float) -> None:
    assert plain_chars(text) == pytest.approx(len(text) * weight)


def test_chinese_is_estimated_near_the_tokens_that_it_needs() -> None:
    """18 o200k tokens stand for these 28 characters; a quarter of the characters would say 7."""
    text = "这是一个中文句子，用来测试。" * 2  # noqa: RUF001  its own punctuation

    assert 18 * 1.15 * 0.8 < Ruler(Family.OLDER).text(text) < 18 * 1.15 * 1.6


def test_with_a_table_the_count_of_tokens_decides_and_not_the_characters() -> None:
    ruler = Ruler(Family.NEWER, count=lambda text: 100 if text == "counted" else 0)

    assert ruler.text("counted") == 158
    assert ruler.text("counted", TextKind.PROSE) == 158


@pytest.mark.parametrize("family", Family)
def test_a_result_carries_an_overhead_that_a_bare_text_does_not(family: Family) -> None:
    ruler = Ruler(family)

    assert ruler.text("") == 0
    assert ruler.framed("") == FIGURES[family].overhead_tokens


def test_a_thinking_block_is_as_large_as_its_signature() -> None:
    readable = "a" * 100

    assert Ruler(Family.OLDER).thinking(readable, 1_000) == 200
    assert Ruler(Family.NEWER).thinking(readable, 1_000) == 270


def test_a_thinking_block_without_its_signature_is_as_large_as_its_text() -> None:
    ruler = Ruler(Family.OLDER)
    readable = "a long thought " * 100

    assert ruler.thinking(readable, 20) == ruler.text(readable, TextKind.PROSE)


@pytest.mark.parametrize(
    ("family", "width", "height", "tokens"),
    [
        (Family.OLDER, 750, 100, 100),
        (Family.NEWER, 750, 100, 100),
        (Family.OLDER, 3136, 784, 820),
        (Family.OLDER, 1568, 1568, 1590),
        (Family.OLDER, 4000, 4000, 1590),
        (Family.NEWER, 3000, 1500, 6000),
        (Family.OLDER, 1, 1, 1),
        (Family.OLDER, 0, 100, IMAGE_DEFAULT_TOKENS),
        (Family.NEWER, 0, 0, IMAGE_DEFAULT_TOKENS),
    ],
)
def test_an_image_is_sized_by_its_pixels(
    family: Family, width: int, height: int, tokens: int
) -> None:
    assert Ruler(family).image(width, height) == tokens


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_an_image_of_the_older_family_never_passes_its_cap(width: int, height: int) -> None:
    assert 1 <= Ruler(Family.OLDER).image(width, height) <= 1590


def test_a_document_has_a_stated_size_unless_one_came_with_it() -> None:
    ruler = Ruler(Family.OLDER)

    assert ruler.media(Media("document", "application/pdf", "")) == DOCUMENT_DEFAULT_TOKENS
    assert ruler.media(Media("document", "application/pdf", "", tokens=4_400)) == 4_400


def test_a_piece_is_as_large_as_its_words_and_its_media() -> None:
    ruler = Ruler(Family.OLDER)
    image = Media("image", "image/png", "", width=750, height=100)
    prompt = Piece("u1", PieceForm.PROMPT, "user", text="look at this", media=(image, image))

    assert ruler.piece(prompt) == ruler.framed("look at this") + 200


def test_a_call_is_as_large_as_its_input_and_a_frame() -> None:
    ruler = Ruler(Family.OLDER)
    call = Call("toolu_1", "Bash", {"command": "ls " * 50})
    piece = Piece("a1", PieceForm.CALL, "assistant", call=call)

    written = ruler.text(json.dumps(call.input), TextKind.CALL)

    assert ruler.piece(piece) == CALL_OVERHEAD_TOKENS + written


@pytest.mark.parametrize("form", PieceForm)
def test_every_form_of_piece_has_a_size(form: PieceForm) -> None:
    piece = Piece("h", form, "user", text="some words", signature_chars=40)

    assert Ruler(Family.NEWER).piece(piece) > 0


def test_an_attachment_without_words_takes_no_room() -> None:
    assert Ruler(Family.NEWER).piece(Piece("h", PieceForm.ATTACHMENT, "user")) == 0


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw + bytes(64)).decode()


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480),
            id="png",
        ),
        pytest.param(b"GIF89a" + struct.pack("<HH", 640, 480), id="gif"),
        pytest.param(
            b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + struct.pack("<HH", 640, 480),
            id="webp lossy",
        ),
        pytest.param(
            b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14),
            id="webp lossless",
        ),
        pytest.param(
            b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x7f\x02\0\xdf\x01\0",
            id="webp extended",
        ),
        pytest.param(
            b"\xff\xd8\xff\xe0\0\x10" + bytes(14) + b"\xff\xc4\0\x04\0\0"
            b"\xff\xc2\0\x11\x08" + struct.pack(">HH", 480, 640),
            id="jpeg",
        ),
    ],
)
def test_the_dimensions_of_an_image_are_read_from_its_first_bytes(raw: bytes) -> None:
    assert image_dimensions(_base64(raw)) == (640, 480)


@pytest.mark.parametrize(
    "data",
    ["", "!", "not base64 at all", "é" * 8, _base64(b"\xff\xd8\xff\xe0\0\x10"), _base64(b"BM")],
)
def test_an_image_that_cannot_be_read_has_unknown_dimensions(data: str) -> None:
    assert image_dimensions(data) == (0, 0)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8", b"RIFF\0\0\0\0WEBP"]))
def test_no_bytes_break_the_reading_of_dimensions(raw: bytes, head: bytes) -> None:
    width, height = image_dimensions(base64.b64encode(head + raw).decode())

    assert width >= 0
    assert height >= 0


@given(sizes, st.lists(sizes, max_size=60))
def test_the_shares_of_a_total_add_up_to_it(total: int, weights: list[int]) -> None:
    shares = spread(total, weights)

    assert len(shares) == len(weights)
    assert sum(shares) == (total if weights else 0)
    assert all(share >= 0 for share in shares)


@given(sizes, st.lists(st.integers(1, 1_000), min_size=1, max_size=60))
def test_a_share_is_off_its_proportion_by_one_at_most(total: int, weights: list[int]) -> None:
    for share, weight in zip(spread(total, weights), weights, strict=True):
        assert abs(share - total * weight / sum(weights)) <= 1


def test_without_any_weight_the_shares_are_equal() -> None:
    assert spread(9, [0, 0, 0]) == (3, 3, 3)


def test_sizes_are_known_with_the_third_sample_of_one_model_in_a_row() -> None:
    calibration = Calibration()
    known: list[bool] = []
    for context in (20_000, 21_000, 22_000):
        calibration = calibration.after(sample(context), Content(new_tokens=1_000))
        known.append(calibration.is_known)

    assert known == [False, False, True]


def test_rows_of_one_response_count_as_one_sample_with_the_largest_figures() -> None:
    first = sample(20_000, 5, message_id="msg_1")
    calibration = Calibration().after(first, Content())
    for output in (300, 120):
        calibration = calibration.after(sample(20_000, output, message_id="msg_1"), Content())

    assert calibration.streak == 1
    assert calibration.last == sample(20_000, 300, message_id="msg_1")


def test_samples_of_changing_models_never_make_sizes_known() -> None:
    calibration = Calibration()
    for number, model in enumerate([OPUS, SONNET, OPUS, OPUS, SONNET, SONNET]):
        calibration = calibration.after(sample(20_000 + number, model=model), Content())

        assert not calibration.is_known


def known_calibration(model: str = OPUS) -> Calibration:
    calibration = Calibration()
    for context in (20_000, 21_000, 22_000):
        content = Content(new_tokens=1_000)
        calibration = calibration.after(sample(context, model=model), content)
    return calibration


def test_a_sample_of_another_model_makes_sizes_approximate_until_the_next() -> None:
    changed = known_calibration().after(sample(23_000, model=SONNET), Content())

    assert not changed.is_known
    assert changed.after(sample(24_000, model=SONNET), Content()).is_known


def test_an_announced_change_of_model_is_over_with_its_first_sample() -> None:
    announced = known_calibration().with_model(FABLE)

    assert not announced.is_known
    assert announced.after(sample(33_000, model=FABLE), Content()).is_known


def test_announcing_the_model_in_use_changes_nothing() -> None:
    assert known_calibration().with_model(OPUS) == known_calibration()


def test_an_apply_makes_sizes_approximate_until_the_next_usage() -> None:
    applied = known_calibration().after_apply()

    assert not applied.is_known
    assert applied.after(sample(12_000), Content(new_tokens=100)).is_known


def test_an_apply_leaves_known_which_response_was_folded_last() -> None:
    calibration = Calibration().after(sample(20_000, message_id="msg_1"), Content())

    applied = calibration.after_apply()

    assert applied.last is None
    assert applied.newest == "msg_1"


def test_the_step_over_an_apply_teaches_nothing() -> None:
    before = known_calibration()

    after = before.after_apply().after(sample(90_000), Content(new_tokens=100))

    assert after.factor == before.factor


def test_what_one_tokenizer_taught_is_never_used_for_the_other() -> None:
    older = Calibration().after(sample(20_000), Content())
    for context in (23_000, 26_000, 29_000):
        older = older.after(sample(context), Content(new_tokens=2_000))

    newer = older.with_model(FABLE)

    assert older.factor > 1.1
    assert newer.factor == 1.0
    assert newer.base_tokens == round(20_000 * 1.58 / 1.15)


def test_what_one_tokenizer_taught_holds_for_another_model_of_its_family() -> None:
    older = Calibration().after(sample(20_000), Content())
    older = older.after(sample(23_000), Content(new_tokens=2_000))

    assert older.with_model(SONNET).factor == older.factor


def test_the_base_is_what_the_first_request_held_besides_its_content() -> None:
    calibration = Calibration().after(sample(20_000), Content(new_tokens=1_500))
    later = calibration.after(sample(30_000), Content(new_tokens=900))

    assert calibration.base_tokens == 18_500
    assert later.base_tokens == 18_500


def test_a_base_is_never_negative() -> None:
    assert Calibration().after(sample(100), Content(new_tokens=500)).base_tokens == 0


def test_a_session_that_needs_more_than_the_estimate_raises_the_factor_step_by_step() -> None:
    calibration = Calibration().after(sample(20_000, 600), Content())
    factors = [calibration.factor]
    for number in range(1, 30):
        grown = sample(20_000 + 2_600 * number, 600)
        calibration = calibration.after(grown, Content(reply_tokens=600, new_tokens=1_600))
        factors.append(calibration.factor)

    assert factors == sorted(factors)
    assert factors[-1] == pytest.approx(1.25, abs=0.05)


def test_output_that_the_host_counted_too_early_is_replaced_by_the_estimate() -> None:
    """Hosts before 2.1.60 record one output token for a long answer."""
    calibration = Calibration().after(sample(20_000, 1), Content())

    calibration = calibration.after(sample(23_000), Content(reply_tokens=2_000, new_tokens=1_000))

    assert calibration.factor == 1.0


steps = st.lists(st.tuples(sizes, sizes, sizes, sizes), max_size=20)


@given(steps)
def test_the_factor_never_leaves_its_range(steps: list[tuple[int, int, int, int]]) -> None:
    calibration = Calibration()
    for number, (context, output, reply, new) in enumerate(steps):
        grown = sample(context, output, message_id=str(number))
        calibration = calibration.after(grown, Content(reply, new))

        assert FACTOR_MIN <= calibration.factor <= FACTOR_MAX


def test_one_wild_step_cannot_move_a_settled_factor_far() -> None:
    calibration = Calibration().after(sample(20_000), Content())
    for number in range(1, 30):
        calibration = calibration.after(sample(20_000 + 1_000 * number), Content(new_tokens=1_000))
    context = 20_000 + 29_000
    wild = calibration.after(sample(context + 500_000), Content(new_tokens=500))

    assert wild.factor == pytest.approx(1.0, abs=0.05)


def test_before_the_first_usage_the_base_is_the_stated_default() -> None:
    sized = Calibration().row_sizes([100, 200], sent=0)

    assert sized.rows == (100, 200)
    assert sized.base_tokens == DEFAULT_BASE_TOKENS


def test_rows_that_were_sent_share_what_the_request_held_besides_the_base() -> None:
    calibration = Calibration().after(sample(20_000), Content())
    calibration = calibration.after(sample(23_300), Content(new_tokens=3_000))

    sized = calibration.row_sizes([1_000, 2_000], sent=2)

    assert sized.rows == (1_100, 2_200)
    assert sized.total_tokens == 23_300


def test_hidden_context_counts_as_base_and_not_as_rows() -> None:
    calibration = Calibration().after(sample(20_000), Content())
    calibration = calibration.after(sample(40_000), Content(new_tokens=1_000))

    sized = calibration.row_sizes([1_000], sent=1)

    assert sized.rows == (1_800,)
    assert sized.base_tokens == 38_200


def test_thinking_takes_its_share_without_being_a_row() -> None:
    calibration = Calibration().after(sample(20_000), Content())
    calibration = calibration.after(sample(23_000), Content(new_tokens=3_000))

    sized = calibration.row_sizes([1_000], sent=1, unlisted_tokens=2_000)

    assert sized.rows == (1_000,)
    assert sized.total_tokens == 23_000


def test_what_came_after_the_request_is_added_with_the_answers_own_count() -> None:
    calibration = Calibration().after(sample(20_000, 500), Content())

    sized = calibration.row_sizes(
        [0, 300, 700], sent=1, since=Content(reply_tokens=300, new_tokens=700)
    )

    assert sized.rows == (0, 300, 700)
    assert sized.total_tokens == 20_000 + 500 + 700


@given(steps, st.lists(sizes, max_size=30), st.integers(0, 30), sizes)
def test_base_and_rows_are_never_negative_and_hold_the_last_usage(
    steps: list[tuple[int, int, int, int]], estimates: list[int], sent: int, unlisted: int
) -> None:
    calibration = Calibration()
    for number, (context, output, reply, new) in enumerate(steps):
        grown = sample(context, output, message_id=str(number))
        calibration = calibration.after(grown, Content(reply, new))

    sized = calibration.row_sizes(estimates, min(sent, len(estimates)), Content(), unlisted)

    assert len(sized.rows) == len(estimates)
    assert min((*sized.rows, sized.base_tokens)) >= 0
    if calibration.last is not None:
        assert sized.total_tokens >= calibration.last.context_tokens


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (0, "0"),
        (7, "7"),
        (812, "812"),
        (999, "999"),
        (1_000, "1.0k"),
        (2_149, "2.1k"),
        (2_150, "2.2k"),
        (9_999, "10.0k"),
        (61_000, "61.0k"),
        (83_421, "83.4k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (117_500, "118k"),
        (200_000, "200k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_234_567, "1.2M"),
        (123_456_789, "123M"),
        (-14_200, "−14.2k"),  # noqa: RUF001  the sign that people read
    ],
)
def test_a_size_is_written_with_three_digits_at_most(tokens: int, text: str) -> None:
    assert format_tokens(tokens) == text


@given(st.integers(0, 10**8), st.integers(0, 10**8))
def test_a_larger_size_is_never_written_as_a_smaller_one(one: int, other: int) -> None:
    small, large = sorted((one, other))

    assert _read(format_tokens(small)) <= _read(format_tokens(large))


@given(st.integers(0, 10**8))
def test_a_written_size_is_within_five_percent_of_the_true_one(tokens: int) -> None:
    assert _read(format_tokens(tokens)) == pytest.approx(tokens, rel=0.05)


def _read(text: str) -> float:
    units = {"k": 1_000, "M": 1_000_000}
    return float(text.rstrip("kM")) * units.get(text[-1], 1)


def test_a_size_is_marked_approximate_before_the_figure() -> None:
    assert format_tokens(83_400, approx=True) == "approx. 83.4k"
    assert format_delta(812, approx=True) == "approx. +812"


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (812, "+812"), (-1, "\N{MINUS SIGN}1"), (-14_231, "\N{MINUS SIGN}14.2k")],
)
def test_a_change_is_written_with_its_sign(tokens: int, text: str) -> None:
    assert format_delta(tokens) == text


def test_the_cost_is_the_cache_write_less_the_read_that_it_replaces() -> None:
    assert Gain(saved_tokens=14_200, rewritten_tokens=20_000).cost_tokens == 23_000


@pytest.mark.parametrize(
    ("saved", "rewritten", "conclusion"),
    [
        (23_000, 20_000, "worth it after 10 requests"),
        (22_999, 20_000, "worth it after 11 requests"),
        (5_000, 100, "worth it after 1 request"),
        (5_000, 0, "worth it after 1 request"),
        (0, 20_000, "not worth it: nothing is saved"),
        (-50, 20_000, "not worth it: nothing is saved"),
    ],
)
def test_the_conclusion_sets_saving_and_cost_against_each_other_at_their_price(
    saved: int, rewritten: int, conclusion: str
) -> None:
    assert Gain(saved, rewritten).conclusion == conclusion


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_after_the_requests_named_the_saving_covers_the_cost(saved: int, rewritten: int) -> None:
    requests = Gain(saved, rewritten).requests_to_pay_back

    assert requests is not None
    assert requests * saved * 10 >= rewritten * 115
    assert requests == 1 or (requests - 1) * saved * 10 < rewritten * 115
