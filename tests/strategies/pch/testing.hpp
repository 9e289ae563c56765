// SPDX-License-Identifier: Apache-2.0
// Precompiled for the strategies' tests, as lib/pch/standard.hpp is for the libraries.
#include "../../pch/testing.hpp"

#include <chorus/strategies/dataset.hpp>
#include <chorus/strategies/distributed_dataset.hpp>
#include <chorus/strategies/mirrored_strategy.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/variable.hpp>
