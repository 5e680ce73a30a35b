"""The few helpers that all services share: replacing a method, raising an error, remembering things per account.

No service knowledge lives here.
"""

import functools
import uuid
from collections import defaultdict


def override(cls, name=None):
    """Decorator: replace a method of `cls`; the old one is handed in as the first argument."""

    def wrap(function):
        attribute = name or function.__name__
        previous = getattr(cls, attribute)

        @functools.wraps(previous)
        def method(self, *args, **kwargs):
            return function(functools.partial(previous, self), self, *args, **kwargs)

        setattr(cls, attribute, method)
        return function

    return wrap


def add(cls):
    """Decorator: add a method that moto does not have (or replace it outright)."""

    def wrap(function):
        setattr(cls, function.__name__, function)
        return function

    return wrap


class Store:
    """A value per (account, region), made on first use: state of services that moto does not have at all."""

    def __init__(self, make):
        self._values = defaultdict(make)

    def of(self, backend):
        """The value for the account and region of a moto backend or response."""
        account = getattr(backend, "account_id", None) or backend.current_account
        region = getattr(backend, "region_name", None) or backend.region
        return self._values[(account, region)]

    def at(self, account, region):
        """The value for an account and region by name."""
        return self._values[(account, region)]

    def forget(self, account):
        """Drop what an account has, in every region."""
        for key in [key for key in self._values if key[0] == account]:
            del self._values[key]


STORES = []


def store(make):
    """A registered `Store`, emptied when the control endpoint forgets an account."""
    new = Store(make)
    STORES.append(new)
    return new


def new_id(prefix, length=17):
    """An identifier as AWS spells them: a prefix and hexadecimal digits."""
    return f"{prefix}-{uuid.uuid4().hex[:length]}"
