// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer_pool.hpp"
#include "base/call.hpp"
#include "base/callers_function.hpp"
#include "base/settings.hpp"
#include "task/engine.hpp"
#include "task/wait.hpp"
#include "transport/entrance.hpp"
#include "transport/mismatch_report.hpp"
#include "transport/network_pace.hpp"
#include "transport/shared_group.hpp"
#include "transport/transport.hpp"

#include <chorus/call_purpose.hpp>
#include <chorus/error.hpp>
#include <chorus/options.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chorus {
struct Algorithm;
class Tunings;
}  // namespace chorus

namespace chorus::detail {

class CommunicatorState;

/// A call is refused before its protocol begins, on every rank that makes it: the communicator stays whole.
struct Refusal : Error {
  using Error::Error;
  explicit Refusal(const Error& error) : Error(error) {}
};

/// What a communicator knows of its other ranks beyond messages: what they share, and whether they are alive.
class Peers {
 public:
  struct Shared {
    std::vector<int> nodes;               ///< the node of each rank, counted in the order of their first ranks
    std::unique_ptr<SharedGroup> memory;  ///< of this rank's node; null where it has none
    Native* native = nullptr;
    Pace pace;                       ///< of the shared memory, the same on every rank
    NetworkPace network;             ///< of the most nodes and ranks that one of them remembers; the same on every rank
    bool asks_for_network = false;   ///< calls are chosen by it, where no tuning file says it
    bool crowded = false;            ///< a machine has more ranks than cores; the same on every rank
    std::vector<std::string> notes;  ///< what was decided and why, for the log
  };
  /// A rank that has given the communicator up, and why.
  struct Failure {
    int rank = 0;
    ErrorCode code = ErrorCode::broken;
    std::string text;
  };
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  virtual ~Peers() = default;

  /// The settings of this process: what it waits by while the ranks agree.
  [[nodiscard]] virtual Settings own_settings() const = 0;
  /// The settings of rank 0, on every rank; run by each of them. Throws Refusal where they are wrong.
  virtual Task<Settings> agree_on_settings(Transport& transport) = 0;
  /// Finds out what the ranks share, run by every rank with the same settings. The memory it makes asks `waiter`,
  /// whose policy it has set.
  virtual Task<Shared> set_up(Transport& transport, Waiter& waiter, const Settings& settings) = 0;
  /// How the process of `rank` ended; empty while it lives, or where that cannot be known.
  [[nodiscard]] virtual std::string death_of(int rank) = 0;
  /// Asks the ranks that do not share memory with this one whether they wait, too: they answer in told().
  virtual void call_roll() {}
  /// Those of them that have not answered yet.
  [[nodiscard]] virtual std::vector<int> silent() const { return {}; }
  /// Its number in MPI_COMM_WORLD; without MPI `rank`.
  [[nodiscard]] virtual int world_rank(int rank) const { return rank; }
  /// Its host, process and state, for reports.
  [[nodiscard]] virtual std::string describe(int rank) const = 0;
  /// Lets MPI move the program's own messages, which others may wait for before they come.
  virtual void advance() {}
  /// For simulated ranks, whose time stands still while they compute: lets it go on until a message that this rank
  /// waits for has come or gone, or by a moment. False where time passes by itself.
  enum class Until : std::uint8_t { message, moment };
  virtual bool pass_time(Until /*until*/) { return false; }
  /// The communicator is broken, for the reason `why`: messages may be left that nobody reads.
  virtual void retire(ErrorCode /*why*/) noexcept {}
  /// Tells the ranks that do not share memory with this one that it gives the communicator up.
  virtual void tell(const Failure& failure) noexcept = 0;
  /// What another rank has told. Answers those that call the roll.
  [[nodiscard]] virtual std::optional<Failure> told() = 0;
  /// One of those ranks that has ended with the communicator.
  struct Ended {
    int rank = 0;
    std::uint64_t calls = 0;  ///< that it has begun; where it is not set up, how often that was refused
    bool set_up = true;
  };
  /// This rank has: tells one of those ranks, which waits in vain if it is in a later call, and then tells all.
  virtual void end_calls(const Ended& /*own*/) noexcept {}
  /// The last that `told` has heard of.
  [[nodiscard]] virtual std::optional<Ended> ended() const { return std::nullopt; }
  /// A communicator of the ranks `ranks`, this one among them; run by each of them. `members` carries messages between
  /// them, as its ranks 0, 1, ...
  virtual Task<std::shared_ptr<CommunicatorState>> make(Transport& members, const std::vector<int>& ranks) = 0;
  /// The vendor's collectives of these ranks where `set_up` has given none; null where the vendor does not know the
  /// ranks. Run by every rank in a blocking call, as the vendor makes it wait.
  virtual Task<Native*> find_native(Transport& /*transport*/) { co_return nullptr; }
};

/// What a public Communicator stands for: a transport, the operations under way on it, and whether it still works.
class CommunicatorState final : public Waiter, public std::enable_shared_from_this<CommunicatorState> {
 public:
  /// `entrance` may be that of other communicators, too; so may `engine`, which drives the requests of all of them.
  /// Where it is null, each request is with the engine of the thread that makes it.
  CommunicatorState(std::unique_ptr<Transport> transport, std::unique_ptr<Peers> peers,
                    const std::shared_ptr<Engine>& engine,
                    std::shared_ptr<Entrance> entrance = std::make_shared<Entrance>());
  ~CommunicatorState() override;

