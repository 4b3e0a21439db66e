"""Review candidates: rows that may be worth an edit, why, and ready-made texts for them (group G).

Advice only: nothing here queues or changes anything.
"""
