"""The only door to the decisions: one class of use cases over a session (`engine.session.Engine`)."""
