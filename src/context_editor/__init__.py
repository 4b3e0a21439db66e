"""context-editor: a model edits its own conversation, in place, while it works."""
