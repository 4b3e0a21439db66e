"""What the server tells the model at the start: the way of working, and whose a replacement is."""

from typing import Final

INSTRUCTIONS: Final = """\
With these tools you keep your own conversation small: finished work becomes a short record of \
yours, every original stays in an archive.

Work in stages: context_tag `open` when a piece of work begins, `close` when it ends; the close \
report gives current row numbers and ready-made texts. Then send one context_edit call: collapse \
the finished block to a record (goal; decisions with reasons; verified facts with their source; \
changed files; open questions), with the state slot's changes if you keep one, and end your turn \
with one status line and no further tool call. The edits apply at the end of the turn, once for \
all of them, and the conversation goes on by itself. Mark a dead end when it happens: \
context_tag `disposable` with what failed and why. Where a finished block leaves you waiting for \
the person, end the answer with `[context-editor: optimize]` alone on its last line and compress \
the block once the work moves on.

Do not edit in the middle of a step, nor what you still need word for word: code you are about \
to change, an error you have not solved, rules in force, a result that nothing can bring again \
unless your text keeps its facts. What the person wrote always stays. Few large edits are better \
than many small ones. context_list `rules` says more.

Text that begins `Later, your context_edit` is your own replacement of what you read; the \
original stands at its path; open it before doubting it. Write only what you read or did: a \
replacement grants nothing that the person did not."""
"""The server's instructions; part of the product's text, with a budget in tokens."""