  [[nodiscard]] Transport& transport() const noexcept { return *transport_; }
  [[nodiscard]] int rank() const noexcept { return transport_->rank(); }
  [[nodiscard]] int size() const noexcept { return transport_->size(); }
  /// This rank, for messages: with its number in MPI_COMM_WORLD, where that is another one.
  [[nodiscard]] std::string who() const;
  /// Working memory for checks and arguments of a call: taken and given back by the thread that calls, while another
  /// may drive operations, which take theirs from the transport.
  [[nodiscard]] Scratch caller_scratch(std::size_t bytes) { return callers_buffers_.take(bytes); }
  /// Valid after the set-up.
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  /// The same on every rank in the same call.
  [[nodiscard]] const Pace& pace() const noexcept {
    return transport_->shared() != nullptr ? transport_->shared()->pace() : pace_;
  }
  /// How many `pace` has been told since the set-up, for those who decide by it.
  [[nodiscard]] std::uint32_t paces() const noexcept {
    return transport_->shared() != nullptr ? transport_->shared()->paces() : 0;
  }
  /// Unknown where all ranks are on one node, or a tuning file says it.
  [[nodiscard]] const NetworkPace& network() const noexcept { return network_; }
  [[nodiscard]] bool ready() const noexcept { return ready_.load(std::memory_order_acquire); }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Finds out what the ranks share; the first operation of every communicator, for `call`. Does nothing the second
  /// time. `at_once`: the caller waits for it and for nothing else, so that times are what messages take.
  Task<> set_up(Call call, bool at_once = true);
  /// Makes the vendor's collectives known to the transport; in a blocking call, which every rank makes.
  Task<> find_native();
  /// Finds out how the devices reach one another, before the first `call` with device memory, which every rank makes;
  /// this rank's is `own`.
  Task<> find_devices(Call call, std::unique_ptr<Accelerator> own);

  /// The new communicator of the ranks that give the same `color`, in the order of `key` and then of their ranks, with
  /// the settings of this one; null where this rank gives none. Run by every rank, with the same `call`.
  struct Place {
    std::optional<int> color;
    int key = 0;
  };
  [[nodiscard]] std::shared_ptr<CommunicatorState> split(const Call& asked, const Place& place);
  /// Gives every rank the `own` of all, one after another in the order of the ranks. Run by every rank, with the same
  /// `call` and length.
  [[nodiscard]] std::vector<std::byte> gather(const Call& asked, ConstBytes own);
  /// The number of this rank's node, whether it is the node's first rank, and whether all ranks share memory there.
  /// Sets the communicator up, for `call`.
  struct OnNode {
    int node = 0;
    bool first = false;
    bool memory = false;
  };
  [[nodiscard]] OnNode on_node(const Call& call);

  /// A thread comes in with `call`, to be called first and kept until it goes. Throws Error{invalid_argument} where
  /// another thread is noticed inside.
  [[nodiscard]] Entrance::Visit visit(const Call& call) const {
    if (entrance_->taken() || CallersFunction::here()) reject_visit(call);
    return Entrance::Visit(*entrance_);
  }
  /// A call begins: throws Error{broken} if the communicator is.
  void check_whole(const Call& call) {
    if (standing_.load(std::memory_order_acquire) != Standing::whole) refuse(call);
  }
  /// Throws what the devices have failed by, where the thread that watches them has noticed.
  void check_devices() const;
  /// A blocking call begins, whose waits end after `timeout` (0: by the settings): drives what is parked on this
  /// communicator until it is finished, and throws where that has broken it. Before that another thread may be driving
  /// it, so no task is driven earlier.
  void prepare(std::chrono::nanoseconds timeout) {
    timeout_ = timeout;
    if (given_ != nullptr) put_off();
    if (!engine_->idle(queue_)) finish_parked();
  }
  /// How long the blocking call may wait; 0: for ever.
  [[nodiscard]] std::chrono::nanoseconds limit() const noexcept {
    return timeout_.count() > 0 ? timeout_ : settings_.timeout;
  }
  void park(ParkedOperation& parked) {
    if (given_ != nullptr) put_off();
    if (engine_of_caller_ && engine_->idle(queue_)) engine_ = Engine::of_this_thread();
    engine_->park(queue_, parked);
  }
  /// Drives what is parked until `parked` is finished.
  void wait_for(const ParkedOperation& parked, std::chrono::nanoseconds timeout);
  /// Drives what is parked a little; true where `parked` is finished. `polls` is the wait that its polls make up.
  [[nodiscard]] bool poll(const ParkedOperation& parked, Wait& polls, std::chrono::nanoseconds timeout);

