"""Hosts: each turns its own events into one call on the engine and back."""
