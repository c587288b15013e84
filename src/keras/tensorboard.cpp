// Event files of TensorBoard: records of protocol buffers, each with its length and two sums.
#include <unistd.h>

#include <bit>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "horngate/error.h"
#include "horngate/keras/callbacks.h"
#include "horngate/keras/model.h"

namespace horngate::keras {
namespace {

/// CRC-32C, a bit at a time: records are short.
uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

/// Sums are kept in this form, so that sums of sums differ from them.
uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8u; }

template <class T>
std::string little_endian(T value) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Fields of protocol buffers: number and kind, then the value.
std::string field_double(uint32_t number, double value) {
  return varint(number << 3 | 1) + little_endian(value);
}
std::string field_float(uint32_t number, float value) {
  return varint(number << 3 | 5) + little_endian(value);
}
std::string field_int(uint32_t number, int64_t value) {
  return varint(number << 3) + varint(static_cast<uint64_t>(value));
}
std::string field_bytes(uint32_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class Events {
 public:
  explicit Events(const std::string& folder) {
    std::error_code wrong;
    std::filesystem::create_directories(folder, wrong);
    char host[256] = "host";
    (void)gethostname(host, sizeof host - 1);
    path_ = folder + "/events.out.tfevents." + std::to_string(static_cast<int64_t>(now())) + "." +
            host + "." + std::to_string(getpid());
    file_.open(path_, std::ios::binary | std::ios::app);
    if (!file_) throw RuntimeError("TensorBoard: cannot write " + path_ + ".");
    write(field_double(1, now()) + field_bytes(3, "brain.Event:2"));
  }

  void scalars(const Logs& logs, int64_t step) {
    std::string summary;
    for (const auto& [name, value] : logs)
      summary += field_bytes(1, field_bytes(1, name) + field_float(2, static_cast<float>(value)));
    write(field_double(1, now()) + field_int(2, step) + field_bytes(5, summary));
  }

 private:
  void write(const std::string& event) {
    const std::string length = little_endian<uint64_t>(event.size());
    file_ << length << little_endian(masked(crc32c(length))) << event
          << little_endian(masked(crc32c(event)));
    if (!file_.flush()) throw RuntimeError("TensorBoard: cannot write " + path_ + ".");
  }

  std::string path_;
  std::ofstream file_;
};

class Board final : public CallbackBody {
 public:
  explicit Board(TensorBoardOptions o) : o_(std::move(o)) {
    if (o_.update_freq == "epoch") return;
    every_ = 1;
    if (o_.update_freq == "batch") return;
    const char* end = o_.update_freq.data() + o_.update_freq.size();
    if (std::from_chars(o_.update_freq.data(), end, every_).ptr != end || every_ < 1)
      throw ValueError(
          "TensorBoard: update_freq must be \"epoch\", \"batch\" or a number of samples; got \"" +
          o_.update_freq + "\".");
  }
  void on_train_begin() override { events_ = std::make_unique<Events>(o_.log_dir); }
  void on_batch_end(int64_t, int64_t size, const Logs& logs) override {
    if (every_ == 0) return;
    seen_ += size;
    if (seen_ - written_ < every_) return;
    events_->scalars(logs, seen_);
    written_ = seen_;
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    events_->scalars(logs, every_ ? seen_ : epoch);
  }
  void on_train_end() override { events_.reset(); }

 private:
  TensorBoardOptions o_;
  int64_t every_ = 0, seen_ = 0, written_ = 0;  // every_ 0: epochs alone
  std::unique_ptr<Events> events_;
};

}  // namespace

Callback TensorBoard(const TensorBoardOptions& o) { return std::make_shared<Board>(o); }

}  // namespace horngate::keras
