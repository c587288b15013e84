// Calls into a communicator's plug-in.
#include "comm/group.h"

#include <cstring>

#include "ir/check.h"

namespace horngate::comm {
namespace {

hg_comm_status empty_status() {
  hg_comm_status status;
  status.size = sizeof status;
  status.code = 0;
  status.rank = -1;
  status.text[0] = 0;
  return status;
}

Trouble trouble_of(int32_t code) {
  switch (code) {
    case HG_COMM_TIMEOUT: return Trouble::timeout;
    case HG_COMM_LOST: return Trouble::lost;
    case HG_COMM_ABORTED: return Trouble::given_up;
    case HG_INTERRUPTED: return Trouble::interrupted;
    default: return Trouble::other;
  }
}

[[noreturn]] void throw_of(const hg_comm_status& status) {
  const std::string text(status.text, strnlen(status.text, sizeof status.text));
  throw CommError(trouble_of(status.code), status.rank, text.empty() ? "no reason given." : text);
}

hg_comm_patience c_patience(const Patience& p) {
  hg_comm_patience out{};
  out.size = sizeof out;
  out.nanoseconds = p.seconds < 0 ? -1 : static_cast<int64_t>(p.seconds * 1e9);
  if (p.stopped) {
    out.ctx = const_cast<std::function<bool()>*>(&p.stopped);
    out.stopped = [](void* f) { return (*static_cast<std::function<bool()>*>(f))() ? 1 : 0; };
  }
  return out;
}

constexpr int32_t kind_of(Kind kind) {
  switch (kind) {
    case Kind::all_reduce: return HG_COMM_ALL_REDUCE;
    case Kind::reduce_scatter: return HG_COMM_REDUCE_SCATTER;
    case Kind::all_gather: return HG_COMM_ALL_GATHER;
    case Kind::all_to_all: return HG_COMM_ALL_TO_ALL;
    case Kind::broadcast: return HG_COMM_BROADCAST;
    case Kind::barrier: return HG_COMM_BARRIER;
  }
  return -1;
}

}  // namespace

std::unique_ptr<Group> Group::open(const hg_comm_api* api, const Options& options,
                                   const Patience& patience) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const hg_comm_open how = {sizeof how, static_cast<uint32_t>(keys.size()), keys.data(),
                            values.data()};
  const hg_comm_patience limit = c_patience(patience);
  hg_comm_status status = empty_status();
  void* self = nullptr;
  if (api->open(&how, &limit, &self, &status) != 0)
    fail<RuntimeError>(text_of("communicator ", api->name),
                       "could not be opened: ", std::string_view(status.text));
  return std::make_unique<Group>(api, self);
}

Group::Group(const hg_comm_api* api, void* self) : api_(api), self_(self) {
  info_.size = sizeof info_;
  api_->info(self_, &info_);
}

Group::~Group() { close(false); }

void Group::close(bool healthy) {
  if (self_) api_->close(self_, healthy);
  self_ = nullptr;
}

bool Group::reduces(Kind kind, DType dtype, Reduction reduction) const {
  return (info_.caps & HG_COMM_CAP(kind_of(kind))) && api_->reduces &&
         api_->reduces(self_, static_cast<int32_t>(dtype), static_cast<int32_t>(reduction));
}

Group::Request& Group::Request::operator=(Request&& other) noexcept {
  std::swap(group_, other.group_);
  std::swap(self_, other.self_);
  return *this;
}

Group::Request::~Request() {
  if (!self_) return;
  group_->abort();  // so that it ends at once
  hg_comm_status status = empty_status();
  const hg_comm_patience none = c_patience({0, {}});
  group_->api_->wait(group_->self_, self_, &none, &status);
}

void Group::Request::wait(const Patience& patience) {
  if (!self_) return;
  const hg_comm_patience limit = c_patience(patience);
  hg_comm_status status = empty_status();
  void* const request = std::exchange(self_, nullptr);
  if (group_->api_->wait(group_->self_, request, &limit, &status) != 0) throw_of(status);
}

Group::Request Group::start(hg_comm_op& op, const std::shared_ptr<const void>& keep) {
  op.size = sizeof op;
  op.key = key_;
  if (keep) {
    op.owner = new std::shared_ptr<const void>(keep);
    op.release = [](void* p) { delete static_cast<std::shared_ptr<const void>*>(p); };
  }
  hg_comm_status status = empty_status();
  void* request = nullptr;
  if (api_->start(self_, &op, &request, &status) != 0) throw_of(status);
  return Request(this, request);
}

Group::Request Group::exchange(std::span<const hg_comm_part> send,
                               std::span<const hg_comm_part> recv,
                               const std::shared_ptr<const void>& keep) {
  hg_comm_op op{};
  op.kind = HG_COMM_EXCHANGE;
  op.send = send.data();
  op.recv = recv.data();
  return start(op, keep);
}

Group::Request Group::start(const Operation& from, Kind kind,
                            const std::shared_ptr<const void>& keep) {
  hg_comm_op op{};
  op.kind = kind_of(kind);
  op.in = from.in;
  op.out = from.out;
  op.count = from.count;
  op.dtype = static_cast<int32_t>(from.dtype);
  op.reduction = static_cast<int32_t>(from.reduction);
  op.root = from.root;
  return start(op, keep);
}

std::unique_ptr<Group> Group::shrink(std::span<const int> ranks) {
  hg_comm_status status = empty_status();
  const std::vector<int32_t> list(ranks.begin(), ranks.end());
  void* survivors = nullptr;
  if (api_->shrink(self_, static_cast<uint32_t>(list.size()), list.data(), &survivors, &status))
    throw_of(status);
  return std::make_unique<Group>(api_, survivors);
}

}  // namespace horngate::comm
