"""moto with the gaps filled in that a machine-learning platform meets: an AWS account on one loopback port.

Every module here completes one service by adding methods to moto's own classes; none knows the provider.
moto parses requests and writes replies from botocore's models, so an operation is one method.
Start it with `python -m mlplat_emulator -H 127.0.0.1 -p 0`.
"""
