#include "model/fault_details.h"

#include <absl/strings/numbers.h>

#include <algorithm>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace kasane::model {
namespace {

constexpr const char* kDomain = "kasane";
constexpr const char* kCount = "faults";

}  // namespace

std::string EncodeFaultDetails(int code, std::string_view message, const FaultDetails& details) {
  google::rpc::BadRequest request;
  size_t bytes = 0;
  for (const Fault& fault : details.faults) {
    bytes += fault.path.size() + fault.message.size();
    if (request.field_violations_size() == kMaxFaultsInDetails || bytes > kMaxFaultDetailBytes) break;
    auto& violation = *request.add_field_violations();
    violation.set_field(fault.path);
    violation.set_description(fault.message);
  }
  google::rpc::ErrorInfo info;
  info.set_reason(details.reason);
  info.set_domain(kDomain);
  (*info.mutable_metadata())[kCount] = std::to_string(details.total);
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(std::string(message));
  status.add_details()->PackFrom(info);
  status.add_details()->PackFrom(request);
  return status.SerializeAsString();
}

FaultDetails DecodeFaultDetails(std::string_view bytes) {
  FaultDetails out;
  google::rpc::Status status;
  if (!status.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return out;
  google::rpc::ErrorInfo info;
  google::rpc::BadRequest request;
  for (const google::protobuf::Any& detail : status.details()) {
    if (detail.UnpackTo(&request)) {
      for (const auto& violation : request.field_violations())
        out.faults.push_back({violation.field(), violation.description()});
    } else if (detail.UnpackTo(&info) && info.domain() == kDomain) {
      out.reason = info.reason();
      const auto count = info.metadata().find(kCount);
      if (count != info.metadata().end() && !absl::SimpleAtoi(count->second, &out.total)) out.total = 0;
    }
  }
  out.total = std::max(out.total, out.faults.size());
  return out;
}

}  // namespace kasane::model
