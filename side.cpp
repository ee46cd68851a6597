#define PRE(x) new_##x
#include "side.inc"
