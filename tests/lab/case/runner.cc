#include "tests/lab/case/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status.h"
#include "tests/lab/case/frame_text.h"

namespace kasane::lab {
namespace {

// Nothing: as expected.
struct Difference {
  std::string expected;
  std::string seen;
};
using Judgement = absl::StatusOr<std::optional<Difference>>;

constexpr std::string_view kNobody = "nobody";

Judgement AsExpected() { return std::optional<Difference>(); }
Judgement Differs(std::string expected, std::string seen) {
  return std::optional<Difference>({std::move(expected), std::move(seen)});
}

Judgement Done(const absl::Status& status) {
  if (!status.ok()) return status;
  return AsExpected();
}

std::string Who(const std::set<std::string>& names) {
  return names.empty() ? std::string(kNobody) : fmt::format("{}", fmt::join(names, " and "));
}

class CaseRun {
 public:
  CaseRun(const Case& subject, CaseWorld& world) : subject_(subject), world_(world) {}

  CaseResult Go() {
    const auto begin = std::chrono::steady_clock::now();
    result_.name = subject_.name;
    All();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  void All() {
    if (!Take(Done(world_.Start()), fmt::format("{}: bringing it up", subject_.file))) return;
    for (size_t i = 0; i < subject_.steps.size(); ++i) {
      const CaseStep& step = subject_.steps[i];
      const std::string where = fmt::format("{}:{}: steps[{}].{}", subject_.file, step.line, i, step.name);
      const Judgement judgement = std::visit([this](const auto& action) { return Do(action); }, step.action);
      if (!Take(judgement, where)) return;
    }
    if (streaming_ && !Take(Do(EndStreamStep{}), fmt::format("{}: stream until the end", subject_.file)))
      return;
    Take(Done(world_.WaitApplied()), fmt::format("{}: after the last step", subject_.file)) &&
        Take(Done(world_.CheckFlows()), fmt::format("{}: flows after the last step", subject_.file));
  }

  // False if it is a failure, which ends the case.
  bool Take(const Judgement& judgement, const std::string& where) {
    if (judgement.ok() && !*judgement) return true;
    result_.failure.emplace();
    result_.failure->where = where;
    if (judgement.ok()) {
      result_.failure->expected = (*judgement)->expected;
      result_.failure->seen = (*judgement)->seen;
    } else {
      result_.failure->expected = "the step can be done";
      result_.failure->seen = std::string(Message(judgement.status()));
    }
    return false;
  }

  absl::StatusOr<IpAddress> Target(const std::string& to, const std::optional<IpFamily>& family) const {
    if (auto address = IpAddress::Parse(to); address.ok()) return *address;
    ASSIGN_OR_RETURN(const std::string text, world_.resources().Substitute(to));
    if (auto address = IpAddress::Parse(text); address.ok()) return *address;
    ASSIGN_OR_RETURN(const model::Port* const port, world_.resources().FindPort(to));
    for (const IpFamily wanted : {IpFamily::kV4, IpFamily::kV6}) {
      if (family && *family != wanted) continue;
      for (const model::FixedIp& ip : port->fixed_ips) {
        if (ip.address.family() == wanted) return ip.address;
      }
    }
    return Invalid("{} has no address of the family", to);
  }

  Judgement Do(const ProbeStep& step) {
    ASSIGN_OR_RETURN(const Vm* const from, world_.resources().Find(step.from));
    ASSIGN_OR_RETURN(const IpAddress to, Target(step.to, step.family));
    const bool nobody = step.answered_by == kNobody;
    if (!nobody && step.answered_by != "router") {
      RETURN_IF_ERROR(world_.resources().Find(step.answered_by).status());
    }
    for (uint32_t i = 0; i < step.count; ++i) {
      ASSIGN_OR_RETURN(const ProbeOutcome outcome, world_.Probe(step, *from, to, !nobody || step.error));
      const std::set<std::string> expected =
          nobody ? std::set<std::string>() : std::set<std::string>{step.answered_by};
      if (outcome.answered_by != expected ||
          (step.error && outcome.errors != std::set<std::string>{*step.error}) ||
          (!step.error && !nobody && !outcome.errors.empty())) {
        return Differs(fmt::format("{} -> {}: answered by {}{}", step.from, to, step.answered_by,
                                   step.error ? ", error " + *step.error : ""),
                       fmt::format("answered by {}{}", Who(outcome.answered_by),
                                   outcome.errors.empty() ? "" : ", error " + Who(outcome.errors)));
      }
      if (!step.error_from) continue;
      ASSIGN_OR_RETURN(const IpAddress source, Target(*step.error_from, to.family()));
      if (outcome.error_sources != std::set<std::string>{source.ToString()}) {
        return Differs(fmt::format("the error comes from {}", source),
                       fmt::format("it comes from {}", Who(outcome.error_sources)));
      }
    }
    return AsExpected();
  }

  // Of the field `frame`, with names in it.
  absl::StatusOr<FrameBytes> FrameOf(const std::string& field) const {
    ASSIGN_OR_RETURN(const std::string text, world_.resources().Substitute(field));
    auto frame = FrameFromText(text);
    if (!frame.ok()) return Annotate(frame.status(), "frame");
    return frame;
  }

  absl::StatusOr<Injection> InjectionOf(const SendStep& step) const {
    Injection injection;
    injection.vm = step.from;
    injection.count = step.count;
    if (step.from_tunnel) {
      RETURN_IF_ERROR(world_.resources().CheckHost(step.from_tunnel->host));
      injection.host = step.from_tunnel->host;
      injection.vni = step.from_tunnel->vni;
      injection.flags = step.from_tunnel->flags;
      std::string source = step.from_tunnel->source;
      if (world_.resources().CheckHost(source).ok()) source = fmt::format("vtep({})", source);
      ASSIGN_OR_RETURN(source, world_.resources().Substitute(source));
      ASSIGN_OR_RETURN(injection.outer_source, IpAddress::Parse(source));
    } else {
      RETURN_IF_ERROR(world_.resources().Find(step.from).status());
    }
    ASSIGN_OR_RETURN(injection.frame, FrameOf(step.frame));
    return injection;
  }

  absl::StatusOr<std::vector<ExpectedFrame>> Resolve(const std::vector<ExpectedFrame>& frames) const {
    std::vector<ExpectedFrame> resolved;
    for (const ExpectedFrame& one : frames) {
      RETURN_IF_ERROR(world_.resources().Find(one.vm).status());
      ASSIGN_OR_RETURN(std::string text, world_.resources().Substitute(one.frame));
      resolved.push_back({one.line, one.vm, std::move(text)});
    }
    return resolved;
  }

  Judgement Do(const SendStep& step) {
    ASSIGN_OR_RETURN(const Injection injection, InjectionOf(step));
    if (!step.at.empty()) RETURN_IF_ERROR(world_.resources().CheckHost(step.at));
    ASSIGN_OR_RETURN(const std::vector<ExpectedFrame> all, Resolve(step.receive));
    ASSIGN_OR_RETURN(const std::vector<ExpectedFrame> one_of, Resolve(step.receive_one_of));
    std::vector<ExpectedFrame> expected;
    for (uint32_t i = 0; i < step.count; ++i) expected.insert(expected.end(), all.begin(), all.end());
    const size_t count = expected.size() + (one_of.empty() ? 0 : step.count);
    ASSIGN_OR_RETURN(SendOutcome outcome, world_.Send(injection, count));
    if (!one_of.empty()) {
      ASSIGN_OR_RETURN(const ExpectedFrame receiver, ChosenOf(one_of, outcome.seen));
      for (uint32_t i = 0; i < step.count; ++i) expected.push_back(receiver);
    }
    ASSIGN_OR_RETURN(auto difference, JudgeReceived(expected, std::move(outcome.seen)));
    if (difference) return difference;
    difference = JudgeStrayCopies(step, outcome.drops);
    if (difference) return difference;
    return step.drop ? JudgeDrop(step, outcome) : AsExpected();
  }

  // A copy that another host got and had no use for, which no VM sees.
  std::optional<Difference> JudgeStrayCopies(const SendStep& step, const Drops& drops) const {
    const LabPlan& plan = world_.resources().plan();
    const std::string& entry =
        step.from_tunnel ? step.from_tunnel->host : plan.hosts[FindVm(plan, step.from)->host].node;
    std::string stray;
    for (const auto& [at, count] : drops) {
      const auto& [host, reason] = at;
      if (host == entry || (reason == step.drop && (step.at.empty() || step.at == host))) continue;
      stray += fmt::format("{}{} {} at {}", stray.empty() ? "" : ", ", count, reason, host);
    }
    if (stray.empty()) return std::nullopt;
    return Difference{"no other host drops a copy", "counted: " + stray};
  }

  // Which of the alternatives came true; the first one if none did, so that it is told as missing.
  static absl::StatusOr<ExpectedFrame> ChosenOf(const std::vector<ExpectedFrame>& alternatives,
                                                const std::vector<SeenFrame>& seen) {
    for (const ExpectedFrame& one : alternatives) {
      for (const SeenFrame& frame : seen) {
        if (frame.vm != one.vm) continue;
        ASSIGN_OR_RETURN(const std::optional<std::string> mismatch, FrameMismatch(one.frame, frame.frame));
        if (!mismatch) return one;
      }
    }
    return alternatives.front();
  }

  // Each expected frame takes one that was seen, the best fit first; what is left nobody should have seen.
  Judgement JudgeReceived(const std::vector<ExpectedFrame>& expected, std::vector<SeenFrame> seen) const {
    for (const ExpectedFrame& one : expected) {
      std::string nearest;
      auto taken = seen.end();
      for (auto frame = seen.begin(); frame != seen.end() && taken == seen.end(); ++frame) {
        if (frame->vm != one.vm) continue;
        ASSIGN_OR_RETURN(const std::optional<std::string> mismatch, FrameMismatch(one.frame, frame->frame));
        if (!mismatch) taken = frame;
        if (mismatch) nearest = fmt::format("; of what it received: {}", *mismatch);
      }
      if (taken == seen.end()) {
        return Differs(fmt::format("{} receives {} (line {})", one.vm,
                                   one.frame.empty() ? "a frame" : one.frame, one.line),
                       fmt::format("it does not{}", nearest));
      }
      seen.erase(taken);
    }
    if (seen.empty()) return AsExpected();
    std::string text;
    for (const SeenFrame& frame : seen) {
      text += fmt::format("{}{} receives {}", text.empty() ? "" : "; ", frame.vm, FrameToText(frame.frame));
    }
    return Differs("nobody else receives anything", text);
  }

  static Judgement JudgeDrop(const SendStep& step, const SendOutcome& outcome) {
    std::string seen;
    for (const auto& [at, count] : outcome.drops) {
      if (at.second == *step.drop && (step.at.empty() || at.first == step.at) && count >= step.count)
        return AsExpected();
      seen += fmt::format("{}{} {} at {}", seen.empty() ? "" : ", ", count, at.second, at.first);
    }
    return Differs(fmt::format("dropped as {}{}", *step.drop, step.at.empty() ? "" : " at " + step.at),
                   seen.empty() ? "no drop was counted" : "counted: " + seen);
  }

  Judgement Do(const StormStep& step) {
    ASSIGN_OR_RETURN(const Vm* const from, world_.resources().Find(step.from));
    ASSIGN_OR_RETURN(const FrameBytes frame, FrameOf(step.frame));
    ASSIGN_OR_RETURN(const Drops drops, world_.Storm(*from, frame, step.count, step.rate));
    const std::string& host = world_.resources().plan().hosts[from->host].node;
    const auto dropped = drops.find({host, step.drop});
    const uint64_t count = dropped == drops.end() ? 0 : dropped->second;
    result_.notes.push_back(fmt::format("storm from {}: {} of {} dropped", step.from, count, step.count));
    if (count != 0) return AsExpected();
    return Differs(fmt::format("some dropped as {} at {}", step.drop, host), result_.notes.back());
  }

  Judgement Do(const ApplyStep& step) {
    return Done(world_.Apply({step.resources.items.begin(), step.resources.items.end()}));
  }
  Judgement Do(const DeleteStep& step) { return Done(world_.Delete(step.keys)); }
  Judgement Do(const MoveStep& step) { return Done(world_.Move(step.port, step.to)); }
  Judgement Do(const AddressStep& step) {
    ASSIGN_OR_RETURN(const Vm* const vm, world_.resources().Find(step.vm));
    const std::string announcement =
        step.address.is_v4()
            ? fmt::format("arp(op=request, eth_src={}, eth_dst=ff:ff:ff:ff:ff:ff, spa={}, tpa={})", vm->mac,
                          step.address, step.address)
            : fmt::format(
                  "na(eth_src={}, eth_dst=33:33:00:00:00:01, src={}, dst=ff02::1, target={}, tll={}, flags=O)",
                  vm->mac, step.address, step.address, vm->mac);
    ASSIGN_OR_RETURN(const FrameBytes frame, FrameFromText(announcement));
    return Done(world_.SetAddress(step, frame));
  }
  Judgement Do(const WaitStep& /*step*/) { return Done(world_.WaitApplied()); }
  Judgement Do(const ControlStep& step) {
    if (!step.host.empty()) RETURN_IF_ERROR(world_.resources().CheckHost(step.host));
    return Done(world_.Control(step));
  }

  Judgement Do(const StreamStep& step) {
    if (streaming_) return Invalid("a stream runs already; end_stream it first");
    ASSIGN_OR_RETURN(const Vm* const from, world_.resources().Find(step.from));
    ASSIGN_OR_RETURN(const IpAddress to, Target(step.to, step.family));
    RETURN_IF_ERROR(world_.StartStream(*from, to, step.rate));
    streaming_ = &step;
    return AsExpected();
  }

  Judgement Do(const EndStreamStep& /*step*/) {
    if (streaming_ == nullptr) return Invalid("no stream runs");
    const StreamStep& step = *std::exchange(streaming_, nullptr);
    ASSIGN_OR_RETURN(const StreamOutcome outcome, world_.EndStream());
    result_.notes.push_back(
        fmt::format("stream {} -> {}: {} of {} lost", step.from, step.to, outcome.lost, outcome.sent));
    if (outcome.lost <= step.max_lost) return AsExpected();
    return Differs(fmt::format("at most {} lost", step.max_lost), result_.notes.back());
  }

  Judgement Do(const TraceStep& step) {
    ASSIGN_OR_RETURN(const Vm* const from, world_.resources().Find(step.from));
    ASSIGN_OR_RETURN(const std::string text, world_.resources().Substitute(step.packet));
    ASSIGN_OR_RETURN(const FrameBytes frame, FrameFromText(text));
    ASSIGN_OR_RETURN(const TraceOutcome outcome, world_.Trace(*from, frame));
    if (outcome.verdicts.count(step.verdict) != 0) return AsExpected();
    return Differs(step.verdict, Who(outcome.verdicts));
  }

  const Case& subject_;
  CaseWorld& world_;
  CaseResult result_;
  const StreamStep* streaming_ = nullptr;
};

}  // namespace

CaseResult RunCase(const Case& subject, CaseWorld& world) { return CaseRun(subject, world).Go(); }

}  // namespace kasane::lab
