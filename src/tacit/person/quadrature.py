"""Exponential sums for 1/x: the numbers by which the expectation of a ratio becomes a product.

A leakage is an expectation of c / A over possible worlds, and A is a sum of independent parts. With

    1/x  =  sum_i  omega_i exp(-u_i x) (1 + delta(x)),   abs(delta) <= TOLERANCE  on [1, ratio],

the expectation of exp(-u A) is a product over the parts. All terms are positive, so the relative error of the leakage
is at most the one of the sum, whatever the number of attributes, their confidences and weights.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

FloatArray = NDArray[np.float64]

TOLERANCE: Final = 1e-13
"""Largest relative error of the sums, before rounding."""

# Sums that meet 1/x at Chebyshev points of log x (Braess and Hackbusch), found by Newton's method with many digits:
# the largest ratio for which they serve, the exponents u, the factors omega.
_TABLES: Final[dict[float, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    # 6 terms, relative error 3e-15
    1.5: (
        (
            0.18011962682415095,
            0.961841887212176,
            2.42520176684484,
            4.692186468863867,
            8.023268606409497,
            13.110366843572844,
        ),
        (
            0.46366634341476537,
            1.1089508305922202,
            1.8371089655589292,
            2.736986747300992,
            4.022372888875058,
            6.533878182627981,
        ),
    ),
    # 7 terms, relative error 1e-14
    2.0: (
        (
            0.13251641581244755,
            0.7061160574444052,
            1.772432645046256,
            3.4007966617204124,
            5.722093502312957,
            9.00074510162409,
            13.920790557576494,
        ),
        (
            0.34096225702721544,
            0.811872781638989,
            1.3319253849994537,
            1.9456386558463572,
            2.7378047745038376,
            3.9158887325831966,
            6.297431629077533,
        ),
    ),
    # 8 terms, relative error 8e-15
    2.5: (
        (
            0.10226561827387022,
            0.5441236660661232,
            1.3617882365202452,
            2.599542740304648,
            4.335492904394717,
            6.708471094101136,
            9.9905564267473,
            14.872092671097544,
        ),
        (
            0.2630405187643546,
            0.624455719181844,
            1.0180642231270738,
            1.4700672729535735,
            2.0239812911890995,
            2.764107726115198,
            3.8976156445694476,
            6.238306855806543,
        ),
    ),
    # 9 terms, relative error 3e-15
    3.0: (
        (
            0.08165753965613032,
            0.4339809280025816,
            1.0837248623820266,
            2.0611701774468427,
            3.4175511459893246,
            5.237651248139548,
            7.667299760387053,
            10.986365975318128,
            15.894240133232202,
        ),
        (
            0.2099796225429432,
            0.4973418088165809,
            0.8070869052341468,
            1.1561503806495743,
            1.5703356842333258,
            2.0931708959965802,
            2.8095529081104527,
            3.927611675224402,
            6.263047418576707,
        ),
    ),
    # 10 terms, relative error 5e-15
    4.0: (
        (
            0.061275246647687465,
            0.32556808334151616,
            0.8125472031025582,
            1.5438780782328125,
            2.5554236210092305,
            3.904251397112972,
            5.681821161316817,
            8.041765869378636,
            11.272228607287818,
            16.078413723413366,
        ),
        (
            0.1575577274500232,
            0.3729715063624316,
            0.6045308478346422,
            0.8639982847333253,
            1.1684001588419577,
            1.5440861308884586,
            2.0356692467381436,
            2.729064858193882,
            3.832009661543644,
            6.154287133563848,
        ),
    ),
    # 11 terms, relative error 3e-14
    6.0: (
        (
            0.04234280482746077,
            0.22508768933834092,
            0.5622775321254347,
            1.0697605041446097,
            1.7736661154989506,
            2.7150326422633433,
            3.957562982132416,
            5.601206055247495,
            7.809298316448245,
            10.878714005236555,
            15.517479231629206,
        ),
        (
            0.10888908303388832,
            0.2580179366747779,
            0.41895574562351107,
            0.6002911983998639,
            0.8142358119505407,
            1.0789022209114865,
            1.422413423977647,
            1.8911416581747214,
            2.571410647217459,
            3.668256849661286,
            5.980358057998408,
        ),
    ),
    # 12 terms, relative error 5e-14
    8.0: (
        (
            0.031658128492530885,
            0.16827903814814052,
            0.4203147249926385,
            0.7994979888396763,
            1.3250929971396372,
            2.0271074789312213,
            2.9513572755421587,
            4.1673710959744446,
            5.781461606730108,
            7.962727059513668,
            11.012107587000154,
            15.6398387528362,
        ),
        (
            0.08141113014336256,
            0.19288285161261395,
            0.31310982039096336,
            0.4484156350611664,
            0.6076932890814583,
            0.8038442250798564,
            1.0560397011742886,
            1.3933243866942364,
            1.8621064744129925,
            2.547474021875315,
            3.6524674627335876,
            5.974359471529478,
        ),
    ),
    # 13 terms, relative error 3e-14
    10.0: (
        (
            0.024832239239894305,
            0.1319524223670854,
            0.3293765901345511,
            0.6259207938637137,
            1.0359813661811434,
            1.581813796006183,
            2.29702446293058,
            3.2317048371265535,
            4.4599378566040775,
            6.0920340202113294,
            8.299786375284214,
            11.385589325845183,
            16.06170776579088,
        ),
        (
            0.06385302033722352,
            0.1511831032351884,
            0.24510971066873433,
            0.3503412466712787,
            0.4734318817842157,
            0.6237497959517416,
            0.8148992556829134,
            1.0666201964635773,
            1.4078629750042537,
            1.8840285178581917,
            2.578744904786203,
            3.694276510114042,
            6.030847652780692,
        ),
    ),
    # 15 terms, relative error 3e-14
    16.0: (
        (
            0.015056970132208013,
            0.07997408527237806,
            0.1994671200363151,
            0.3785822767819897,
            0.6255188331111622,
            0.9528772179141428,
            1.3795465174601755,
            1.9333760232401895,
            2.654661920576561,
            3.6005435417425162,
            4.851173158050945,
            6.5207822604254195,
            8.782753519236433,
            11.939872099905283,
            16.70710916795585,
        ),
        (
            0.03871322240245213,
            0.09157995691685346,
            0.14823329571203633,
            0.21134337963823055,
            0.28459870508334323,
            0.3732217577753086,
            0.4847002304540237,
            0.6296030463017261,
            0.8223955117206206,
            1.0825597837886896,
            1.437373608830034,
            1.9297903226769515,
            2.641440942359375,
            3.774483663234122,
            6.13563107587487,
        ),
    ),
    # 18 terms, relative error 3e-14
    32.0: (
        (
            0.007202733197932938,
            0.038234629767613465,
            0.09526027575166317,
            0.18050779396763367,
            0.29757948072535884,
            0.45198724457525175,
            0.6519770268531211,
            0.9097296333189527,
            1.2429559642155845,
            1.676791598700476,
            2.245860947259028,
            2.996608305431092,
            3.9905265955540035,
            5.309781455954329,
            7.068574333890659,
            9.43918062986252,
            12.723881501860745,
            17.642345719080343,
        ),
        (
            0.018516578205727142,
            0.04375186145444013,
            0.07066481208961814,
            0.10042198567774752,
            0.134626519474666,
            0.17554339080600118,
            0.22643947194701078,
            0.29198555263638637,
            0.37862206939630355,
            0.4947824953720439,
            0.6510463927576918,
            0.8606102899410817,
            1.140748281091479,
            1.5164141880209991,
            2.028907350174282,
            2.7594558898669264,
            3.9121559038621583,
            6.30487612179312,
        ),
    ),
}
_LARGEST_TABLE: Final = max(_TABLES)

# Beyond the tables: the trapezoid rule for 1/x = int exp(s - x e^s) ds. Its relative error 2 abs(Gamma(1 + 2 pi i / h))
# is 2e-14 for this step and the same for every x.
_STEP: Final = 0.285
# Where e^s exceeds this the terms are smaller than rounding.
_LAST: Final = 40.0
# On the left the terms h e^s exp(-x e^s) fall only as a geometric series, for ever. Below the first node u0 they are a
# measure on [0, u0] with known moments, of which these are the six Gauss nodes and weights (u0 = 1); with u0 <= 2 / x
# they err by 4e-15.
_TAIL_REACH: Final = 2.0
_TAIL_U: Final = (
    0.022197640736438456312,
    0.11119090468655421033,
    0.24913603571476518752,
    0.40519049384358019056,
    0.5638430058440661942,
    0.75199693556447836891,
)
_TAIL_OMEGA: Final = (
    0.05629599871725523467,
    0.11814858952816203742,
    0.15225508311479745902,
    0.15631214163592327966,
    0.16681832051061107437,
    0.21442947098299265824,
)


def reaches(ratios: FloatArray) -> FloatArray:
    """For each ratio the largest one served by the same nodes: records with equal reach share their nodes."""
    if not np.all((ratios >= 1) & np.isfinite(ratios)):
        raise ArgumentError("the largest sum of weights is no finite multiple of the smallest: give finite weights")
    tables = np.array(list(_TABLES))
    place = np.searchsorted(tables, ratios)
    beyond = np.exp2(np.ceil(np.log2(ratios)))
    return np.where(place < len(tables), tables[np.minimum(place, len(tables) - 1)], beyond)


def nodes(ratio: float) -> tuple[FloatArray, FloatArray]:
    """Exponents u and factors omega with sum(omega * exp(-u * x)) = 1/x for x from 1 to ``ratio``.

    The number of terms grows as the logarithm of the ratio: 7 up to 2, 18 up to 32, 67 at a million.

    Guarantees
    ----------
    All u and omega are positive, and the relative error is at most `TOLERANCE` (and rounding) on all of [1, ratio].
    """
    return _nodes(float(reaches(np.array(ratio))))


@lru_cache(maxsize=256)
def _nodes(largest: float) -> tuple[FloatArray, FloatArray]:
    if largest <= _LARGEST_TABLE:
        u, omega = (np.array(part) for part in _TABLES[largest])
    else:
        first = _TAIL_REACH / largest
        count = math.ceil(math.log(_LAST / first) / _STEP)
        trapezoid = first * np.exp(_STEP * np.arange(count + 1))
        u = np.concatenate([first * np.array(_TAIL_U), trapezoid])
        omega = np.concatenate([first * np.array(_TAIL_OMEGA), _STEP * trapezoid])
    for part in (u, omega):
        part.flags.writeable = False  # the cache hands the same arrays to everybody
    return u, omega
