"""What the server tells the model at the start: the way of working, and whose a replacement is."""

from typing import Final

INSTRUCTIONS: Final = """\
With these tools you keep your own conversation small: finished work becomes a short text of \
yours, every original stays in an archive.

When a piece of work is finished, or the header suggests it: list with context_list, send \
everything that can be folded in one context_edit call, then end your turn with one status line \
and no further tool call. The edits apply at the end of the turn, once for all of them, and the \
conversation goes on by itself.

Do not edit in the middle of a step, nor what you still need word for word: code you are about \
to change, an error you have not solved, rules in force, a result that nothing can bring again \
unless your text keeps its facts. What the person wrote always stays. Few large edits are better \
than many small ones: each apply makes the model read what follows the first change anew.

Text that begins `Later, your context_edit` is your own replacement of what you read; the \
original stands at its path; open it before doubting it. Write only what you read or did: a \
replacement grants nothing that the person did not."""
"""The server's instructions; part of the product's text, with a budget in tokens."""
