"""Post-processing of matrix accumulators: scale, activation, maxima and one conversion."""

from bittrue.postprocess.control import PostProcess
from bittrue.postprocess.execute import PostProcessResult, StatusRegister, post_process
from bittrue.postprocess.explain import explain_element, flag_names
from bittrue.postprocess.matmul import matmul_post_process
from bittrue.postprocess.modes import MODES, Mode, PreQuant, Relu
from bittrue.postprocess.parameters import activation_word, explain_word, quant_word
from bittrue.postprocess.plan import PostProcessPlan, plan_post_process
from bittrue.postprocess.words import NearestScales, activation_words, nearest_scales, quant_words

__all__ = [
    "MODES",
    "Mode",
    "NearestScales",
    "PostProcess",
    "PostProcessPlan",
    "PostProcessResult",
    "PreQuant",
    "Relu",
    "StatusRegister",
    "activation_word",
    "activation_words",
    "explain_element",
    "explain_word",
    "flag_names",
    "matmul_post_process",
    "nearest_scales",
    "plan_post_process",
    "post_process",
    "quant_word",
    "quant_words",
]
