"""Every error that this package raises on purpose.

ContextEditorError
├── RefusedError            the request breaks a rule; nothing was changed and the text names the way out
├── StateError              a session's state file
│   ├── StateUnreadableError    present, but cannot be parsed or is of a newer schema; it is left as it is
│   └── StateBusyError          another process held the lock for the whole wait
├── ArchiveError            an original could not be written and read back; the conversation is unchanged
├── TranscriptError         the host's conversation could not be read or is not what was expected
└── SettingsError           a setting is unknown or has a value that is not allowed
"""


class ContextEditorError(Exception):
    """The base of every error raised on purpose; its text is fit to show to a person."""


class RefusedError(ContextEditorError):
    """A request that breaks a rule. Nothing was changed."""


class StateError(ContextEditorError):
    """A session's state file cannot be used now."""


class StateUnreadableError(StateError):
    """The state file is there, but cannot be understood. It is left as it is."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.path} cannot be read: {self.reason}. It is left as it is; "
            f"move it away to start with an empty state."
        )


class StateBusyError(StateError):
    """Another process held the session's lock for the whole wait."""

    def __init__(self, path: str, waited_s: float) -> None:
        super().__init__(path, waited_s)
        self.path = path
        self.waited_s = waited_s

    def __str__(self) -> str:
        return f"{self.path} was locked for {self.waited_s:g} s by another process. Nothing was changed; try again."


class ArchiveError(ContextEditorError):
    """An original could not be written to the archive and read back."""


class TranscriptError(ContextEditorError):
    """The host's conversation cannot be read, or does not match what the host handed over."""


class SettingsError(ContextEditorError):
    """A setting is unknown or has a value that is not allowed."""
