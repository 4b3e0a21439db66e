"""The retention policy: what goes when the context is full, and what stands there then (group L).

It works on the same edits as the agent: archived first, pairs kept whole, a person's words never
touched.
"""
