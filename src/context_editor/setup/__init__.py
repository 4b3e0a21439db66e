"""Set-up: where the product's own environment lives, how it is made, and what starts in it.

Standard library only, and nothing of the product outside this package: it runs on the person's
own Python, before anything is installed.
"""
