// Small helpers of the commands.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ctl/commands/commands.h"
#include "model/decode.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace kasane::ctl {

// Says what went wrong on standard error; the exit code for it.
int Failed(const absl::Status& status);
int WrongUsage(std::string_view message);

// Each fault on a line of standard error, then how many; kFailed.
int PrintFaults(const std::vector<model::Fault>& faults, std::string_view consequence);

// The table for people, or the reply whole for programs.
void Print(const Globals& globals, const std::string& table, const google::protobuf::Message& reply);

// The kind that a word of the command line names; a message with those there are if none.
std::optional<model::Kind> KindArgument(const std::string& text);

}  // namespace kasane::ctl
