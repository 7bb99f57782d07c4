// The version of these headers, for #if and for logs.
#ifndef MUSTER_VERSION_H_
#define MUSTER_VERSION_H_

#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0
// "major.minor.patch". Below 1.0.0 a minor version may change the API and, as
// the CHANGELOG's "Decisions changed" tells, what is decided. The ABI of shared
// libraries is that of one minor version (their SOVERSION is "major.minor"), of
// one C++ standard library and of one release of Abseil, whose types are in it.
#define MUSTER_VERSION "0.1.0"

#endif  // MUSTER_VERSION_H_
