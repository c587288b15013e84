// The processes that run one program together, its ranks: who they are, and operations on arrays that all of them do.
#pragma once

#include <string>
#include <vector>

#include "horngate/function.h"
#include "horngate/ranks.h"

namespace horngate::distributed {

/// Meets the other ranks, which `horngate launch`, mpirun or srun started. Without one of these a process is alone,
/// and all operations have one rank. The other functions here call it; every rank does, at about the same time.
/// Example: K::distributed::init();
HORNGATE_API void init();
/// Whether this process has met the others.
/// Example: if (!K::distributed::is_initialized()) K::distributed::init();
[[nodiscard]] HORNGATE_API bool is_initialized();
/// Leaves once all ranks do. A program that ends does so by itself.
/// Example: K::distributed::shutdown();
HORNGATE_API void shutdown();

/// This process's number, from 0 on.
/// Example: if (K::distributed::rank() == 0) K::save("net.npz", {w});
[[nodiscard]] HORNGATE_API int rank();
/// How many ranks there are.
/// Example: const double rate = 0.1 * K::distributed::size();
[[nodiscard]] HORNGATE_API int size();
/// The number among the ranks on this machine.
/// Example: const int number = K::distributed::local_rank();
[[nodiscard]] HORNGATE_API int local_rank();
/// How many ranks are on this machine.
/// Example: const int here = K::distributed::local_size();
[[nodiscard]] HORNGATE_API int local_size();
/// The name of the machine on which a rank runs.
/// Example: std::cout << K::distributed::host(0);
[[nodiscard]] HORNGATE_API std::string host(int rank);

enum class Reduce { sum, average, min, max, prod };

struct ReduceOptions {
  Reduce op = Reduce::sum;
  Order order = Order::automatic;
  std::string name = {};  // for messages
};

/// The sum (or mean, ..) of the ranks' arrays, on all of them. Shapes and dtypes are the same on all ranks.
/// Example: K::Array mean = K::distributed::all_reduce(loss, {.op = K::distributed::Reduce::average});
[[nodiscard]] HORNGATE_API Array all_reduce(const Array& x, const ReduceOptions& options = {});
/// The same, but each rank gets only its part of the first axis, which the number of ranks must divide.
/// Example: K::Array mine = K::distributed::reduce_scatter(gradients);
[[nodiscard]] HORNGATE_API Array reduce_scatter(const Array& x, const ReduceOptions& options = {});
/// The ranks' arrays joined along the first axis, in which they may differ; numbers give an array with one
/// entry per rank.
/// Example: K::Array all = K::distributed::all_gather(predictions);
[[nodiscard]] HORNGATE_API Array all_gather(const Array& x, const std::string& name = {});
/// Part r of the first axis goes to rank r; the result has the parts that came, by rank.
/// Example: K::Array mixed = K::distributed::all_to_all(samples);
[[nodiscard]] HORNGATE_API Array all_to_all(const Array& x, const std::string& name = {});
/// The array of one rank, on all of them. Shapes and dtypes are the same on all ranks.
/// Example: K::Array seed = K::distributed::broadcast(K::Array(7), 0);
[[nodiscard]] HORNGATE_API Array broadcast(const Array& x, int root = 0,
                                           const std::string& name = {});
/// Sets variables to their values on one rank: all of them or, if that fails, none.
/// Example: K::distributed::broadcast_variables({w, b});
HORNGATE_API void broadcast_variables(const std::vector<Variable>& variables, int root = 0);
/// Waits for all ranks.
/// Example: K::distributed::barrier();
HORNGATE_API void barrier();

/// Tells the other ranks that this one cannot go on: what they wait for throws with this text.
/// Example: K::distributed::give_up("a file is missing.");
HORNGATE_API void give_up(const std::string& why);
/// After a CommError: the ranks that are left go on with new numbers, in the same order. All of them call it.
/// Example: try { step(); } catch (const K::distributed::CommError&) { K::distributed::shrink(); }
HORNGATE_API void shrink();

}  // namespace horngate::distributed
