"""Make the shop's database in the folder that SHOP_FOLDER names, and serve it: `python -m tests.browser.shop PORT`."""

from __future__ import annotations

import os
import sys
from decimal import Decimal

import django
from django.core.management import call_command


def main(port: str) -> None:
    """Serve until killed."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.browser.shop.settings"
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    stock()
    call_command("runserver", f"127.0.0.1:{port}", use_reloader=False, verbosity=0)


def stock() -> None:
    """One book, and one country to send it to."""
    from django.contrib.sites.models import Site
    from oscar.apps.address.models import Country
    from oscar.apps.catalogue.models import Category, Product, ProductClass
    from oscar.apps.partner.models import Partner, StockRecord

    Site.objects.get_or_create(id=1, defaults={"domain": "127.0.0.1", "name": "shop"})
    if Product.objects.exists():
        return
    Country.objects.create(
        iso_3166_1_a2="GB",
        iso_3166_1_a3="GBR",
        iso_3166_1_numeric="826",
        printable_name="United Kingdom",
        name="United Kingdom",
        is_shipping_country=True,
    )
    kind = ProductClass.objects.create(name="Book", requires_shipping=True, track_stock=False)
    book = Product.objects.create(title="The Flight Recorder", product_class=kind, upc="1", is_public=True)
    StockRecord.objects.create(
        product=book,
        partner=Partner.objects.create(name="Warehouse"),
        partner_sku="1",
        price_currency="GBP",
        price=Decimal("9.99"),
        num_in_stock=1000,
    )
    Category.add_root(name="Books").product_set.add(book)


if __name__ == "__main__":
    main(sys.argv[1])