  /// A nonblocking call that has given its data and is under way without being parked, as nothing is to be driven
  /// until it takes that of the others. One at a time: before any other call begins, it is put off.
  class HalfDone {
   public:
    HalfDone() = default;
    HalfDone(const HalfDone&) = delete;
    HalfDone& operator=(const HalfDone&) = delete;
    /// Parks what is left.
    virtual void put_off() = 0;

   protected:
    ~HalfDone() = default;
  };
  /// True where a call may begin so; also beside a progress thread, which could save less than a turn of it takes.
  [[nodiscard]] bool may_give() { return ready() && given_ == nullptr && engine_->idle(queue_); }
  void has_given(HalfDone& call) noexcept { given_ = &call; }
  /// It takes what the others have given, which it waits for no longer than `timeout`.
  void begin_to_take(std::chrono::nanoseconds timeout) {
    given_ = nullptr;
    timeout_ = timeout;
    check_not_given_up();
  }
  void put_off();

  /// A parked operation begins: throws where the communicator broke before.
  void check_not_given_up() const {
    if (broken()) throw Error(*failure_);
  }

  /// Turns the exception being handled, which has ended `call`, into the Error the user gets. Any but a Refusal breaks
  /// the communicator, as the other ranks are in the middle of the call then; they are told.
  [[noreturn]] void fail(const Call& call);

  /// Gives the communicator up, as if this rank had failed in a call. Does nothing where it is broken.
  void revoke(const std::string& why);

  /// Ends what is under way, and makes each later call throw Error{not_initialized} with `reason`.
  void close(const std::string& reason);

  /// What the calls of this rank are for: put into each when it is made.
  void set_purpose(const CallPurpose& purpose) noexcept {
    purpose_ = purpose;
    if (purpose.text != nullptr) purpose_text_ = purpose.text;
  }
  [[nodiscard]] const CallPurpose& purpose() const noexcept { return purpose_; }

  void idle(Wait& wait, Bell* bell) override;

  /// The protocol of a call begins, which no rank refuses any more. Not of those that share memory alone, where it
  /// counts them.
  void begin_call() noexcept { ++calls_begun_; }

  // The chooser's: what it has chosen for calls like this one, what it has read in the tuning file and for which pace,
  // and for reports the names of what it chooses from, which it gives before the first call is carried out.
  struct Choice {
    Call call;
    const Algorithm* algorithm = nullptr;
    std::uint8_t place = 0;  ///< of the algorithm in the list of the collective's, from 1
    bool named = false;      ///< by the call's option
    bool request = false;    ///< for a nonblocking call
  };
  std::array<Choice, 64> choices;
  std::shared_ptr<const Tunings> tuning;
  std::uint32_t tuned_paces = 0;
  AlgorithmName algorithm_name = nullptr;

