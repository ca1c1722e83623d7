// Powers of binary32 numbers decided with as many bits as it takes.
#pragma once

namespace bittrue::ziv {

// Whether x^y, x > 0 and finite, y finite and not 0, x not 1, has few enough bits to be a rounding
// boundary or a binary32 number; if so writes its rounded value.
bool exact_power(float x, float y, float& result);

// x^y rounded to nearest, for x and y of which `exact_power` is false and 2^-153 < x^y < 2^130.
// Precision doubles until both ends of an interval around the value round alike. That ends: x^y is
// no boundary, so it has some distance from every one.
float power(float x, float y);

}  // namespace bittrue::ziv
