// A group of ranks as a communicator's plug-in has it: exchanges of bytes, and whatever it can do by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "comm/plugin.h"
#include "horngate/ranks.h"

namespace horngate::comm {

using distributed::CommError, distributed::Trouble;

/// How long to wait, and who may end it. `stopped` is asked about every millisecond.
struct Patience {
  double seconds = -1;  // negative: for ever
  std::function<bool()> stopped = {};
};

class Group {
 public:
  static std::unique_ptr<Group> open(const hg_comm_api* api, const Options& options,
                                     const Patience& patience);
  Group(const hg_comm_api* api, void* self);
  ~Group();
  Group(const Group&) = delete;

  int rank() const { return info_.rank; }
  int ranks() const { return info_.ranks; }
  const hg_comm_api& api() const { return *api_; }
  /// Whether the plug-in reduces these by itself.
  bool reduces(Kind kind, DType dtype, Reduction reduction) const;
  bool can_shrink() const { return (info_.caps & HG_COMM_CAP_SHRINK) && api_->shrink; }

  /// An operation under way. It must be waited for; if it is not, because another one failed, the group is aborted.
  class Request {
   public:
    Request() = default;
    Request(Group* group, void* self) : group_(group), self_(self) {}
    Request(Request&& other) noexcept { *this = std::move(other); }
    Request& operator=(Request&& other) noexcept;
    ~Request();
    void wait(const Patience& patience);
    explicit operator bool() const { return self_ != nullptr; }

   private:
    Group* group_ = nullptr;
    void* self_ = nullptr;
  };

  /// send[r] goes to rank r, recv[r] comes from there. `keep` lives until the memory is not needed.
  Request exchange(std::span<const hg_comm_part> send, std::span<const hg_comm_part> recv,
                   const std::shared_ptr<const void>& keep);
  /// The plug-in's own operation.
  Request start(const Operation& op, Kind kind, const std::shared_ptr<const void>& keep);

  /// Of the operation that begins: see hg_comm_op.
  void set_key(uint64_t key) { key_ = key; }
  /// From any thread: whatever is or will be under way fails.
  void abort() { api_->abort(self_); }
  std::unique_ptr<Group> shrink(std::span<const int> ranks);
  /// healthy: all ranks do so.
  void close(bool healthy);

 private:
  Request start(hg_comm_op& op, const std::shared_ptr<const void>& keep);

  const hg_comm_api* api_;
  void* self_;
  hg_comm_info info_{};
  uint64_t key_ = 0;
};

}  // namespace horngate::comm
