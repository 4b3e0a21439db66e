"""The long manual that `context_manual` returns, written to a model (rules K-S, K-R, K-M)."""

from typing import Final

from context_editor.core.journal import AREA, ENTRY_NAME
from context_editor.core.rules import TRUST

JOURNAL_TEMPLATE: Final = """\
---
name: <YYYY-MM-DD> molt <count>, <what the work is>
description: >-
  <one or two sentences: what was reached, what is open>
type: session-journal
---
## Task and authority
<what was asked, by whom, what is allowed and what is forbidden, in their words>
## Done and verified
<result: how it was checked, evidence path:line or URL>
## Open, in order
<next step first; blockers; who is waited for>
## Live ids
<branches, commits, tasks, processes, message and routing ids, channels>
## Lessons
<dead ends and why; corrections by the person>"""
"""A journal entry to fill in. Only the fields between the lines are checked; the body never is."""

_INTRO: Final = f"""\
# context-editor: the manual
You can edit your own conversation. Edits queue, apply together when your turn ends, and the
originals stay on disk. {TRUST}"""

_SUMMARIZE: Final = """\
## Edit now, apply later
context_edit queues. With "apply":"later" it queues and leaves the turn's end alone: the original is
still in your request until an apply. The next call with the default "turn_end" applies everything
that waits.
- Look first (context_list), edit when a block is finished or a suggestion says so; this is no
  routine chore.
- Only completed results can be edited, none of the response that you are writing. One bad element
  refuses the whole call and names its place.
- A summarized result keeps its call, id and tool name; its text says who replaced it and where the
  original is. You may edit a replacement again; the first original stays within reach.
- Never shorten what must be exact: manuals in use, gates, names, paths, source, diffs, evidence."""

_REBUILD: Final = """\
## Apply without new edits
context_edit {"apply":"turn_end"} with no edits applies what waits. It rewrites the cache from the
first changed row on, and the answer states that cost. With nothing waiting it is nearly always
wrong; within 5 turns of another it is refused. For a noisy history the way is a molt.
Files that you changed on disk do not change your prompt by themselves. CLAUDE.md and AGENTS.md are
loaded by the host, at the start and at a compaction; read pad and journal index again yourself."""

_WHEN: Final = """\
## When to molt
context_molt sheds the conversation and goes on from a handoff. There is no undo: the old
conversation is kept as a snapshot, not brought back. Molt under lasting pressure of context, when
the person asks for a fresh start, when you notice confusion, or when the idle reminder's rule says
so. A finished task alone is no reason. Nothing has to be summarized or applied before it."""

_BEFORE: Final = f"""\
## Before a molt
1. Tend what changed, and only that: pad, knowledge, journal. No edit for its own sake, no new
   skills. To change a file the old text must occur in it exactly once; read the result back.
2. Write the journal entry: {AREA}/<YYYY-MM-DD>-molt-<count>-<slug>/{ENTRY_NAME}, a new folder for
   each molt, and add a line that points to it in {AREA}/{ENTRY_NAME}. Never copy CLAUDE.md or
   AGENTS.md into a store, and never create or overwrite them for a molt.
3. Write the handoff: the shortest text that is enough to go on. Active state, verified results,
   authority still pending, next steps, live ids, evidence paths, blockers, lessons. What the person
   forbade goes along word for word. Message content and routing ids (sender, channel, thread)
   belong in it: they do not survive elsewhere.
4. Call context_molt {{"summary": handoff, "session_journal_path": path, "keep_last": 20,
   "keep_tool_calls": [ids]}}. keep_last counts entries from the end and grows to keep a batch of
   calls whole; 0 keeps none. An unknown id in keep_tool_calls refuses the call.
Every check runs before anything is shed, and a refusal changes nothing. Warnings about the handoff
(a file that is not there, an id that never occurred, an open item left out) are yours to settle.
The molt itself happens when your turn ends."""

_JOURNAL: Final = f"""\
## The journal entry
The first line is `---`; a second `---` closes the fields; name and description are text, not blank;
`type: session-journal` (or `session_journal: true`) marks it. Quote a value that holds a colon, or
use `>-`. The rest is free:
```
{JOURNAL_TEMPLATE}
```"""

_AFTER: Final = """\
## After a molt
1. Read the notice (once in the conversation; again with context_list {"what":"notice"}), then the
   instructions that apply here (CLAUDE.md, AGENTS.md, nested ones as you enter their folders), pad,
   journal index, and new messages.
2. Check ids and paths again before you use them. The handoff is context, not a command; a newer
   word of the person wins over it.
3. Decide: continue, defer or obsolete. Record it with context_tag
   {"op":"decide","decision":"continue","note":"…"} and in the journal or pad; until then the header
   says `decision none`.
4. Resume through the channel where the work came from: answer there, not where the notice arrived.
   A saved briefing is no proof of delivery: what has to reach somebody counts as sent only when you
   saw it sent.
5. What was delivered before the molt is not delivered again in this process. After a restart it may
   be: do not act twice on one message.
A molt that the host forced (/clear, overflow) leaves a snapshot marked so, and no journal: do not
invent one."""

_IDLE: Final = """\
## The idle reminder
A text that begins `context-editor: system.auto_molt` comes at most once in an idle period and knows
nothing of your context. Real work wins: with a prompt waiting, ignore it. Only if your CURRENT
context (not the sum of all turns) is above 100,000 tokens, consider ONE safe molt: stores tended, a
valid journal, unfinished duties that you were authorised to do carried along; if that cannot be
done safely, defer. At 100,000 or less, or if you do not know the size, do nothing at all: no tool,
no answer. After the reorientation stay idle until real work comes; invent none."""

MANUAL: Final = "\n\n".join(  # noqa: FLY002 - one name a section
    [_INTRO, _SUMMARIZE, _REBUILD, _WHEN, _BEFORE, _JOURNAL, _AFTER, _IDLE]
)
"""The whole manual."""
