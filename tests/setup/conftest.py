"""What the tests of the set-up are given: a copy of the product on a machine of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.setup.product import Product

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def bare(tmp_path: Path) -> Generator[Product]:
    """A copy of the product on a machine without uv."""
    product = Product.on(tmp_path / "machine")
    yield product
    product.end()


@pytest.fixture
def product(bare: Product) -> Product:
    """A copy of the product, uv on its machine, and no environment yet."""
    return bare.with_uv()
