// MUSTER_API: what the shared libraries export.
#ifndef MUSTER_EXPORT_H_
#define MUSTER_EXPORT_H_

// Stands at each class and function whose code is in muster::core or
// muster::graphml. Everything else in them is hidden, in static libraries too:
// a host that is itself a shared library does not show Muster's insides.
#if defined(__GNUC__)
#define MUSTER_API __attribute__((visibility("default")))
#else
#define MUSTER_API
#endif

#endif  // MUSTER_EXPORT_H_
