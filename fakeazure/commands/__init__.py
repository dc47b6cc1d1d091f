"""The subcommands of `fakeazure`, one module each, imported only when they are asked for."""
