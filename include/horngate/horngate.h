// All of Horngate: #include <horngate/horngate.h>, then `namespace K = horngate;`.
#pragma once

#if __cplusplus < 202002L
#error "Horngate needs C++20: compile with -std=c++20"
#else

#include "horngate/array.h"
#include "horngate/config.h"
#include "horngate/cpus.h"
#include "horngate/distributed.h"
#include "horngate/engines.h"
#include "horngate/error.h"
#include "horngate/explain.h"
#include "horngate/export_onnx.h"
#include "horngate/function.h"
#include "horngate/log.h"
#include "horngate/ops/control.h"
#include "horngate/ops/conv.h"
#include "horngate/ops/ctc.h"
#include "horngate/ops/elementwise.h"
#include "horngate/ops/functional.h"
#include "horngate/ops/legacy.h"
#include "horngate/ops/linalg.h"
#include "horngate/ops/nn.h"
#include "horngate/ops/random.h"
#include "horngate/ops/shape.h"
#include "horngate/ops/values.h"
#include "horngate/ops/variables.h"
#include "horngate/options.h"
#include "horngate/plot.h"
#include "horngate/profile.h"
#include "horngate/save.h"
#include "horngate/tensor.h"

#endif
