// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything but the interop headers and the strategies, which are a library of their own.
#include <chorus/allgather.hpp>             // IWYU pragma: export
#include <chorus/allgatherv.hpp>            // IWYU pragma: export
#include <chorus/allreduce.hpp>             // IWYU pragma: export
#include <chorus/alltoall.hpp>              // IWYU pragma: export
#include <chorus/alltoallv.hpp>             // IWYU pragma: export
#include <chorus/alltoallw.hpp>             // IWYU pragma: export
#include <chorus/barrier.hpp>               // IWYU pragma: export
#include <chorus/bcast.hpp>                 // IWYU pragma: export
#include <chorus/block_layout.hpp>          // IWYU pragma: export
#include <chorus/call_purpose.hpp>          // IWYU pragma: export
#include <chorus/communicator.hpp>          // IWYU pragma: export
#include <chorus/device.hpp>                // IWYU pragma: export
#include <chorus/device_span.hpp>           // IWYU pragma: export
#include <chorus/element.hpp>               // IWYU pragma: export
#include <chorus/environment.hpp>           // IWYU pragma: export
#include <chorus/error.hpp>                 // IWYU pragma: export
#include <chorus/exact_sum.hpp>             // IWYU pragma: export
#include <chorus/exscan.hpp>                // IWYU pragma: export
#include <chorus/gather.hpp>                // IWYU pragma: export
#include <chorus/gatherv.hpp>               // IWYU pragma: export
#include <chorus/gpu.hpp>                   // IWYU pragma: export
#include <chorus/memory.hpp>                // IWYU pragma: export
#include <chorus/options.hpp>               // IWYU pragma: export
#include <chorus/premultiplied_sum.hpp>     // IWYU pragma: export
#include <chorus/reduce.hpp>                // IWYU pragma: export
#include <chorus/reduce_function.hpp>       // IWYU pragma: export
#include <chorus/reduce_local.hpp>          // IWYU pragma: export
#include <chorus/reduce_op.hpp>             // IWYU pragma: export
#include <chorus/reduce_scatter.hpp>        // IWYU pragma: export
#include <chorus/reduce_scatter_block.hpp>  // IWYU pragma: export
#include <chorus/request.hpp>               // IWYU pragma: export
#include <chorus/scan.hpp>                  // IWYU pragma: export
#include <chorus/scatter.hpp>               // IWYU pragma: export
#include <chorus/scatterv.hpp>              // IWYU pragma: export
#include <chorus/thread_communicators.hpp>  // IWYU pragma: export
