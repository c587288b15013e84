// Where the Theano engine's own Python is.
#pragma once

#include <filesystem>
#include <string>

namespace horngate::theano {

/// The Theano version that this engine drives; graphs and cache of other versions are different.
inline constexpr const char* kVersion = "1.0.5";

struct Installation {
  std::filesystem::path python;  // the program that runs the worker
  std::filesystem::path worker;  // the worker's main file, beside this plug-in
  std::filesystem::path cache;   // Theano's compiled modules
};

/// Fills it, or returns what is missing and how to get it.
std::string find_installation(Installation& found);

}  // namespace horngate::theano
