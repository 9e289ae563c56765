// SPDX-License-Identifier: Apache-2.0
#include "worker_reduction.hpp"

#include "reduction.hpp"
#include "scratch.hpp"

#include <chorus/allgather.hpp>
#include <chorus/alltoall.hpp>
#include <chorus/communicator.hpp>
#include <chorus/float16.hpp>
#include <chorus/request.hpp>
#include <chorus/strategies/replica_group.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

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
      : workers_(workers),
        size_(static_cast<std::size_t>(workers.size())),
        tensor_(tensor),
        op_(op),
        options_(without_algorithm(options)),
        piece_((tensor.count() + size_ - 1) / size_),
        given_memory_(piece_ * size_ * sizeof(Wire)),
        taken_memory_(piece_ * size_ * sizeof(Wire)) {
    compress(elements(), given());
    std::ranges::fill(given().subspan(tensor.count()), Wire(0.0F));
    request_ = ialltoall(workers_, given(), taken(), options_);
  }

  void go_on() override {
    request_.wait();
    const ReduceOp join = op_ == ReduceOp::average ? ReduceOp::sum : op_;
    const Scratch reduced(piece_ * sizeof(T));
    const Scratch other(piece_ * sizeof(T));
    std::ranges::copy(taken().first(piece_), reduced.as<T>(piece_).begin());
    for (std::size_t worker = 1; worker < size_; ++worker) {
      std::ranges::copy(taken().subspan(worker * piece_, piece_), other.as<T>(piece_).begin());
      reduce_tensor_into(piece_in(reduced), piece_in(other), join);
    }
    if (op_ == ReduceOp::average)
      divide_tensor(piece_in(reduced), workers_.size());  // rounded, the sum may be infinite
    const std::span<Wire> result = given().first(piece_);
    compress(reduced.as<T>(piece_), result);
    request_ = iallgather(workers_, result, taken(), options_);
  }

  void wait() override {
    request_.wait();
    std::ranges::copy(taken().first(tensor_.count()), elements().begin());
  }

 private:
  [[nodiscard]] std::span<T> elements() const { return {reinterpret_cast<T*>(tensor_.data), tensor_.count()}; }
  [[nodiscard]] std::span<Wire> given() const { return given_memory_.as<Wire>(piece_ * size_); }
  [[nodiscard]] std::span<Wire> taken() const { return taken_memory_.as<Wire>(piece_ * size_); }
  [[nodiscard]] TensorRef piece_in(const Scratch& memory) const {
    return {.type = tensor_.type, .shape = {piece_}, .data = memory.data()};
  }
  static void compress(std::span<const T> from, std::span<Wire> to) {
    std::ranges::transform(from, to.begin(), [](T value) { return Wire(static_cast<float>(value)); });
  }

  Communicator workers_;
  std::size_t size_;
  TensorRef tensor_;
  ReduceOp op_;
  CollectiveOptions options_;
  std::size_t piece_;
  Scratch given_memory_;
  Scratch taken_memory_;
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

std::unique_ptr<WorkerReduction> start_worker_reduction(const ReplicaGroup& group, const TensorRef& tensor, ReduceOp op,
                                                        const CommunicationOptions& options) {
  if (!is_compressed(options, tensor.type)) {
    return std::make_unique<PlainReduction>(start_all_reduce_between_workers(group, tensor, op, options));
  }
  const Communicator& workers = *group.workers();
  const CollectiveOptions collective = collective_options(options);
  if (options.compression == Compression::bfloat16) return compressed<bfloat16_t>(workers, tensor, op, collective);
  return compressed<float16_t>(workers, tensor, op, collective);
}

}  // namespace chorus
