"""S3: AES256 where encryption is unset, lifecycle rules kept word for word, sub-resources that moto mistakes for the bucket.

A bucket name is unique within one account only: accounts are separate worlds for tests that share one emulator.
A name taken by somebody else is ordered through the control endpoint.
"""

import json
import re
import uuid
import xml.etree.ElementTree as ElementTree
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from moto.iam.models import iam_backends
from moto.s3.exceptions import BucketAlreadyExists, MalformedXML, MissingBucket, S3ClientError
from moto.s3.models import S3Backend, s3_backends
from moto.s3.responses import S3Response

from .patching import override
from .settings import SETTINGS

XML = {"Content-Type": "application/xml"}
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# Sub-resources that moto takes for the bucket itself, with the root element and the error of an absent one.
KEPT_BY_ID = ("metrics", "analytics", "intelligent-tiering")
REFUSED = ("metadataTable", "metadataConfiguration", "abac")
ELEMENTS = {"metrics": "MetricsConfiguration", "analytics": "AnalyticsConfiguration", "intelligent-tiering": "IntelligentTieringConfiguration"}
NAME = re.compile(r"^(?!xn--)(?!.*-s3alias$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
ElementTree.register_namespace("", NAMESPACE)


def error(status, code, message):
    """An error reply."""
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return status, dict(XML), body


# === Accounts are worlds of their own ===


@override(S3Backend)
def create_bucket(previous, self, bucket_name, *args, **kwargs):
    if bucket_name in self.buckets:
        raise BucketAlreadyExists(bucket=bucket_name)
    s3_backends.bucket_accounts.pop(bucket_name, None)
    return previous(bucket_name, *args, **kwargs)


@override(S3Backend)
def get_bucket(previous, self, bucket_name):
    if bucket_name in self.buckets:
        return self.buckets[bucket_name]
    raise MissingBucket(bucket=bucket_name)


def strangers(backend):
    """Bucket names that belong to other accounts, as a test ordered."""
    return SETTINGS.at(backend.account_id, "us-east-1").stranger_buckets


# === Dispatch ===


@override(S3Response)
def _bucket_response(previous, self, request, *args):
    name = self.parse_bucket_name_from_url(request, self.uri)
    # moto's own `querystring` holds the headers where there is no query.
    query, method = set(parse_qs(self.parsed_url.query, keep_blank_values=True)), request.method
    if name in strangers(self.backend):
        return of_a_stranger(method, query)
    for kind in KEPT_BY_ID:
        if kind in query:
            return kept_by_id(self, kind, name, method)
    if "requestPayment" in query:
        return request_payment(self, name, method)
    if "inventory" in query and method == "DELETE":
        self.backend.get_bucket(name).inventory_configs = {}
        return 204, {}, ""
    for kind in REFUSED:
        if kind in query:
            return error(501, "NotImplemented", f"the emulator does not have {kind}")
    if "tagging" in query and method == "GET":
        return tagging(self, name)
    if "lifecycle" in query and method in ("PUT", "GET"):
        return lifecycle(previous, self, request, args, name)
    if method == "PUT" and not query:
        return create(previous, self, request, args, name)
    return previous(request, *args)


def create(previous, response, request, args, name):
    """A new bucket carries the tags of the request, which moto drops."""
    if not NAME.match(name):
        return error(400, "InvalidBucketName", "The specified bucket is not valid.")
    is_new, text = name not in response.backend.buckets, text_of(response)
    reply = previous(request, *args)
    if is_new and name in response.backend.buckets and text:
        found = ElementTree.fromstring(text).iterfind("s3:Tags/s3:Tag", {"s3": NAMESPACE})
        tags = {tag.findtext(f"{{{NAMESPACE}}}Key"): tag.findtext(f"{{{NAMESPACE}}}Value") or "" for tag in found}
        response.backend.put_bucket_tagging(name, tags)
    return reply


@override(S3Response)
def get_bucket_versioning(previous, self):
    """Whether versions are kept; moto names the root after the call, which the Rust SDK refuses."""
    status = self.backend.get_bucket_versioning(self.bucket_name)
    inner = f"<Status>{status}</Status>" if status else ""
    return 200, dict(XML), f'<VersioningConfiguration xmlns="{NAMESPACE}">{inner}</VersioningConfiguration>'


def of_a_stranger(method, query):
    """What one hears of a bucket that belongs to somebody else."""
    if method == "HEAD":
        return 403, {}, ""
    if method == "PUT" and not query:
        return error(409, "BucketAlreadyExists", "The requested bucket name is not available. Please select a different name.")
    return error(403, "AccessDenied", "Access Denied")


def kept_by_id(response, kind, name, method):
    """Configurations with an id, kept word for word."""
    kept = response.backend.get_bucket(name).__dict__.setdefault("kept", {}).setdefault(kind, {})
    identifier = response._get_param("id")
    if method == "PUT":
        kept[identifier] = text_of(response)
        return 200, {}, ""
    if identifier is None:
        element = ELEMENTS[kind]
        inner = "".join(re.sub(r"<\?xml[^>]*\?>", "", body) for body in kept.values())
        return 200, dict(XML), f"<List{element}sResult><IsTruncated>false</IsTruncated>{inner}</List{element}sResult>"
    if identifier not in kept:
        return error(404, "NoSuchConfiguration", "The specified configuration does not exist.")
    if method == "DELETE":
        del kept[identifier]
        return 204, {}, ""
    return 200, dict(XML), kept[identifier]


def request_payment(response, name, method):
    """Who pays: kept word for word."""
    bucket = response.backend.get_bucket(name)
    if method == "PUT":
        bucket.request_payment = text_of(response)
        return 200, {}, ""
    default = "<RequestPaymentConfiguration><Payer>BucketOwner</Payer></RequestPaymentConfiguration>"
    return 200, dict(XML), getattr(bucket, "request_payment", default)


def tagging(response, name):
    """The tags of a bucket; moto leaves out an empty value."""
    tags = response.backend.get_bucket_tagging(name)["Tags"]
    if not tags:
        return error(404, "NoSuchTagSet", "The TagSet does not exist")
    inner = "".join(f"<Tag><Key>{escape(item['Key'])}</Key><Value>{escape(item['Value'] or '')}</Value></Tag>" for item in tags)
    return 200, dict(XML), f'<Tagging xmlns="{NAMESPACE}"><TagSet>{inner}</TagSet></Tagging>'


def text_of(response):
    """The request's body as text."""
    return response.body.decode() if isinstance(response.body, bytes) else response.body


# === Lifecycle ===


def lifecycle(previous, response, request, args, name):
    """Let moto check the rules, then keep the document: moto forgets some of its members."""
    bucket = response.backend.get_bucket(name)
    if request.method == "GET":
        if not bucket.rules or not getattr(bucket, "lifecycle_text", None):
            return previous(request, *args)
        size = getattr(bucket, "lifecycle_minimum", "all_storage_classes_128K")
        return 200, {**XML, "x-amz-transition-default-minimum-object-size": size}, bucket.lifecycle_text
    document = ElementTree.fromstring(text_of(response))
    check_lifecycle(document)
    result = previous(request, *args)
    bucket.lifecycle_text = '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, encoding="unicode")
    bucket.lifecycle_minimum = response.headers.get("x-amz-transition-default-minimum-object-size") or "all_storage_classes_128K"
    return result


def tag(name):
    """An element name in S3's namespace, whatever the client sent."""
    return "{*}" + name


def check_lifecycle(document):
    """What S3 refuses and moto lets pass; gives rules without one an ID."""
    rules = document.findall(tag("Rule"))
    if not rules:
        raise MalformedXML()
    if len(rules) > 1000:
        raise S3ClientError("InvalidRequest", "The number of lifecycle rules must not exceed the allowed limit of 1000 rules.")
    seen = set()
    for rule in rules:
        identifier = rule.find(tag("ID"))
        if identifier is None or not identifier.text:
            prefix = rule.tag.rpartition("}")[0]
            identifier = ElementTree.Element(f"{prefix}}}ID" if prefix else "ID") if identifier is None else identifier
            identifier.text = uuid.uuid4().hex
            if rule.find(tag("ID")) is None:
                rule.insert(0, identifier)
        if identifier.text in seen:
            raise S3ClientError("InvalidArgument", "Rule ID must be unique. Found same ID for more than one rule.")
        seen.add(identifier.text)
        check_rule(rule)


def check_rule(rule):
    """One rule: an action, positive days, no filter by tag beside aborting uploads or expiring markers."""
    days = [element for element in rule.iter() if element.tag.rpartition("}")[2] in ("Days", "NoncurrentDays", "DaysAfterInitiation")]
    if any(int(element.text) <= 0 for element in days if not in_transition(rule, element)):
        raise S3ClientError("InvalidArgument", "'Days' for Expiration action must be a positive integer")
    actions = ("Expiration", "Transition", "NoncurrentVersionExpiration", "NoncurrentVersionTransition", "AbortIncompleteMultipartUpload")
    if not any(rule.find(tag(action)) is not None for action in actions):
        raise S3ClientError("InvalidRequest", "At least one action needs to be specified in a rule.")
    tagged = any(element.tag.rpartition("}")[2] == "Tag" for element in rule.iter())
    if tagged and rule.find(tag("AbortIncompleteMultipartUpload")) is not None:
        raise S3ClientError("InvalidRequest", "AbortIncompleteMultipartUpload cannot be specified with Tags.")
    if rule.find(tag("Filter")) is None and rule.find(tag("Prefix")) is None:
        raise MalformedXML()


def in_transition(rule, element):
    """Transitions may be at zero days."""
    return any(element in list(parent) for parent in rule.findall(tag("Transition")))


# === Encryption ===


DEFAULT_ENCRYPTION = {"Rule": {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": "false"}}


@override(S3Backend)
def get_bucket_encryption(previous, self, bucket_name):
    # Every bucket is encrypted since 2023, and deleting the configuration brings the default back.
    return previous(bucket_name) or DEFAULT_ENCRYPTION


# === Today's defaults of a new bucket ===

OPEN_NO_MORE = {"BlockPublicAcls": "true", "IgnorePublicAcls": "true", "BlockPublicPolicy": "true", "RestrictPublicBuckets": "true"}


@override(S3Backend, "create_bucket")
def create_bucket_with_defaults(previous, self, bucket_name, *args, **kwargs):
    bucket = previous(bucket_name, *args, **kwargs)
    self.put_public_access_block(bucket_name, dict(OPEN_NO_MORE))
    bucket.ownership_rule = "BucketOwnerEnforced"
    return bucket


# === Policy ===


@override(S3Backend)
def put_bucket_policy(previous, self, bucket_name, policy):
    try:
        statements = json.loads(policy)["Statement"]
    except (ValueError, KeyError, TypeError) as broken:
        raise S3ClientError("MalformedPolicy", "Policies must be valid JSON and the first byte must be '{'") from broken
    roles = {role.arn for role in iam_backends[self.account_id][self.partition].roles.values()}
    for statement in statements if isinstance(statements, list) else [statements]:
        for principal in principals_of(statement):
            # Only principals of the own account can be looked up here.
            if principal.startswith(f"arn:aws:iam::{self.account_id}:role/") and principal not in roles:
                raise S3ClientError("MalformedPolicy", "Invalid principal in policy")
        if "Resource" not in statement and "NotResource" not in statement:
            raise S3ClientError("MalformedPolicy", "Missing required field Resource")
    return previous(bucket_name, policy)


def principals_of(statement):
    """The AWS principals that a statement names."""
    principal = statement.get("Principal", {})
    named = principal.get("AWS", []) if isinstance(principal, dict) else []
    return [named] if isinstance(named, str) else named
