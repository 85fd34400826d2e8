#include "tests/lab/case/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/document.h"
#include "tests/lab/case/fields.h"
#include "tests/lab/case/icmp_error.h"
#include "vswitch/drop_reason.h"

namespace kasane::lab {
namespace {

constexpr std::string_view kVmText = "the name of a VM";
constexpr std::string_view kFrameText = "a packet such as \"icmp(src=10.0.0.1, dst=10.0.0.2)\" or \"hex:...\"";
constexpr uint32_t kMaxProbeSize = 65000;

std::optional<IpFamily> ReadFamily(Fields& fields) {
  const auto text = fields.OptionalText("family");
  if (!text) return std::nullopt;
  if (*text == "4") return IpFamily::kV4;
  if (*text == "6") return IpFamily::kV6;
  fields.Fail("family", fmt::format("expected 4 or 6, found \"{}\"", *text));
  return std::nullopt;
}

StepAction ReadProbe(Fields& fields, ProbeKind kind) {
  ProbeStep step;
  step.kind = kind;
  step.from = fields.Text("from", kVmText);
  step.to = fields.Text("to", "the name of a VM, or an address");
  step.family = ReadFamily(fields);
  if (kind != ProbeKind::kTcp) step.size = fields.Number("size", step.size, 32, kMaxProbeSize);
  if (kind == ProbeKind::kPing) {
    step.df = fields.Boolean("df", false);
    step.ttl = fields.Number("ttl", step.ttl, 1, 255);
  }
  step.count = fields.Number("count", 1, 1, 1000);
  step.error = fields.OptionalText("error");
  step.error_from = fields.OptionalText("error_from");
  step.answered_by = fields.OptionalText("answered_by").value_or("");
  if (step.error) {
    const absl::Status known = CheckIcmpErrorText(*step.error);
    if (!known.ok()) fields.Fail("error", std::string(Message(known)));
    if (step.answered_by.empty()) step.answered_by = "nobody";
  }
  if (step.error_from && !step.error)
    fields.Fail("error_from", "needs `error`, which says what comes from there");
  if (step.answered_by.empty() && IpAddress::Parse(step.to).ok()) {
    fields.Fail("answered_by", "is missing; expected who answers at the address: a VM, router or nobody");
  }
  if (step.answered_by.empty()) step.answered_by = step.to;
  return step;
}

ExpectedFrame ReadExpected(const files::Value& value, const std::string& path, CaseFaults& faults) {
  Fields fields(value, path, faults);
  ExpectedFrame expected;
  expected.line = value.line;
  expected.vm = fields.Text("vm", kVmText);
  expected.frame = fields.OptionalText("frame").value_or("");
  fields.Done();
  return expected;
}

std::vector<ExpectedFrame> ReadReceive(Fields& fields, std::string_view name) {
  std::vector<ExpectedFrame> expected;
  const files::Value* list = fields.Get(name);
  if (list == nullptr) return expected;
  if (list->type != files::Value::Type::kList) {
    fields.Fail(name, fmt::format("expected a list of {{vm, frame}}, found {}", TypeName(*list)));
    return expected;
  }
  for (size_t i = 0; i < list->items.size(); ++i) {
    expected.push_back(
        ReadExpected(*list->items[i], fmt::format("{}[{}]", fields.Path(name), i), fields.faults()));
  }
  return expected;
}

void CheckDropReason(Fields& fields, std::string_view text) {
  std::string labels;
  for (const vswitch::DropReason reason : vswitch::kAllDropReasons) {
    if (Label(reason) == text) return;
    labels += fmt::format("{}{}", labels.empty() ? "" : ", ", Label(reason));
  }
  fields.Fail("drop", fmt::format("\"{}\" is no drop reason; expected one of {}", text, labels));
}

void ReadDrop(Fields& fields, SendStep& step) {
  step.drop = fields.OptionalText("drop");
  step.at = fields.OptionalText("at").value_or("");
  if (!step.at.empty() && !step.drop) fields.Fail("at", "needs `drop`, whose host it is");
  if (step.drop) CheckDropReason(fields, *step.drop);
}

StepAction ReadSend(Fields& fields) {
  SendStep step;
  step.from = fields.OptionalText("from").value_or("");
  if (const files::Value* tunnel = fields.Get("from_tunnel")) {
    Fields inner(*tunnel, fields.Path("from_tunnel"), fields.faults());
    step.from_tunnel.emplace();
    step.from_tunnel->host = inner.Text("host", "the host that the packet arrives at");
    step.from_tunnel->source = inner.Text("source", "the outer source: a host's name or an address");
    inner.Require("vni", "a number from 0 to 16777215");
    step.from_tunnel->vni = inner.Number("vni", 0, 0, 0xffffff);
    step.from_tunnel->flags = inner.Number("flags", kVxlanFlags, 0, 255);
    inner.Done();
  }
  if (step.from.empty() == !step.from_tunnel) {
    fields.Fail("from", "expected exactly one of from (a VM) and from_tunnel");
  }
  step.frame = fields.Text("frame", kFrameText);
  step.count = fields.Number("count", 1, 1, 2000);
  step.receive = ReadReceive(fields, "receive");
  step.receive_one_of = ReadReceive(fields, "receive_one_of");
  ReadDrop(fields, step);
  return step;
}

StepAction ReadStorm(Fields& fields) {
  StormStep step;
  step.from = fields.Text("from", kVmText);
  step.frame = fields.Text("frame", kFrameText);
  step.count = fields.Number("count", step.count, 1, 100000);
  step.rate = fields.Number("rate", step.rate, 1, 100000);
  step.drop = fields.Text("drop", "the reason why some of them are dropped");
  if (!step.drop.empty()) CheckDropReason(fields, step.drop);
  return step;
}

files::ResourceFile ReadResources(const std::string& file, const files::Value& value, const std::string& path,
                                  CaseFaults& faults) {
  files::ResourceFile resources = ResourcesFromDocument(file, value);
  for (const model::Fault& fault : resources.faults) {
    faults.AddWhole(fmt::format("{}: {}.{}", file, path, ToString(fault)));
  }
  return resources;
}

StepAction ReadDelete(const files::Value& value, const std::string& path, CaseFaults& faults) {
  DeleteStep step;
  const auto fail = [&](int line, const std::string& at) {
    faults.Add(line, at, "expected lists of ids by kind, such as {ports: [p1, p2]}");
  };
  if (value.type != files::Value::Type::kMap || value.fields.empty()) fail(value.line, path);
  for (const auto& [section, ids] : value.fields) {
    const std::string at = fmt::format("{}.{}", path, section);
    const auto kind = model::KindFromText(section);
    if (!kind || ids->type != files::Value::Type::kList) {
      fail(ids->line, at);
      continue;
    }
    for (const files::ValuePtr& id : ids->items) step.keys.push_back({*kind, id->text});
  }
  return step;
}

StepAction ReadMove(Fields& fields) {
  return MoveStep{fields.Text("port", kVmText), fields.Text("to", "the host it goes to")};
}

StepAction ReadAddress(Fields& fields) {
  AddressStep step;
  step.vm = fields.Text("vm", kVmText);
  const auto add = fields.OptionalText("add");
  const auto remove = fields.OptionalText("remove");
  if (add.has_value() == remove.has_value())
    fields.Fail("add", "expected exactly one of add and remove, an address");
  step.add = add.has_value();
  step.announce = fields.Boolean("announce", true);
  if (!step.announce && !step.add)
    fields.Fail("announce", "expected with add only: what is removed is not announced");
  const auto address = IpAddress::Parse(add ? *add : remove.value_or(""));
  if (address.ok()) {
    step.address = *address;
  } else if (add || remove) {
    fields.Fail(add ? "add" : "remove", Message(address.status()));
  }
  return step;
}

std::optional<ControlAction> ActionOf(std::string_view name) {
  if (name == "kill") return ControlAction::kKill;
  if (name == "stop") return ControlAction::kStop;
  if (name == "start") return ControlAction::kStart;
  if (name == "restart") return ControlAction::kRestart;
  if (name == "pause") return ControlAction::kPause;
  if (name == "resume") return ControlAction::kResume;
  return std::nullopt;
}

StepAction ReadControl(const files::Value& value, ControlAction action, const std::string& path,
                       CaseFaults& faults) {
  ControlStep step{action, ControlTarget::kController, ""};
  const std::string& text = value.text;
  const size_t blank = text.find(' ');
  const std::string target = text.substr(0, blank);
  if (blank != std::string::npos) step.host = text.substr(text.find_first_not_of(' ', blank));
  if (target == "agent") step.target = ControlTarget::kAgent;
  if (target == "ovs") step.target = ControlTarget::kOvs;
  const bool good =
      target == "controller" ? step.host.empty() : (target == "agent" || target == "ovs") && !step.host.empty();
  if (value.type != files::Value::Type::kScalar || !good) {
    faults.Add(value.line, path,
               fmt::format("expected \"agent HOST\", \"ovs HOST\" or \"controller\", found \"{}\"", text));
  }
  return step;
}

StepAction ReadStream(Fields& fields) {
  StreamStep step;
  step.from = fields.Text("from", kVmText);
  step.to = fields.Text("to", "the name of a VM, or an address");
  step.family = ReadFamily(fields);
  step.rate = fields.Number("rate", step.rate, 1, 10000);
  step.max_lost = fields.Number("max_lost", 0, 0, 1000000);
  return step;
}

StepAction ReadTrace(Fields& fields) {
  TraceStep step;
  step.from = fields.Text("from", kVmText);
  step.packet = fields.Text("packet", "a packet");
  step.verdict = fields.Text("verdict", "\"delivered VM\" or \"dropped REASON\"");
  const bool good = step.verdict.rfind("delivered ", 0) == 0 || step.verdict.rfind("dropped ", 0) == 0;
  if (!good && !step.verdict.empty()) {
    fields.Fail("verdict",
                fmt::format("expected \"delivered VM\" or \"dropped REASON\", found \"{}\"", step.verdict));
  }
  return step;
}

StepAction ReadWait(const files::Value& value, const std::string& path, CaseFaults& faults) {
  if (value.text != "applied") {
    faults.Add(value.line, path, fmt::format("expected \"applied\", found \"{}\"", value.text));
  }
  return WaitStep{};
}

constexpr std::string_view kStepNames =
    "ping, udp, tcp, send, storm, apply, delete, move, address, kill, stop, start, restart, pause, "
    "resume, stream, end_stream, wait, trace";

using FieldsReader = StepAction (*)(Fields&);

// Steps whose value is a mapping of fields.
FieldsReader FieldsReaderOf(std::string_view name) {
  if (name == "ping") return [](Fields& fields) { return ReadProbe(fields, ProbeKind::kPing); };
  if (name == "udp") return [](Fields& fields) { return ReadProbe(fields, ProbeKind::kUdp); };
  if (name == "tcp") return [](Fields& fields) { return ReadProbe(fields, ProbeKind::kTcp); };
  if (name == "send") return ReadSend;
  if (name == "storm") return ReadStorm;
  if (name == "move") return ReadMove;
  if (name == "address") return ReadAddress;
  if (name == "stream") return ReadStream;
  if (name == "trace") return ReadTrace;
  if (name == "end_stream") return [](Fields&) -> StepAction { return EndStreamStep{}; };
  return nullptr;
}

StepAction ReadAction(const std::string& file, const std::string& name, const files::Value& value,
                      const std::string& path, CaseFaults& faults) {
  if (const FieldsReader reader = FieldsReaderOf(name)) {
    Fields fields(value, path, faults);
    StepAction action = reader(fields);
    fields.Done();
    return action;
  }
  if (name == "apply") return ApplyStep{ReadResources(file, value, path, faults)};
  if (name == "delete") return ReadDelete(value, path, faults);
  if (name == "wait") return ReadWait(value, path, faults);
  if (const auto action = ActionOf(name)) return ReadControl(value, *action, path, faults);
  faults.Add(value.line, path, fmt::format("unknown step; expected one of {}", kStepNames));
  return WaitStep{};
}

void ReadSteps(const files::Value& list, Case& out, CaseFaults& faults) {
  if (list.type != files::Value::Type::kList || list.items.empty()) {
    return faults.Add(list.line, "steps", fmt::format("expected a list of steps, found {}", TypeName(list)));
  }
  for (size_t i = 0; i < list.items.size(); ++i) {
    const files::Value& item = *list.items[i];
    const std::string path = fmt::format("steps[{}]", i);
    if (item.type != files::Value::Type::kMap || item.fields.size() != 1) {
      faults.Add(item.line, path, fmt::format("expected a mapping with one of {}", kStepNames));
      continue;
    }
    const auto& [name, value] = item.fields.front();
    out.steps.push_back(
        {item.line, name, ReadAction(out.file, name, *value, fmt::format("{}.{}", path, name), faults)});
  }
}

void ReadDatapaths(Fields& fields, Case& out) {
  const files::Value* list = fields.Get("datapaths");
  if (list == nullptr) {
    out.datapaths = {"sim", "ovs"};
    return;
  }
  for (const files::ValuePtr& item : list->items) {
    if (item->text == "sim" || item->text == "ovs" || item->text == "ovs-kernel") {
      out.datapaths.push_back(item->text);
    } else {
      fields.Fail("datapaths", fmt::format("expected sim, ovs or ovs-kernel, found \"{}\"", item->text));
    }
  }
  if (out.datapaths.empty()) fields.Fail("datapaths", "expected a list such as [sim, ovs]");
}

void ReadTopology(Fields& fields, Case& out) {
  const files::Value* value = fields.Require("topology", "resources, or the name of a file of them");
  if (value == nullptr) return;
  out.topology_file = out.file;
  if (value->type == files::Value::Type::kMap) {
    out.topology = ReadResources(out.file, *value, "topology", fields.faults());
    return;
  }
  if (value->type != files::Value::Type::kScalar) {
    return fields.Fail("topology",
                       fmt::format("expected resources or a file's name, found {}", TypeName(*value)));
  }
  if (std::filesystem::path(value->text).is_absolute()) {
    return fields.Fail("topology", "expected resources, or the name of a file relative to this one");
  }
  out.topology_file = (std::filesystem::path(out.file).parent_path() / value->text).string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(out.topology_file, error)) {
    return fields.Fail("topology", fmt::format("{}: there is no such file", out.topology_file));
  }
  auto read = files::ReadResourceFile(out.topology_file);
  if (!read.ok()) return fields.Fail("topology", std::string(Message(read.status())));
  for (const model::Fault& fault : read->faults) {
    fields.faults().AddWhole(fmt::format("{}: {}", out.topology_file, ToString(fault)));
  }
  out.topology = *std::move(read);
}

}  // namespace

std::string_view Label(ProbeKind kind) {
  constexpr std::array<std::string_view, 3> kLabels = {"ping", "udp", "tcp"};
  return kLabels[static_cast<size_t>(kind)];
}

bool RunsOn(const Case& subject, std::string_view datapath) {
  return std::find(subject.datapaths.begin(), subject.datapaths.end(), datapath) != subject.datapaths.end();
}

absl::StatusOr<Case> ParseCase(const std::string& file, const std::string& text) {
  const auto document = files::ParseDocument(text);
  if (!document.ok()) return Invalid("{}: {}", file, Message(document.status()));
  Case out;
  out.file = file;
  out.name = std::filesystem::path(file).stem().string();
  CaseFaults faults(file);
  Fields fields(**document, "", faults);
  out.why = fields.Text("case", "one sentence that says why");
  ReadTopology(fields, out);
  ReadDatapaths(fields, out);
  if (const files::Value* steps = fields.Require("steps", "a list of steps")) ReadSteps(*steps, out, faults);
  fields.Done();
  if (!faults.empty()) return absl::InvalidArgumentError(Absl(faults.Text()));
  return out;
}

}  // namespace kasane::lab
