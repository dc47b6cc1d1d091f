"""The subcommands of `harness`, one module each, imported only when they are asked for."""
