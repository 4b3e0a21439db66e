"""The report as one HTML page: no script, nothing loaded from elsewhere, every text escaped."""

from html import escape
from pathlib import Path
from typing import Any, Final, TypeAlias

from context_editor.core.sizes.wording import format_delta, format_tokens

Facts: TypeAlias = dict[str, Any]
"""What `report_facts` found, as JSON values."""

STYLE: Final = """\
:root { color-scheme: light dark; --ink: #1d2327; --soft: #59636b; --line: #d9dee2; --page: #fbfbf9;
  --card: #ffffff; --before: #c9cfd4; --after: #2f7d5b; --link: #1c5fa8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9eb; --soft: #a0a9b0; --line: #384047;
  --page: #15191c; --card: #1d2226; --before: #4b555d; --after: #58b98c; --link: #82b8f2; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p, dl { margin: .25rem 0; }
.soft { color: var(--soft); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem;
  margin: 1.25rem 0; }
.figures > div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem 1rem; }
dt { color: var(--soft); font-size: .9rem; }
dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card);
  border: 1px solid var(--line); }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .45rem .7rem; white-space: nowrap;
  border-top: 1px solid var(--line); }
thead th { font-size: .85rem; color: var(--soft); border-top: 0; }
.of { min-width: 12rem; white-space: normal; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: block; min-width: 8rem; height: .6rem; margin: .45rem 0; border-radius: .3rem;
  background: var(--before); }
.bar > span { display: block; height: 100%; border-radius: .3rem; background: var(--after); }
code { font: .85em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
bdi { unicode-bidi: isolate; }
@media print { body { background: none; } .figures > div, table { break-inside: avoid; } }
"""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page may load: nothing but its own style."""


NUMBERS: Final = frozenset({"Before", "After", "Change"})
NUMBER: Final = ' class="number"'
"""Columns of figures stand flush right, so that they compare at a glance."""


def page(facts: Facts) -> str:
    """The whole page."""
    title = f"context-editor: session {_text(facts['session'])}"
    body = _nothing() if not facts["applies"] else _applies_part(facts)
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<main>
<h1>What was edited in this conversation</h1>
<p class="soft">Session <code>{_text(facts["session"])}</code>, {_time(facts["written"])}</p>
{_figures(facts)}
{body}
{_places(facts)}
</main>
</body>
</html>
"""


def _text(value: object) -> str:
    """A value as text of the page: escaped, and without control characters."""
    return escape("".join(c if c.isprintable() else " " for c in str(value)))


def _figures(facts: Facts) -> str:
    approx = "" if facts["is_calibrated"] else "approx. "
    figures = {
        "Tokens now": f"{approx}{format_tokens(facts['context_tokens'])}",
        "Tokens spared in every request": format_tokens(facts["saved_tokens"]),
        "Edits": f"{facts['edits']} in {len(facts['applies'])} apply(s)",
        "Read again afterwards": str(facts["rereads"]),
        "Queued": str(len(facts["queued"])),
    }
    cells = "\n".join(f"<div><dt>{k}</dt><dd>{_text(v)}</dd></div>" for k, v in figures.items())
    return f'<dl class="figures">\n{cells}\n</dl>'


def _nothing() -> str:
    return "<h2>Applies</h2>\n<p>Nothing was applied in this session yet.</p>"


def _applies_part(facts: Facts) -> str:
    applies = facts["applies"]
    most = max(apply["tokens_before"] for apply in applies) or 1
    rows = "\n".join(_apply_row(apply, most) for apply in applies)
    head = _head("Epoch", "When", "Edits", "Before", "After", "Change", "Size")
    overview = _table("Tokens that a request carried before and after each apply", head, rows)
    details = "\n".join(_edits_part(apply) for apply in applies)
    return f"<h2>Applies</h2>\n{overview}\n{details}"


def _apply_row(apply: Facts, most: int) -> str:
    before, after = apply["tokens_before"], apply["tokens_after"]
    width, part = 100 * before / most, 100 * min(after, before) / (before or 1)
    bar = (
        f'<span class="bar" aria-hidden="true" style="width:{width:.1f}%">'
        f'<span style="width:{part:.1f}%"></span></span>'
    )
    cells = (
        f'<th scope="row"><a href="#epoch-{int(apply["epoch"])}">{int(apply["epoch"])}</a></th>',
        f"<td>{_time(apply['ts'])}</td>",
        f"<td>{len(apply['edits'])}</td>",
        *(_number(words) for words in (format_tokens(before), format_tokens(after))),
        _number(format_delta(after - before)),
        f"<td>{bar}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _edits_part(apply: Facts) -> str:
    epoch = int(apply["epoch"])
    rows = "\n".join(_edit_row(edit) for edit in apply["edits"])
    head = _head("Id", "What", "Of", "Before", "After", "Original")
    notes = _notes(apply)
    return (
        f'<h2 id="epoch-{epoch}">Epoch {epoch}</h2>\n{notes}\n'
        f"{_table('What stands in place of what', head, rows)}"
    )


def _notes(apply: Facts) -> str:
    notes = [f"{_text(key)} was left out: {_text(why)}." for key, why in apply["skipped"].items()]
    if apply["thinking_dropped"]:
        notes.append(f"{int(apply['thinking_dropped'])} thinking block(s) behind the change went.")
    if not apply["resumable"]:
        notes.append(f"A resume may show it differently: {_text(apply['how'])}.")
    return f'<p class="soft">{" ".join(notes)}</p>' if notes else ""


def _edit_row(edit: Facts) -> str:
    state = "" if edit["standing"] else ' <span class="soft">(gone since)</span>'
    author = (
        ""
        if edit["author"] == "agent"
        else f' <span class="soft">by {_text(edit["author"])}</span>'
    )
    cells = (
        f'<th scope="row"><code>{_text(edit["id"])}</code></th>',
        f"<td>{_text(edit['op'])}{author}{state}</td>",
        f'<td class="of"><bdi>{_text(edit["source"])}</bdi></td>',
        _number(format_tokens(edit["tokens_before"])),
        _number(format_tokens(edit["tokens_after"])),
        f"<td>{_original(str(edit['id']), str(edit['original']))}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _original(name: str, path: str) -> str:
    """A link to an original; its path alone where it is not absolute."""
    if not Path(path).is_absolute():
        return f"<bdi>{_text(path)}</bdi>"
    link = escape(Path(path).as_uri())
    return f'<a href="{link}" title="{_text(path)}">original of {_text(name)}</a>'


def _time(stamp: object) -> str:
    """A moment to the minute, in the zone that it was written in."""
    words = _text(stamp)
    return f'<time datetime="{words}">{words[:16].replace("T", " ")}</time>'


def _number(words: str) -> str:
    return f"<td{NUMBER}>{_text(words)}</td>"


def _head(*names: str) -> str:
    cells = "".join(
        f'<th scope="col"{NUMBER if name in NUMBERS else ""}>{name}</th>' for name in names
    )
    return f"<tr>{cells}</tr>"


def _table(caption: str, head: str, rows: str) -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">\n<table>\n'
        f"<caption>{caption}</caption>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody>\n"
        f"</table>\n</div>"
    )


def _places(facts: Facts) -> str:
    return (
        "<h2>Where things are</h2>\n"
        f"<p>Transcript: <code>{_text(facts['transcript'])}</code></p>\n"
        f"<p>Data folder: <code>{_text(facts['data'])}</code></p>\n"
        '<p class="soft">To put an original back: <code>context-editor restore ID</code>, '
        "then <code>context-editor apply</code>.</p>"
    )
