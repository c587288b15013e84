// What the command leaves to Python.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "child.h"

namespace horngate::cli {

/// The folder of this program's file.
std::filesystem::path program_folder();

/// That of HORNGATE_PYTHON, else of the environment or clone this program is in, else python3.
std::string find_python();

/// Runs Python with these arguments and returns its exit code; `who` begins the message if there is no
/// Python.
int run_python(const std::string& who, const std::vector<std::string>& words);

/// 0 if Python has our module, which an installation for C++ lacks; else says so and returns an exit code.
int check_module(const std::string& who);

/// Runs a short Python program and returns what it wrote to standard output.
Output ask_python(const std::string& program);

/// Runs the installer for a kind of thing, "engines" or "comm".
int run_installer(const std::string& kind, const std::vector<std::string>& arguments);

}  // namespace horngate::cli
