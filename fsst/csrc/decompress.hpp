// Codes to text, in two passes: measure_rows (exact size, offsets, validation), then decode. Single and
// picked rows are in gather.hpp, the slow twins in namespace plain.
#pragma once

#include "decode.hpp"
#include "decompress_plain.hpp"
#include "gather.hpp"
#include "measure.hpp"
