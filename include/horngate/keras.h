// All of the model library: #include <horngate/keras.h>, link Horngate::keras.
#pragma once

#include "horngate/horngate.h"
#if __cplusplus >= 202002L

#include "horngate/keras/callbacks.h"
#include "horngate/keras/data.h"
#include "horngate/keras/json.h"
#include "horngate/keras/layer.h"
#include "horngate/keras/layers_activations.h"
#include "horngate/keras/layers_convolutional.h"
#include "horngate/keras/layers_core.h"
#include "horngate/keras/layers_embedding.h"
#include "horngate/keras/layers_local.h"
#include "horngate/keras/layers_merge.h"
#include "horngate/keras/layers_noise.h"
#include "horngate/keras/layers_normalization.h"
#include "horngate/keras/layers_pooling.h"
#include "horngate/keras/layers_recurrent.h"
#include "horngate/keras/layers_wrappers.h"
#include "horngate/keras/losses.h"
#include "horngate/keras/metrics.h"
#include "horngate/keras/model.h"
#include "horngate/keras/objects.h"
#include "horngate/keras/optimizers.h"
#include "horngate/keras/saving.h"

#endif
