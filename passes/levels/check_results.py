"""What `verify-level` asks of the results of `@call`: that they say in which memory of the border's they lie."""

from dovetail.dialects.attributes import IN_RESULT
from dovetail.dialects.reading import Module, Role, result_facts
from dovetail.dialects.statements.stated import named
from dovetail.passes.base import fail
from dovetail.passes.border.memory_of_results import memory_of_results


def check_results(module: Module, is_stated: bool) -> None:
    """Raises PassError where a change of a wrapper subclass would go unseen before the backward that needs its memory.

    Unless it `is_stated`, nothing may be said yet.
    """
    if Role.CALL not in module:
        return
    said = [named(facts, IN_RESULT) for facts in result_facts(module.call)]
    if not is_stated and not any(said):
        return
    true = memory_of_results(module)
    for number, got in enumerate(said):
        expected = f"{true[number]} : i64" if number in true else "none"
        if str(got or "none") != expected:
            raise fail(module.call, f"expects '{IN_RESULT}' of result {number} to be {expected}, got {got or 'none'}")
