"""The session's files: locked state, archive, applies. The only folder that writes below the data folder."""
