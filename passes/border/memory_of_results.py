"""Which results of `@call` lie in memory that the border made: by that, versions of wrapper subclasses are checked."""

from torch_mlir.dialects import func

from dovetail.dialects.attributes import ARGUMENTS, RESULTS
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, made_by, referred, returned


def memory_of_results(module: Module) -> dict[int, int]:
    """For each result of `@call`, by number, the result of a border that it lies in the memory of.

    Those that lie elsewhere are left out, and all where nothing that the caller passes or gets is a wrapper.
    """
    if Role.CALL not in module or not any(name in module.call.attributes for name in (ARGUMENTS, RESULTS)):
        return {}
    roots = enumerate(map(memory_root, returned(module.call)))
    made = ((number, root, made_by(root, func.CallOp.OPERATION_NAME)) for number, root in roots)
    return {number: root.result_number for number, root, op in made if op and referred(op, "callee") in module.borders}
