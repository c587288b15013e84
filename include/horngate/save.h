// Arrays and variables in files, by name: .npz and .safetensors hold many, .npy holds one.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "horngate/function.h"

namespace horngate {

using NamedArrays = std::map<std::string, Array>;

/// Writes arrays to an .npz or .safetensors file. The file is whole or, if anything fails, as it was before.
/// Example: K::save("net.npz", {{"w", K::get_value(w)}, {"b", K::get_value(b)}});
HORNGATE_API void save(const std::string& path, const NamedArrays& arrays);
/// Variables by their names, all with the values of one moment.
/// Example: K::save("net.safetensors", {w, b});
HORNGATE_API void save(const std::string& path, const std::vector<Variable>& variables);
inline void save(const std::string& path, std::initializer_list<Variable> variables) {
  save(path, std::vector<Variable>(variables));
}
/// One array, to an .npy file.
/// Example: K::save("w.npy", K::get_value(w));
HORNGATE_API void save(const std::string& path, const Array& array);

/// All arrays of an .npz or .safetensors file. The one of an .npy file has the name "".
/// Example: K::Array w = K::load("net.npz").at("w");
[[nodiscard]] HORNGATE_API NamedArrays load(const std::string& path);
/// Sets variables to what the file has under their names: all of them, or none if one is missing or has another
/// shape. The file may hold more.
/// Example: K::load("net.safetensors", {w, b});
HORNGATE_API void load(const std::string& path, const std::vector<Variable>& variables);
/// The array of an .npy file.
/// Example: K::set_value(w, K::load_array("w.npy"));
[[nodiscard]] HORNGATE_API Array load_array(const std::string& path);

}  // namespace horngate
