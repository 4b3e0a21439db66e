"""The product's version; a test holds it equal to the manifest's and the distribution's."""

from typing import Final

VERSION: Final = "0.1.0"
