// A graph as the worker gets it, and the shared memory through which its arrays pass.
#include "program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace horngate::theano {
namespace {

size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

/// Text of one graph and its bodies; constants are collected behind it.
class Writer {
 public:
  std::string text, data;

  void graph(const hg_graph& g) {
    text += "{\"values\":[";
    for (uint32_t i = 0; i < g.n_value; ++i) {
      if (i) text += ',';
      type(g.value[i]);
    }
    text += "],\"in\":";
    list(g.in, g.n_in);
    text += ",\"out\":";
    list(g.out, g.n_out);
    text += ",\"nodes\":[";
    for (uint32_t i = 0; i < g.n_node; ++i) {
      if (i) text += ',';
      node(g.node[i]);
    }
    text += "]";
  }

  template <class T>
  void list(const T* items, size_t n) {
    text += '[';
    for (size_t i = 0; i < n; ++i) {
      if (i) text += ',';
      text += std::to_string(items[i]);
    }
    text += ']';
  }

 private:
  void type(const hg_type& t) {
    text += "[" + std::to_string(t.dtype) + ",";
    list(t.dims, static_cast<size_t>(t.rank));
    text += ']';
  }

  void words(const char* s, size_t n) {
    text += '"';
    for (size_t i = 0; i < n; ++i) {
      const auto c = static_cast<unsigned char>(s[i]);
      if (c == '"' || c == '\\') {
        text += '\\';
        text += static_cast<char>(c);
      } else if (c < 0x20) {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", c);
        text += code;
      } else {
        text += static_cast<char>(c);
      }
    }
    text += '"';
  }
  void words(const char* s) { s ? words(s, std::strlen(s)) : void(text += "null"); }

  void number(double x) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", x);
    text += std::isnan(x) ? "NaN" : std::isinf(x) ? (x < 0 ? "-Infinity" : "Infinity") : digits;
  }

  void attribute(const hg_attr& a) {
    words(a.key);
    text += ':';
    switch (a.kind) {
      case HG_ATTR_I64: list(static_cast<const int64_t*>(a.data), a.n); break;
      case HG_ATTR_F64:
        text += '[';
        for (uint32_t i = 0; i < a.n; ++i) {
          if (i) text += ',';
          number(static_cast<const double*>(a.data)[i]);
        }
        text += ']';
        break;
      case HG_ATTR_TEXT: words(static_cast<const char*>(a.data), a.n); break;
      case HG_ATTR_TYPE: text += std::to_string(*static_cast<const int32_t*>(a.data)); break;
      default: {
        const auto& b = *static_cast<const hg_buffer*>(a.data);
        data.resize(aligned(data.size()));
        text += "{\"type\":";
        type(b.type);
        text += ",\"at\":" + std::to_string(data.size()) + ",\"bytes\":" + std::to_string(b.bytes) +
                "}";
        data.append(static_cast<const char*>(b.data), b.bytes);
      }
    }
  }

  void node(const hg_node& n) {
    text += "{\"prim\":";
    words(n.prim);
    text += ",\"in\":";
    list(n.in, n.n_in);
    text += ",\"out\":";
    list(n.out, n.n_out);
    text += ",\"attrs\":{";
    for (uint32_t i = 0; i < n.n_attr; ++i) {
      if (i) text += ',';
      attribute(n.attr[i]);
    }
    text += "},\"name\":";
    words(n.name);
    text += ",\"function\":";
    words(n.function);
    text += ",\"bodies\":[";
    for (uint32_t i = 0; i < n.n_body; ++i) {
      if (i) text += ',';
      graph(*n.body[i]);
      text += '}';
    }
    text += "]}";
  }
};

size_t bytes_of(const hg_type& t) {
  static constexpr size_t kSizes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  size_t n = kSizes[t.dtype];
  for (int32_t i = 0; i < t.rank; ++i) n *= static_cast<size_t>(t.dims[i]);
  return n;
}

std::atomic<uint32_t> next_id{1};

}  // namespace

std::string write_program(const hg_graph& graph, const std::vector<size_t>& in_at,
                          const std::vector<size_t>& out_at) {
  Writer w;
  w.graph(graph);
  w.text += ",\"in_at\":";
  w.list(in_at.data(), in_at.size());
  w.text += ",\"out_at\":";
  w.list(out_at.data(), out_at.size());
  w.text += '}';
  // Header: length of the text and where the constants begin.
  const uint64_t head[2] = {w.text.size(), aligned(sizeof head + w.text.size())};
  std::string all(reinterpret_cast<const char*>(head), sizeof head);
  all += w.text;
  all.resize(head[1]);
  return all + w.data;
}

Program::Program(const hg_graph& g) : id(next_id++), stamps(g.n_in, 0) {
  const auto place = [&](uint32_t v, std::vector<size_t>& at, std::vector<size_t>& bytes) {
    at.push_back(size_);
    bytes.push_back(bytes_of(g.value[v]));
    size_ += aligned(bytes.back());
  };
  for (uint32_t i = 0; i < g.n_in; ++i) place(g.in[i], in_at, in_bytes);
  for (uint32_t i = 0; i < g.n_out; ++i) place(g.out[i], out_at, out_bytes);
  if (size_ == 0) size_ = 64;
  text = write_program(g, in_at, out_at);
}

Program::~Program() { drop_memory(); }

void Program::close_file() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void Program::drop_memory() {
  if (map_) munmap(map_, size_);
  map_ = nullptr;
  close_file();
}

bool Program::make_memory() {
  drop_memory();
  stamps.assign(stamps.size(), 0);
  fd_ = memfd_create("horngate-theano", MFD_CLOEXEC);
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(size_)) != 0) return false;
  void* map = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) return false;
  map_ = static_cast<char*>(map);
  return true;
}

int file_in_memory(const std::string& bytes) {
  const int fd = memfd_create("horngate-theano-program", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n <= 0) {
      close(fd);
      return -1;
    }
    done += static_cast<size_t>(n);
  }
  return fd;
}

}  // namespace horngate::theano
