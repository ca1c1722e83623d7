"""A small digit classifier in integers, layer by layer, against ONNX Runtime.

Run it: ``python examples/quantized_digits.py``. It trains a network on scikit-learn's digits,
quantizes it to S8 with one FP19 scale for each column, runs the integer layers through bittrue and,
where ONNX Runtime has an operator with the same rule, compares every element. It needs
``pip install 'bittrue[examples]'``; without them it says so.
"""
# ruff: noqa: D103 - a script, which prints

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

try:
    import onnxruntime
    from onnx import helper
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier
except ModuleNotFoundError as missing:
    print(f"{missing.name} is not installed: pip install 'bittrue[examples]'")
    raise SystemExit(0) from None

from bittrue.postprocess import (
    PostProcess,
    matmul_post_process,
    nearest_scales,
    post_process,
    quant_word,
    quant_words,
)

INPUT_SCALE = 64  # pixels are 0..1 in sixteenths: 64 times that is an exact S8
RAW = PostProcess()
LAYER = PostProcess("VREQ8", relu=1, saturate=True)
LAST = PostProcess("VREQ8", saturate=True)


@dataclass
class Layer:
    """S8 weights with the bias as a last row, and the FP19 scale of each column."""

    weights: np.ndarray
    scales: np.ndarray
    control: PostProcess
    unit: int  # what the constant 1 of the last row is in the input's integers
    output_scale: float  # real value of one step of the output

    @property
    def words(self) -> np.ndarray:
        """The parameter words of the columns, without offset."""
        return quant_words("VREQ8", self.scales)


def with_unit(values: np.ndarray, unit: int) -> np.ndarray:
    """Append the constant that multiplies the bias."""
    return np.hstack([values, np.full((len(values), 1), unit, np.int8)])


def quantize(
    weights: np.ndarray,
    bias: np.ndarray,
    step: float,
    unit: int,
    largest: float,
    control: PostProcess,
) -> Layer:
    """Quantize one layer; `step` is one step of its input, `largest` its greatest output."""
    real = np.vstack([weights, bias / (unit * step)])
    column = np.abs(real).max(axis=0) / 127
    out = largest / 127
    found = nearest_scales(column * step / out)
    print(f"  {len(column)} FP19 scales, worst relative error {found.worst:.2e} (2^-11 = 4.9e-4)")
    return Layer(np.rint(real / column).astype(np.int8), found.scales, control, unit, out)


# --- ONNX Runtime -------------------------------------------------------------------------------


def onnx_run(operator: str, inputs: dict[str, np.ndarray], output: np.dtype) -> np.ndarray:
    """Run one operator on arrays."""
    kind = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(operator, list(inputs), ["y"])],
        operator,
        [helper.make_tensor_value_info(n, kind(a.dtype), a.shape) for n, a in inputs.items()],
        [helper.make_tensor_value_info("y", kind(output), None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)[0]


def qlinear_matmul(values: np.ndarray, layer: Layer) -> np.ndarray:
    """Multiply and requantize; the scale of column j is layer.scales[j], all others are 1."""
    one, zero = np.float32(1), np.int8(0)
    count = len(layer.scales)
    return onnx_run(
        "QLinearMatMul",
        {
            "a": values, "a_scale": np.array(one), "a_zero": np.array(zero),
            "b": layer.weights, "b_scale": layer.scales.astype(np.float32),
            "b_zero": np.zeros(count, np.int8),
            "y_scale": np.array(one), "y_zero": np.array(zero),
        },
        np.dtype(np.int8),
    )  # fmt: skip


def report(name: str, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Print how many elements differ and return where."""
    differ = np.argwhere(ours != theirs)
    print(f"  {name}: {ours.size - len(differ)} of {ours.size} elements equal")
    return differ


def explain(differ: np.ndarray, raw: np.ndarray, scales: np.ndarray) -> None:
    """Say of each difference how the exact product and its rounding to FP32 relate."""
    for row, column in differ:
        exact = Fraction(int(raw[row, column])) * Fraction(float(scales[column]))
        rounded = np.float32(raw[row, column]) * np.float32(scales[column])
        tie = Fraction(float(rounded)) * 2 % 2 == 1
        print(
            f"    {row},{column}: accumulator {raw[row, column]}, exact product {float(exact)!r}; "
            f"FP32 makes {rounded!r} of it" + (", a tie that it is not" if tie else "")
        )


# --- the model ----------------------------------------------------------------------------------


def train() -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    digits = load_digits()
    x, x_test, y, y_test = train_test_split(
        digits.data / 16, digits.target, test_size=0.4, random_state=0
    )
    model = MLPClassifier((48,), max_iter=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty rounds are enough for this
        model.fit(x, y)
    return model.coefs_, model.intercepts_, x, x_test, y_test


def main() -> None:
    coefficients, intercepts, x, x_test, y_test = train()
    hidden = np.maximum(x @ coefficients[0] + intercepts[0], 0)
    logits = hidden @ coefficients[1] + intercepts[1]
    print("layer 1")
    first = quantize(
        coefficients[0], intercepts[0], 1 / INPUT_SCALE, INPUT_SCALE, hidden.max(), LAYER
    )
    print("layer 2")
    second = quantize(
        coefficients[1], intercepts[1], first.output_scale, 127, np.abs(logits).max(), LAST
    )

    print("input, FP32 to S8 (QF322B8_PRE; QuantizeLinear)")
    pixels = x_test.astype(np.float32)
    control = PostProcess("QF322B8_PRE", saturate=True)
    values = post_process(pixels, control, quant_word("QF322B8_PRE", INPUT_SCALE)).d
    scale = np.array(1 / INPUT_SCALE, np.float32)
    theirs = onnx_run(
        "QuantizeLinear", {"x": pixels, "s": scale, "z": np.array(0, np.int8)}, np.dtype(np.int8)
    )
    report("quantized", values, theirs)

    for number, layer in enumerate((first, second), 1):
        print(f"layer {number}, S8 times S8 to S8")
        operand = with_unit(values, layer.unit)
        raw = matmul_post_process(operand, layer.weights, RAW).d
        integers = onnx_run("MatMulInteger", {"a": operand, "b": layer.weights}, np.dtype(np.int32))
        report("accumulators (NoQuant; MatMulInteger)", raw, integers)
        made = matmul_post_process(operand, layer.weights, layer.control, quant=layer.words)
        theirs = qlinear_matmul(operand, layer)
        if layer.control.relu:
            # An offset of 0: the activation before the conversion is a maximum after it.
            theirs = np.maximum(theirs, 0)
        explain(report("outputs (VREQ8; QLinearMatMul)", made.d, theirs), raw, layer.scales)
        values = made.d

    real = np.maximum(x_test @ coefficients[0] + intercepts[0], 0) @ coefficients[1]
    before = np.mean(np.argmax(real + intercepts[1], axis=1) == y_test)
    after = np.mean(np.argmax(values, axis=1) == y_test)
    print(f"accuracy on {len(y_test)} digits: {before:.2%} in floating point, {after:.2%} in S8")


if __name__ == "__main__":
    main()
