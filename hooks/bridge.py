"""The mod asks the engine: the running server answers, which has read the session; else this process does.

Run by `bin/context-editor bridge EVENT` as `python -I -S`: without the person's paths, and without `site`.
"""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0] + "/src")

if __name__ == "__main__":
    from context_editor.hosts.claude_code.quick import bridge

    given = bridge(sys.argv[1]) if sys.argv[1:] else b""
    if given or not sys.argv[1:]:
        import io
        import site

        site.main()  # what the interpreter was started without
        from context_editor.cli.main import main

        sys.stdin = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
        sys.exit(main(["bridge", *sys.argv[1:]]))
