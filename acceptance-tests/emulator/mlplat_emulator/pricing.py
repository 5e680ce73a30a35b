"""Pricing: GetProducts for EC2 instance types, at made-up but stable prices.

moto does not have the service at all, so it is answered before moto is asked.
"""

import json

TARGET = "AWSPriceListService."

HOURLY = {
    "g4dn.xlarge": 0.526, "g5.xlarge": 1.006, "g5.2xlarge": 1.212, "g5.12xlarge": 5.672, "g5.48xlarge": 16.288,
    "g6.xlarge": 0.8048, "g6.12xlarge": 4.6016, "g6e.xlarge": 1.861, "g6e.12xlarge": 10.49264, "p4d.24xlarge": 21.957642,
    "p5.48xlarge": 55.04, "p5en.48xlarge": 63.296, "trn1.32xlarge": 21.5,
}  # fmt: skip


def answering(app):
    """Answer price-list calls here, pass everything else on."""

    def call(environ, start_response):
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        if not target.startswith(TARGET):
            return app(environ, start_response)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if target != f"{TARGET}GetProducts":
            raise NotImplementedError(target)
        payload = json.dumps(get_products(json.loads(body or b"{}"))).encode()
        headers = [("Content-Type", "application/x-amz-json-1.1"), ("Content-Length", str(len(payload)))]
        start_response("200 OK", headers)
        return [payload]

    return call


def get_products(params):
    """The reply of GetProducts for the instance type and region that the filters name."""
    filters = {item["Field"]: item["Value"] for item in params.get("Filters", [])}
    wanted = filters.get("instanceType")
    region = filters.get("regionCode", "us-east-1")
    prices = [product(name, region, price) for name, price in HOURLY.items() if wanted in (None, name)]
    return {"FormatVersion": "aws_v1", "PriceList": prices}


def product(instance_type, region, price):
    """One entry of the price list: a JSON document inside a string, as AWS sends it."""
    dimension = {"unit": "Hrs", "pricePerUnit": {"USD": f"{price:.10f}"}, "description": f"{instance_type} On Demand"}
    document = {
        "product": {
            "productFamily": "Compute Instance",
            "sku": instance_type.upper().replace(".", ""),
            "attributes": {"instanceType": instance_type, "regionCode": region, "operatingSystem": "Linux", "tenancy": "Shared"},
        },
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {"term": {"priceDimensions": {"dimension": dimension}}}},
    }
    return json.dumps(document)
