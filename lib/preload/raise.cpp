// SPDX-License-Identifier: Apache-2.0
#include "preload/raise.hpp"

#include "preload/staging.hpp"

#include <chorus/error.hpp>

#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <string>

namespace chorus::preload {
namespace {

/// MPI's code for `code`, which now means `text`.
int mpi_code(ErrorCode code, std::string text) {
  static std::mutex mutex;
  static std::map<ErrorCode, int> codes;
  const std::scoped_lock lock(mutex);
  int& known = codes[code];
  if (known == 0 && PMPI_Add_error_class(&known) != MPI_SUCCESS) return MPI_ERR_OTHER;
  if (text.size() >= MPI_MAX_ERROR_STRING) text.resize(MPI_MAX_ERROR_STRING - 1);
  PMPI_Add_error_string(known, text.c_str());
  return known;
}

/// Where MPI's handler ends the job: MPI prints the text, too, but its launcher may end before that has come.
void print_where_fatal(MPI_Comm comm, const char* text) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  if (handler == MPI_ERRORS_ARE_FATAL) std::fprintf(stderr, "%s\n", text);
  PMPI_Errhandler_free(&handler);
}

}  // namespace

int raise(MPI_Comm comm, const std::exception_ptr& exception) {
  int code = MPI_SUCCESS;
  try {
    std::rethrow_exception(exception);
  } catch (const Raised& raised) {
    return raised.code;
  } catch (const Error& error) {
    code = mpi_code(error.code(), error.what());
    print_where_fatal(comm, error.what());
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    code = mpi_code(ErrorCode::transport, error.what());
    print_where_fatal(comm, error.what());
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace chorus::preload
