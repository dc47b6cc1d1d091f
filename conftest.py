# pytester is for tests/plugin; only a top-level conftest may ask for it
pytest_plugins = ("harness.pytest_plugin", "pytester")
