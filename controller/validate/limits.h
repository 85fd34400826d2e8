// Bounds of what the controller takes from clients and agents (docs/operating.md, "Limits of the API").
#pragma once

#include <cstddef>

#include "rpc/bounded_parse.h"

namespace kasane::controller {

inline constexpr size_t kMiB = size_t{1} << 20;

// Of any message, by the transport: a Hello lists all that an agent holds.
inline constexpr size_t kMaxMessageBytes = 16 * kMiB;
// What gRPC may use for buffers of all connections, and the streams of one connection. A connection counts
// little: an agent has one stream, a client a few calls.
inline constexpr size_t kTransportMemory = 256 * kMiB;
inline constexpr int kMaxStreamsPerConnection = 128;
inline constexpr int kMaxThreads = 4096 + 128;  // One for each agent, and for calls.
// What all requests may cost together once they are parsed.
inline constexpr size_t kRequestMemory = 384 * kMiB;

inline constexpr size_t kMaxItems = 10'000;         // Of one Apply, Delete or part of an Import.
inline constexpr size_t kMaxImportItems = 250'000;  // Of one Import.
inline constexpr size_t kMaxListedFaults = 1'000;   // In one response; an Import may list more.
inline constexpr size_t kMaxListedInImport = 100'000;

inline constexpr rpc::MessageLimits kWriteLimits = {4 * kMiB, kMaxItems, 64 * kMiB};
inline constexpr rpc::MessageLimits kReadLimits = {64 * 1024, 64, kMiB};
inline constexpr rpc::MessageLimits kAgentLimits = {kMaxMessageBytes, 250'000, 192 * kMiB};

}  // namespace kasane::controller
