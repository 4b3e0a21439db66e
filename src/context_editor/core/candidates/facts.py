"""What the disk says about the files that rows name: gathered by the engine, read by decisions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from posixpath import join, normpath

from context_editor.core.candidates.calls import PathName, path_name
from context_editor.core.conversation import Conversation
from context_editor.core.rows import RowKind


@dataclass(frozen=True, slots=True)
class FileFact:
    """One file or folder as it is now.

    Attributes:
        path: Its real path: `.`, `..` and links resolved, and the case as stored where the file
            system does not tell cases apart. The file's identity (rule G11), also for a file that
            is gone.
        exists: Whether it is there.
        is_lasting: Whether it lies inside the project and under no temp folder, so that it may be
            counted on.
        modified_s: When it was last changed, in seconds since the epoch, UTC; 0 when unknown.
    """

    path: str
    exists: bool = True
    is_lasting: bool = True
    modified_s: float = 0.0


@dataclass(frozen=True)
class DiskFacts:
    """Everything that the engine found for the paths of `paths_named`.

    Attributes:
        files: What stands there, by the path as it is named.
        contents: The text of files, by real path, read when it is asked for; what cannot be read as
            text is left out.
    """

    files: Mapping[PathName, FileFact] = field(default_factory=dict[PathName, FileFact])
    contents: Mapping[str, str] = field(default_factory=dict[str, str])

    def identity(self, name: PathName) -> str:
        """The real path of a file; resolved by its words alone where nothing was gathered."""
        try:
            return self.files[name].path
        except KeyError:
            return _by_words(name)


@lru_cache(maxsize=10_000)
def _by_words(name: PathName) -> str:
    return normpath(join(name.cwd, name.path))


def paths_named(conversation: Conversation) -> tuple[PathName, ...]:
    """Every path that a listed tool row names, each once: what the engine is to look up."""
    found = (path_name(row) for row in conversation.rows if row.kind is RowKind.TOOL)
    return tuple(dict.fromkeys(name for name in found if name))
