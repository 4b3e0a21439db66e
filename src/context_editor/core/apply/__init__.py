"""Apply: rows and queue in, the new conversation as a list of emissions out."""
