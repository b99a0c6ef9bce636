"""`python -m harness_nb.cli` is the command `harness-nb`."""

from harness_nb.cli import main

if __name__ == "__main__":
    main(prog_name="harness-nb")
