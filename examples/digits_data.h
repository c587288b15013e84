// The 1,797 handwritten digits of the UCI repository, for the examples.
#pragma once

#include <horngate/error.h>

#include <fstream>
#include <string>
#include <vector>

namespace digits {

struct Data {
  std::vector<float> images;  // 64 per digit, 0 to 1
  std::vector<int> labels;
  size_t size() const { return labels.size(); }
};

/// One line per digit: its label, a space, 64 characters '0'..'9', 'a'..'g' for the pixel values 0..16.
inline Data read_digits(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw horngate::RuntimeError("digits: cannot read " + path + ".");
  Data data;
  std::string line;
  while (std::getline(file, line)) {
    if (line.size() != 66)
      throw horngate::ValueError("digits: " + path + " has a line that is not a digit: " + line);
    data.labels.push_back(line[0] - '0');
    for (size_t i = 2; i < 66; ++i)
      data.images.push_back(
          static_cast<float>(line[i] <= '9' ? line[i] - '0' : line[i] - 'a' + 10) / 16.0f);
  }
  return data;
}

}  // namespace digits
