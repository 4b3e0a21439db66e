"""Edits: what a model may ask for, what is admitted to the queue, and in which words it stands afterwards."""
