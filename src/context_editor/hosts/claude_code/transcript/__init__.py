"""Claude Code's transcript file, read as the pieces of a conversation."""

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.lines import Loads, well_formed
from context_editor.hosts.claude_code.transcript.live import LiveTranscript
from context_editor.hosts.claude_code.transcript.reader import TranscriptReader
from context_editor.hosts.claude_code.transcript.source import source_label
from context_editor.hosts.claude_code.transcript.usage import UsageSample

__all__ = [
    "Entry",
    "LiveTranscript",
    "Loads",
    "TranscriptReader",
    "UsageSample",
    "source_label",
    "well_formed",
]
