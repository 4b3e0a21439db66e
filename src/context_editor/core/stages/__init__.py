"""Stages of work: what is open, which blocks were closed, which one waits, and how all of it survives an apply."""
