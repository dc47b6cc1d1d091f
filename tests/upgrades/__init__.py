"""A world that was upgraded answers as a world that began there, over drawn manifests; `python -m tests.upgrades` counts."""
