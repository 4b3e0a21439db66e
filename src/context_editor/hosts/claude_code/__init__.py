"""Claude Code: its transcript as rows, its hooks, the bridge that the mod calls, and resumes made safe."""
