"""`dovetail-run`: runs an artifact, or a module, on inputs. docs/commands.md describes it."""
