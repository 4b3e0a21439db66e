"""The pure core: decisions over plain values, without files, clock, environment or third-party packages."""
