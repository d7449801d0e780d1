"""What verification found, and what a certificate says, for people to read."""

from algoscope.programs.printed import PrintedCertificate
from algoscope.programs.verification import Exactness, Verification
from algoscope.table import Table
from algoscope.tasks import Batch


def verification_table(name: str, result: Verification, or_fewer: bool = False) -> Table:
    fewer = " or fewer" if or_fewer else ""
    return Table(
        f"{name}: {result.samples} samples of {result.nodes} nodes{fewer}; below the certified "
        f"margin of {result.certificate.margin:.2g}: {result.below_margin} of {result.followed} "
        "followed",
        ["", "network = reference", "interpreter = reference", "network = interpreter"],
        _rows(result.network, result.interpreter, result.compilation),
    )


def verdict(result: Verification) -> str:
    """Whether the compiler did what it certifies."""
    above = result.followed - result.below_margin
    same = round(above * result.exact_above_margin)
    fault = ": a fault of the compiler" if result.faulty else ""
    lines = [f"network = program on {same} of the {above} samples above the margin{fault}"]
    if not result.bounded:
        fault = ": a fault of the compiler, or rounding" if result.faulty else ""
        same = result.samples - result.differing
        lines = [
            f"network = program on {same} of {result.samples} samples{fault}; rounding is not "
            "bounded where pairs compute, so that no sample is certified"
        ]
    if result.broken:
        lines.append(f"a promise is broken on {result.broken} samples; first: {result.reason}")
    return "\n".join(lines)


def printed_table(name: str, batch: Batch, exactness: Exactness) -> Table:
    title = f"{name} as printed: {len(batch)} samples of {batch.nodes} nodes"
    return Table(title, ["", "network = reference"], _rows(exactness))


def limits(certificate: PrintedCertificate) -> str:
    """What a printed network can do, in lines."""
    c, k, bias, _ = certificate.constants
    lines = [
        f"made for {certificate.size} nodes; c = {c:.3g}, k = {k:.3g}, bias of self = {bias:.3g}",
        f"the best sender has to be ahead by {certificate.margin:.2g}",
    ]
    if certificate.largest_steps is not None:
        lines.append(f"right for at most {certificate.largest_steps} steps")
    if certificate.largest_distance is not None:
        lines.append(f"right for distances of at most {certificate.largest_distance:.3g}")
    return "\n".join([*lines, *(f"not kept: {promise}" for promise in certificate.broken)])


def _rows(*accounts: Exactness) -> list[list[str]]:
    """One row a hint and output, one column an account."""
    first = accounts[0]
    return [
        ["exact traces", *(f"{a.exact_traces:.2%}" for a in accounts)],
        ["exact outputs", *(f"{a.exact_outputs:.2%}" for a in accounts)],
        *(["hint " + h, *(f"{a.hints[h]:.2%}" for a in accounts)] for h in first.hints),
        *(["output " + o, *(f"{a.outputs[o]:.2%}" for a in accounts)] for o in first.outputs),
    ]
