// What the command leaves to Python.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace horngate::cli {

/// The folder of this program's file.
std::filesystem::path program_folder();

/// That of HORNGATE_PYTHON, else of the environment or clone this program is in, else python3.
std::string find_python();

/// Runs Python with these arguments and returns its exit code; `who` begins the message if there is no
/// Python.
int run_python(const std::string& who, const std::vector<std::string>& words);

}  // namespace horngate::cli
