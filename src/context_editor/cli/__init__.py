"""The command line: what a person does with sessions, and the door for hooks and server."""
