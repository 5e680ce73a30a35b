"""CloudWatch over rpc-v2-cbor, the only protocol of newer SDKs, which moto 5.2.5 does not speak.

A call is translated to JSON, handed to moto, and the answer translated back. No metric logic lives here.
"""

import datetime
import io
import json
import struct

from moto.core.utils import get_service_model

FLOATS = {25: ">e", 26: ">f", 27: ">d"}
WIDTHS = ((24, 1), (25, 2), (26, 4), (27, 8))
BREAK = object()


def decode(stream):
    """One CBOR item (RFC 8949) as a Python value; tags are dropped."""
    first = stream.read(1)[0]
    major, info = first >> 5, first & 31
    if first == 0xFF:
        return BREAK
    if major == 7:
        return decode_simple(stream, info)
    count = info if info < 24 else None if info == 31 else int.from_bytes(stream.read(1 << (info - 24)), "big")
    if major in (0, 1):
        return count if major == 0 else -1 - count
    if major in (2, 3):
        parts = [stream.read(count)] if count is not None else [part if isinstance(part, bytes) else part.encode() for part in items(stream, None)]
        return b"".join(parts) if major == 2 else b"".join(parts).decode()
    if major == 4:
        return list(items(stream, count))
    if major == 5:
        flat = list(items(stream, None if count is None else count * 2))
        return dict(zip(flat[::2], flat[1::2]))
    return decode(stream)


def items(stream, count):
    """That many items, or all until the break."""
    if count is not None:
        for _ in range(count):
            yield decode(stream)
        return
    while (item := decode(stream)) is not BREAK:
        yield item


def decode_simple(stream, info):
    """Booleans, null and floats."""
    if info in (20, 21):
        return info == 21
    if info in FLOATS:
        return struct.unpack(FLOATS[info], stream.read(1 << (info - 24)))[0]
    return None


def head(major, count):
    """The first bytes of an item."""
    if count < 24:
        return bytes([major << 5 | count])
    info, width = next((info, width) for info, width in WIDTHS if count < 1 << 8 * width)
    return bytes([major << 5 | info]) + count.to_bytes(width, "big")


def encode(value, shape=None):
    """A JSON value as CBOR, typed by the model's shape."""
    kind = getattr(shape, "type_name", None)
    if value is None:
        return b"\xf6"
    if kind == "timestamp":
        if isinstance(value, str):
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
        return b"\xc1\xfb" + struct.pack(">d", value)
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if kind in ("double", "float") or isinstance(value, float):
        return b"\xfb" + struct.pack(">d", float(value))
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(encode(item, getattr(shape, "member", None)) for item in value)
    members = shape.members if kind == "structure" else {}
    pairs = ((key, item, members.get(key, getattr(shape, "value", None))) for key, item in value.items())
    return head(5, len(value)) + b"".join(encode(key) + encode(item, sub) for key, item, sub in pairs)


def translating_cbor(app):
    """Wrap the dispatcher: CBOR calls become JSON calls."""

    def call(environ, start_response):
        parts = environ.get("PATH_INFO", "").split("/")
        if not (len(parts) == 5 and parts[1] == "service" and parts[3] == "operation"):
            return app(environ, start_response)
        return translate(app, environ, start_response, parts[2], parts[4])

    return call


def translate(app, environ, start_response, service, operation):
    """One CBOR call through the JSON protocol."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    payload = json.dumps(decode(io.BytesIO(body)) if body else {}).encode()
    environ.update(
        {
            "PATH_INFO": "/",
            "wsgi.input": io.BytesIO(payload),
            "CONTENT_LENGTH": str(len(payload)),
            "CONTENT_TYPE": "application/x-amz-json-1.0",
            "HTTP_X_AMZ_TARGET": f"{service}.{operation}",
        }
    )
    got = {}
    answer = b"".join(app(environ, lambda status, headers, exc=None: got.update(status=status, headers=headers)))
    document = json.loads(answer) if answer else {}
    shape = get_service_model("cloudwatch").operation_model(operation).output_shape if got["status"].startswith("2") else None
    out = encode(document, shape)
    headers = [(key, value) for key, value in got["headers"] if key.lower() not in ("content-type", "content-length")]
    headers += [("Content-Type", "application/cbor"), ("smithy-protocol", "rpc-v2-cbor"), ("Content-Length", str(len(out)))]
    start_response(got["status"], headers)
    return [out]
