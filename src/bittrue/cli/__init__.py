"""The command line of bittrue."""
