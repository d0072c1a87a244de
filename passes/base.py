"""What a pass is: a frozen dataclass whose fields are its options."""

import json
import re
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self, dataclass_transform

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import LEVEL
from dovetail.dialects.reading import Module
from dovetail.errors import OptionError, PassError

_REGISTRY: dict[str, type["Pass"]] = {}


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Pass:
    """A rewrite of a whole module.

    Subclasses give `name="kebab-case"` in the class statement, and `runs_at` if they run at one level only. They
    declare their options as fields with defaults of type bool, int, float or str, and implement `run`. The IR is valid
    before and after `run`, not necessarily during it.
    """

    name: ClassVar[str]
    runs_at: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str, runs_at: str = "", **kwargs):
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True)(cls)
        if name in _REGISTRY:
            raise OptionError(f"pass '{name}' is defined twice: {_REGISTRY[name].__qualname__} and {cls.__qualname__}")
        cls.name, cls.runs_at = name, runs_at
        _REGISTRY[name] = cls

    def run(self, module: ir.Module) -> bool | None:
        """Rewrites `module` in place; raises `PassError` (see `fail`) where it can't.

        Returns False where it left all as it was, as checks do: the module is not verified again then.
        """
        raise NotImplementedError

    def check_level(self, module: ir.Module) -> None:
        """Raises `PassError` if `module` states another level than the one that the pass runs at."""
        attributes = module.operation.attributes
        stated = str(attributes[LEVEL]) if LEVEL in attributes else ""
        if self.runs_at and stated and stated != f'"{self.runs_at}"':
            raise fail(module.operation, f'is at level {stated}, but the pass runs at "{self.runs_at}"')

    @classmethod
    def summary(cls) -> str:
        """The first line of the class docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]

    @classmethod
    def described_options(cls) -> list[str]:
        """One line for each option: name, type and default."""
        listed = [(f.name.replace("_", "-"), getattr(f.type, "__name__", f.type), f.default) for f in fields(cls)]
        return [f"{name}=<{type_}> (default: {_print(default) or 'empty'})" for name, type_, default in listed]

    @classmethod
    def parse(cls, options: dict[str, str]) -> Self:
        """Makes the pass from textual options, `-` standing for `_`.

        Raises:
            OptionError: for an option that does not exist or a value that does not fit, naming what would.
        """
        known = {field.name: field for field in fields(cls)}
        values = {}
        for option, text in options.items():
            field = known.get(option.replace("-", "_"))
            if field is None:
                raise unknown_option(f"pass '{cls.name}'", option, list(known))
            values[field.name] = _convert(cls.name, option, text, field.type)
        return cls(**values)

    def __str__(self) -> str:
        """The pass as it stands in a textual pipeline, options that differ from their default included."""
        options = [
            f"{field.name.replace('_', '-')}={_print(getattr(self, field.name))}"
            for field in fields(self)
            if field.default is MISSING or getattr(self, field.name) != field.default
        ]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


def registry() -> dict[str, type[Pass]]:
    """Every pass defined so far, by name."""
    return dict(sorted(_REGISTRY.items()))


def fail(op: ir.Operation | ir.OpView, message: str) -> PassError:
    """The error for a pass to raise: `message` with the op's location and name. The runner says which pass it is."""
    return PassError(f"{op.location}: '{op.operation.name}' op {message}")


def named_regions(module: ir.Module, names: str) -> dict[str, func.FuncOp]:
    """The regions of `module` that an option names, joined by `+`; raises PassError for one that it does not have."""
    found = Module(module).regions
    wanted = names.split("+") if names else []
    for name in wanted:
        if name not in found:
            known = ", ".join(f"@{region}" for region in found) or "none"
            raise fail(module.operation, f"has no region '@{name}', it has {known}")
    return {name: found[name] for name in wanted}


def unknown_option(owner: str, option: str, known: list[str]) -> OptionError:
    """The error to raise for an `option` that `owner`, a pass or a pipeline, does not have."""
    return OptionError(f"{owner} has no option '{option}', {_valid(known)}")


def unreadable_option(owner: str, text: str, known: list[str]) -> OptionError:
    """The error to raise for the `text` of an option that has no value."""
    return OptionError(f"{owner}: can't read option '{text}', expected name=value; {_valid(known)}")


def _valid(options: list[str]) -> str:
    listed = ", ".join(repr(name.replace("_", "-")) for name in options)
    return f"valid are {listed}" if options else "it takes none"


def _convert(name: str, option: str, text: str, type_: Any) -> bool | int | float | str:
    if type_ is bool:
        if text not in ("true", "false"):
            raise OptionError(f"pass '{name}': option '{option}' expects true or false, got '{text}'")
        return text == "true"
    try:
        return type_(text)
    except ValueError:
        expected = {int: "an integer", float: "a number"}.get(type_, type_.__name__)
        raise OptionError(f"pass '{name}': option '{option}' expects {expected}, got '{text}'") from None


def _print(value) -> str:
    """`value` as an option's text; what could be taken for the pipeline's own syntax stands in quotes."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if re.fullmatch(r"[\w.+-]*", text) else json.dumps(text, ensure_ascii=False)