 private:
  [[noreturn]] void reject_visit(const Call& call) const;
  /// `call` is not begun, as the communicator is broken, or breaks it by what its devices have failed by.
  void refuse(const Call& call);
  [[noreturn]] void reject_as_broken(const Call& call) const;
  /// `call` ends because another has broken the communicator.
  [[noreturn]] void end_with_another(const Call& call) const;
  [[nodiscard]] bool broken() const noexcept { return standing_.load(std::memory_order_acquire) == Standing::broken; }
  void finish_parked();
  /// The network's pace, where no tuning file gives it: that which another communicator has measured, or, where that
  /// was of few ranks beside these and there is time (`at_once`), measured here.
  Task<> learn_network(NetworkPace known, bool at_once);
  /// The first part of such a call: sets up what is not, and fills `all` with what each rank gives.
  Task<> gather_into(Bytes all, Call call, ConstBytes own);
  Task<> split_into(std::shared_ptr<CommunicatorState>& made, Call call, Place place);
  /// Drives what is parked until `finished`; where waiting has become pointless, gives all of it the exception.
  template <class Finished>
  void drive_parked(Finished finished);
  void cancel_parked(const std::exception_ptr& error);
  /// Ends what is under way on the devices.
  void abandon_devices() noexcept;
  /// At the end: waits for calls on devices that have limits, and tells this node where devices have failed and no call
  /// has said so. False there.
  bool settle_devices() noexcept;
  /// Lets it hear meanwhile of the ranks that are lost or have given the communicator up.
  void watch_device_calls();
  /// Makes the devices known to the communicator of the ranks that give the same color, where they are connected here.
  Task<> split_devices(CommunicatorState* made, std::optional<int> color, int key);
  /// Tells the other ranks that this one gives the communicator up.
  void tell(const Error& error);
  /// What has not ended may end with its buffers: nobody touches them afterwards.
  void close_memory() noexcept;
  /// Breaks the communicator and throws `error`; `give_up` tells the other ranks before.
  [[noreturn]] void break_with(const Error& error);
  [[noreturn]] void give_up(const Error& error);
  /// Throws if waiting has become pointless: the deadline, a peer's failure, a peer's death. Warns where nothing has
  /// moved for long: a long call that goes on does not stall.
  void look(Wait& wait);
  /// Asks, once, who else waits: before something is said of those that have not come.
  void call_roll(Wait& wait) const;
  /// Tells the others that this one makes no more calls.
  void end_calls() noexcept;
  void look_at_failures() const;
  void look_for_ended_ranks() const;
  void look_for_ended_ranks_elsewhere() const;
  void look_at_processes() const;
  /// The same of what may be looked at while another thread is in a call: the processes, and the failures of this node.
  void look_on_a_thread() const;
  [[nodiscard]] static Error lost(int rank, const std::string& death);
  /// For when a rank is lost: throws what it or another has told, maybe in a later call than this one, as it may have
  /// ended because of that.
  void look_at_what_was_told() const;
  /// `of_mismatch`: what is thrown for one, of which each rank that is in that call makes a table of its own; empty:
  /// nothing.
  void look_at_failures_of_node(const std::string& of_mismatch) const;
  void warn_of_stall(const Wait& wait) const;
  [[nodiscard]] Error mismatch(const Call& call) const;
  /// The call with that number of each rank of the node, none where it has not made it or made it long ago.
  [[nodiscard]] std::map<int, std::optional<Call>> calls_of_node(std::uint64_t number) const;
  [[nodiscard]] std::string missing_ranks() const;
  /// A line that says which ranks of MPI_COMM_WORLD these are; empty where they have the same numbers there.
  [[nodiscard]] std::string ranks_in_world() const;
  /// What this rank waits for.
  [[nodiscard]] std::string waited_for() const;
  [[nodiscard]] std::string set_up_under_way() const;
  /// Of a rank of this node that is behind.
  [[nodiscard]] std::string last_call_of(int peer, const char* separator) const;

  std::unique_ptr<Peers> peers_;  // has the memory that the transport's shared group lies in
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<Engine> engine_;
  bool engine_of_caller_;
  int process_;  // whose rank it is; a child that it forks is none
  std::shared_ptr<Entrance> entrance_;
  Settings settings_;
  bool agreed_ = false;  // the settings are those of every rank
  Pace pace_;
  NetworkPace network_;
  bool crowded_ = false;
  std::vector<std::string> notes_;
  OperationQueue queue_;
  BufferPool callers_buffers_;
  HalfDone* given_ = nullptr;
  CallPurpose purpose_;
  std::atomic<PurposeText> purpose_text_{nullptr};  // the last there was, as requests keep their purpose
  std::chrono::nanoseconds timeout_{};              // of the call under way; 0: that of the settings
  /// The thread that watches calls on devices notices a failure there, and the next call breaks the communicator.
  enum class Standing : std::uint8_t { whole, devices_failed, broken };
  std::optional<Error> failure_;  // what broke it, set before `standing_`, maybe by the thread that drove it
  std::atomic<Standing> standing_{Standing::whole};
  bool revoked_here_ = false;       // by this rank, which set it before `standing_`
  std::atomic<bool> ready_{false};  // set last, maybe by the thread that drives the set-up
  std::uint64_t set_ups_refused_ = 0;
  std::optional<Call> first_call_;  // for which the communicator is being set up
  std::uint64_t calls_begun_ = 0;
};

}  // namespace chorus::detail
