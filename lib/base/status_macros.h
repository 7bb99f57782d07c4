#ifndef MUSTER_LIB_BASE_STATUS_MACROS_H_
#define MUSTER_LIB_BASE_STATUS_MACROS_H_

#include "absl/status/status.h"

// Returns the status of `expr` from the function unless it is OK.
#define MUSTER_RETURN_IF_ERROR(expr)                                  \
  do {                                                                \
    if (::absl::Status muster_status = (expr); !muster_status.ok()) { \
      return muster_status;                                           \
    }                                                                 \
  } while (false)

#endif  // MUSTER_LIB_BASE_STATUS_MACROS_H_
