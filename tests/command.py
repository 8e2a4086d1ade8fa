"""Run a command in this process."""

from hushpath.cli import run


def call(capsys, *arguments):
    """Run ``hushpath ARGUMENTS``; return its exit code and what it wrote to standard output and standard error."""
    capsys.readouterr()
    code = run([str(one) for one in arguments])
    out, err = capsys.readouterr()
    return code, out, err
