"""The HTTP front: moto's dispatcher, behind it the patched services, before it the control endpoint.

Nothing here knows a service; `SERVICES` only names the modules whose import patches moto.
"""

import importlib
import json
import os
import sys

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

SERVICES = (
    "autoscaling",
    "cloudwatch",
    "ec2_capacity",
    "ec2_templates",
    "efs",
    "eks_access",
    "eks_addons",
    "eks_clusters",
    "eks_nodegroups",
    "iam",
    "quotas",
    "s3",
    "ssm",
)


class RequestHandler(MotoRequestHandler):
    """Keeps connections open and the log short: one line for a request that failed inside the emulator."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code="-", size="-"):
        """Log only what is the emulator's own fault."""
        if str(code).startswith("5"):
            super().log_request(code, size)


def application():
    """The WSGI application with every service patched."""
    for name in SERVICES:
        importlib.import_module(f".{name}", __package__)
    from . import control, pricing
    from .cloudwatch import translating_cbor

    # Debug mode lets an exception out to the handler, which prints it and drops the connection: a test then
    # sees a transport failure. Answer as AWS does instead; see `answering_failures`.
    dispatcher = pricing.answering(translating_cbor(DomainDispatcherApplication(create_backend_app)))
    return control.middleware(answering_failures(dispatcher))


def answering_failures(app):
    """Turn an unimplemented operation or a crash into an AWS error with a code, and log it."""

    def call(environ, start_response):
        try:
            return app(environ, start_response)
        except Exception as error:  # whatever it is, the client must get an answer it can read
            print(f"mlplat_emulator: {environ['REQUEST_METHOD']} {environ['PATH_INFO']}: {error!r}", file=sys.stderr, flush=True)
            return failure(environ, start_response, error)

    return call


def failure(environ, start_response, error):
    """A 501 in JSON or XML, whichever the caller can parse; clients do not retry a 501."""
    code, message = "NotImplemented", f"the emulator cannot do this: {error}"
    form = environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")
    if form or "/s3/aws4_request" in environ.get("HTTP_AUTHORIZATION", ""):
        text = message.replace("&", "&amp;").replace("<", "&lt;")
        body = f"<Error><Code>{code}</Code><Message>{text}</Message></Error>"
        body = f"<Response><Errors>{body}</Errors></Response>" if form else body
        kind = "text/xml"
    else:
        body, kind = json.dumps({"__type": code, "message": message}), "application/json"
    payload = body.encode()
    start_response(
        "501 Not Implemented",
        [("Content-Type", kind), ("x-amzn-ErrorType", code), ("Content-Length", str(len(payload)))],
    )
    return [payload]


def serve(host, port):
    """Listen on a loopback port and say which, in one line on standard error."""
    server = make_server(host, port, application(), threaded=True, request_handler=RequestHandler)
    server.daemon_threads = True
    os.environ["MOTO_PORT"] = str(server.port)
    print(f"mlplat_emulator listening on http://{host}:{server.port}", file=sys.stderr, flush=True)
    server.serve_forever()
