// SPDX-License-Identifier: Apache-2.0
#include "worker_reduction.hpp"

#include "reduction.hpp"

#include <chorus/allgather.hpp>
#include <chorus/alltoall.hpp>
#include <chorus/float16.hpp>
#include <chorus/request.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

class PlainReduction final : public WorkerReduction {
 public:
  explicit PlainReduction(Request request) : request_(std::move(request)) {}
  void wait() override { request_.wait(); }

 private:
  Request request_;
};

/// Each worker gets one piece of every worker's tensor, reduces the pieces as T and gives the result to all: two bytes
/// an element there and two back, rounded twice whatever the number of workers.
template <class T, class Wire>
class CompressedReduction final : public WorkerReduction {
 public:
  CompressedReduction(const Communicator& workers, const TensorRef& tensor, ReduceOp op,
                      const CollectiveOptions& options)
      : workers_(workers), tensor_(tensor), op_(op), options_(without_algorithm(options)) {
    const auto size = static_cast<std::size_t>(workers.size());
    piece_ = (tensor.count() + size - 1) / size;
    given_.resize(piece_ * size);
    taken_.resize(piece_ * size);
    std::ranges::transform(elements(), given_.begin(), [](T value) { return Wire(static_cast<float>(value)); });
    request_ = ialltoall(workers_, given_, taken_, options_);
  }

  void go_on() override {
    request_.wait();
    std::vector<T> reduced(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(piece_));
    std::vector<T> other(piece_);
    for (std::size_t first = piece_; first < taken_.size(); first += piece_) {
      std::ranges::copy(std::span(taken_).subspan(first, piece_), other.begin());
      reduce_tensor_into(tensor_ref(reduced), tensor_ref(other), op_);
    }
    given_.resize(piece_);
    std::ranges::transform(reduced, given_.begin(), [](T value) { return Wire(static_cast<float>(value)); });
    request_ = iallgather(workers_, given_, taken_, options_);
  }

  void wait() override {
    request_.wait();
    std::ranges::copy(std::span(taken_).first(tensor_.count()), elements().begin());
  }

 private:
  [[nodiscard]] std::span<T> elements() const { return {reinterpret_cast<T*>(tensor_.data), tensor_.count()}; }

  Communicator workers_;
  TensorRef tensor_;
  ReduceOp op_;
  CollectiveOptions options_;
  std::size_t piece_ = 0;
  std::vector<Wire> given_;
  std::vector<Wire> taken_;
  Request request_;  // the last member: it ends before the buffers do
};

template <class Wire>
std::unique_ptr<WorkerReduction> compressed(const Communicator& workers, const TensorRef& tensor, ReduceOp op,
                                            const CollectiveOptions& options) {
  if (tensor.type == DataType::float32)
    return std::make_unique<CompressedReduction<float, Wire>>(workers, tensor, op, options);
  return std::make_unique<CompressedReduction<double, Wire>>(workers, tensor, op, options);
}

}  // namespace

bool is_compressed(const CommunicationOptions& options, DataType type) noexcept {
  return options.compression != Compression::none && (type == DataType::float32 || type == DataType::float64);
}

std::unique_ptr<WorkerReduction> start_worker_reduction(const Communicator& workers, const TensorRef& tensor,
                                                        ReduceOp op, const CommunicationOptions& options) {
  const CollectiveOptions collective = collective_options(options);
  if (!is_compressed(options, tensor.type)) {
    return std::make_unique<PlainReduction>(start_all_reduce_tensor(workers, tensor, op, collective));
  }
  if (options.compression == Compression::bfloat16) return compressed<bfloat16_t>(workers, tensor, op, collective);
  return compressed<float16_t>(workers, tensor, op, collective);
}

}  // namespace chorus
