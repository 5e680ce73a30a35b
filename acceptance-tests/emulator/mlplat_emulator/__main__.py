"""Starts the emulator; ends when its standard input does, so a killed test run leaves no process behind."""

import argparse
import os
import sys
import threading

# Loading moto's 1,300 images costs a second per account and nothing here reads them.
os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")


def main():
    """Parse the arguments, patch moto, serve until told otherwise."""
    parser = argparse.ArgumentParser(prog="mlplat_emulator")
    parser.add_argument("-H", "--host", default="127.0.0.1")
    parser.add_argument("-p", "--port", type=int, default=0)
    parser.add_argument("--keep-running", action="store_true", help="do not end with standard input")
    args = parser.parse_args()
    if not args.keep_running:
        threading.Thread(target=end_with_stdin, daemon=True).start()

    from .server import serve

    serve(args.host, args.port)


def end_with_stdin():
    """Block until the parent closes our standard input, which its death does too."""
    sys.stdin.buffer.read()
    os._exit(0)


main()
