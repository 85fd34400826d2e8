#include "tests/lab/case/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/status.h"
#include "tests/lab/case/case_file.h"
#include "tests/lab/case/ovs_world.h"
#include "tests/lab/case/report.h"
#include "tests/lab/case/runner.h"
#include "tests/lab/case/sim_world.h"
#include "tests/lab/down.h"
#include "tests/lab/process.h"

namespace kasane::lab {
namespace {

constexpr int kInterrupted = 130;
constexpr std::string_view kOvsKernel = "ovs-kernel";

struct Task {
  std::shared_ptr<const Case> subject;
  std::string datapath;
};

absl::StatusOr<Case> ReadCase(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  return ParseCase(file, text);
}

CaseResult Failed(const std::string& name, const std::string& datapath, const std::string& where,
                  const std::string& seen) {
  CaseResult result;
  result.name = name;
  result.datapath = datapath;
  result.failure = {where, "the case can be run", seen};
  return result;
}

CaseResult RunInSim(const Case& subject) {
  auto resources = CaseResources::Make(subject);
  if (!resources.ok()) return Failed(subject.name, "sim", subject.file, Message(resources.status()));
  SimWorld world(*std::move(resources));
  CaseResult result = RunCase(subject, world);
  result.datapath = "sim";
  return result;
}

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

// A child process that runs one case in a lab; ends, and removes its lab, if the calling thread dies.
class Worker {
 public:
  absl::Status StartCase(const std::string& file, const std::string& lab, const std::string& datapath) {
    return Start({OwnDirectory() + "/kasane-lab", "run-case", file, "--lab", lab, "--datapath", datapath});
  }

  absl::Status Start(const std::vector<std::string>& words) {
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    argv.push_back(nullptr);
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) return Error(absl::StatusCode::kInternal, "pipe: {}", std::strerror(errno));
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      // The signals that this process takes by sigwait are the child's own again.
      sigset_t none;
      sigemptyset(&none);
      pthread_sigmask(SIG_SETMASK, &none, nullptr);
      dup2(out[1], STDOUT_FILENO);
      execv(argv[0], const_cast<char* const*>(argv.data()));
      _exit(127);
    }
    close(out[1]);
    out_ = out[0];
    if (pid_ > 0) return absl::OkStatus();
    close(out_);
    return Error(absl::StatusCode::kInternal, "fork: {}", std::strerror(errno));
  }

  pid_t pid() const { return pid_; }

  // Waits for its end; what it printed. `on_line` sees each whole line as it comes.
  std::string Finish(const std::function<void(const std::string&)>& on_line = nullptr) {
    std::string text;
    size_t begin = 0;  // Of the line that is not whole yet.
    char buffer[4096];
    for (ssize_t size = 0; (size = read(out_, buffer, sizeof buffer)) != 0;) {
      if (size > 0) text.append(buffer, static_cast<size_t>(size));
      if (size < 0 && errno != EINTR) break;
      for (size_t end = 0; on_line && (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        on_line(text.substr(begin, end - begin));
      }
    }
    close(out_);
    while (waitpid(pid_, &exit_status_, 0) < 0 && errno == EINTR) {
    }
    return text;
  }
  int exit_status() const { return exit_status_; }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int exit_status_ = 0;
};

// Runs the tasks on some threads, and ends early on a signal.
class Jobs {
 public:
  Jobs(std::vector<Task> tasks, const RunOptions& options) : tasks_(std::move(tasks)), options_(options) {}

  void Add(CaseResult result) {
    const std::lock_guard lock(mutex_);
    if (!options_.json) {
      fmt::print("{}", options_.lines ? ResultJson(result) + "\n" : ResultText(result));
      std::fflush(stdout);
    }
    results_.push_back(std::move(result));
  }

  // Tasks for which there is a worker of its own, `words`, that prints a line of JSON as each one ends.
  void SetGroup(std::vector<Task> tasks, std::vector<std::string> words) {
    group_ = std::move(tasks);
    group_words_ = std::move(words);
  }

  // False if it was interrupted.
  bool Run() {
    const sigset_t signals = EndingSignals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread listener([this, signals] { Listen(signals); });
    const unsigned jobs =
        options_.jobs != 0 ? options_.jobs : 2 * std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < jobs; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    if (!group_.empty() && !interrupted_) RunGroup();
    done_ = true;
    // It waits for the signal, which is blocked and so ends nothing.
    pthread_kill(listener.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
    listener.join();
    if (!interrupted_) return true;
    // A worker that was ended while it built may have left something.
    for (const std::string& lab : labs_) Down(lab).IgnoreError();
    return false;
  }

  const std::vector<CaseResult>& results() const { return results_; }

 private:
  void Listen(const sigset_t& signals) {
    int number = 0;
    sigwait(&signals, &number);
    if (done_) return;
    interrupted_ = true;
    const std::lock_guard lock(mutex_);
    for (const pid_t pid : workers_) kill(pid, SIGTERM);
  }

  void Work() {
    while (!interrupted_) {
      const size_t index = next_++;
      if (index >= tasks_.size()) return;
      const Task& task = tasks_[index];
      CaseResult result = task.datapath == "sim"
                              ? RunInSim(*task.subject)
                              : RunInLab(*task.subject, fmt::format("c{}_{}", getpid(), index), task.datapath);
      if (!interrupted_) Add(std::move(result));
    }
  }

  void RunGroup() {
    Worker worker;
    absl::Status started;
    {
      // Listen() ends what is in workers_; whoever is not yet in it sees that it was interrupted.
      const std::lock_guard lock(mutex_);
      if (interrupted_) return;
      started = worker.Start(group_words_);
      if (started.ok()) workers_.insert(worker.pid());
    }
    if (!started.ok()) return FailGroup(Message(started));
    std::set<std::string> missing;
    for (const Task& task : group_) missing.insert(task.subject->name);
    const std::string text = worker.Finish([&](const std::string& line) {
      auto result = ResultFromJson(line);
      if (result.ok() && missing.erase(result->name) != 0) Add(*std::move(result));
    });
    {
      const std::lock_guard lock(mutex_);
      workers_.erase(worker.pid());
    }
    if (interrupted_) return;
    std::erase_if(group_, [&](const Task& task) { return missing.count(task.subject->name) == 0; });
    FailGroup(
        fmt::format("the second kernel ended with status {} and said \"{}\"", worker.exit_status(), text));
  }

  void FailGroup(const std::string& why) {
    for (const Task& task : group_) Add(Failed(task.subject->name, task.datapath, task.subject->file, why));
  }

  CaseResult RunInLab(const Case& subject, const std::string& lab, const std::string& datapath) {
    Worker worker;
    {
      const std::lock_guard lock(mutex_);
      if (interrupted_) return {};
      labs_.insert(lab);
      const absl::Status started = worker.StartCase(subject.file, lab, datapath);
      if (!started.ok()) return Failed(subject.name, datapath, subject.file, Message(started));
      workers_.insert(worker.pid());
    }
    const std::string text = worker.Finish();
    {
      const std::lock_guard lock(mutex_);
      workers_.erase(worker.pid());
    }
    auto result = ResultFromJson(text);
    if (result.ok()) return *std::move(result);
    Down(lab).IgnoreError();
    return Failed(subject.name, datapath, subject.file,
                  fmt::format("its process ended with status {} and said \"{}\"", worker.exit_status(), text));
  }

  const std::vector<Task> tasks_;
  const RunOptions& options_;
  std::vector<Task> group_;
  std::vector<std::string> group_words_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> done_{false};
  std::mutex mutex_;  // Guards what follows, and the output.
  std::vector<CaseResult> results_;
  std::set<pid_t> workers_;
  std::set<std::string> labs_;
};

// Open vSwitch is in this kernel, or a module that is loaded.
bool KernelHasDatapath() {
  std::error_code error;
  return std::filesystem::exists("/sys/module/openvswitch", error);
}

// The command that runs these cases in a second kernel, which has Open vSwitch.
std::vector<std::string> KernelCommand(const std::vector<Task>& tasks, const std::string& out) {
  const std::string bin = OwnDirectory();
  std::vector<std::string> words = {bin + "/kasane-uml", out, bin + "/kasane-lab", "run"};
  for (const Task& task : tasks) words.push_back(task.subject->file);
  for (const char* word : {"--datapath", "ovs-kernel", "--jobs", "1", "--lines"}) words.emplace_back(word);
  return words;
}

// A folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kasane-uml.XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Removes the lab when the process is told to end, and ends it.
void RemoveLabOnSignal(const std::string& lab) {
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([lab, signals] {
    int number = 0;
    sigwait(&signals, &number);
    // The second time for what the other thread made meanwhile.
    for (int i = 0; i < 2; ++i) TearDown(Layout(lab));
    _exit(kInterrupted);
  }).detach();
}

}  // namespace

int RunCases(const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Task> tasks;
  std::vector<CaseResult> faulty;
  for (const std::string& file : options.files) {
    auto subject = ReadCase(file);
    if (!subject.ok()) {
      CaseResult result = Failed(file, "", "", Message(subject.status()));
      result.failure->where = "reading it";
      result.failure->expected = "a case, as docs/cases.md describes it";
      faulty.push_back(std::move(result));
      continue;
    }
    const auto shared = std::make_shared<const Case>(*std::move(subject));
    for (const std::string& datapath : options.datapaths) {
      if (RunsOn(*shared, datapath)) tasks.push_back({shared, datapath});
    }
  }
  std::vector<Task> elsewhere;
  if (!KernelHasDatapath()) {
    const auto first = std::stable_partition(tasks.begin(), tasks.end(),
                                             [](const Task& task) { return task.datapath != kOvsKernel; });
    elsewhere.assign(std::make_move_iterator(first), std::make_move_iterator(tasks.end()));
    tasks.erase(first, tasks.end());
  }
  const ScratchFolder scratch;
  // The quick ones first.
  std::stable_partition(tasks.begin(), tasks.end(), [](const Task& task) { return task.datapath == "sim"; });
  Jobs jobs(std::move(tasks), options);
  if (!elsewhere.empty() && std::getenv("KASANE_SECOND_KERNEL") != nullptr) {
    for (const Task& task : elsewhere) {
      jobs.Add(Failed(task.subject->name, task.datapath, task.subject->file,
                      "the second kernel has no Open vSwitch either; its messages are in uml.log"));
    }
  } else if (!elsewhere.empty()) {
    fmt::print(stderr, "{} cases on ovs-kernel run in user-mode Linux, which boots first\n", elsewhere.size());
    std::vector<std::string> words = KernelCommand(elsewhere, scratch.path());
    jobs.SetGroup(std::move(elsewhere), std::move(words));
  }
  for (CaseResult& result : faulty) jobs.Add(std::move(result));
  if (!jobs.Run()) return kInterrupted;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.json) fmt::print("{}", ReportJson(jobs.results(), seconds));
  if (!options.json && !options.lines) fmt::print("{}", SummaryText(jobs.results(), seconds));
  return AllPassed(jobs.results()) && !jobs.results().empty() ? 0 : 1;
}

int RunCaseInLab(const std::string& file, const std::string& lab, const std::string& datapath) {
  RemoveLabOnSignal(lab);
  const auto subject = ReadCase(file);
  CaseResult result;
  if (!subject.ok()) {
    result = Failed(file, datapath, file, Message(subject.status()));
  } else if (auto resources = CaseResources::Make(*subject, datapath == kOvsKernel ? "system" : "netdev");
             !resources.ok()) {
    result = Failed(subject->name, datapath, file, Message(resources.status()));
  } else {
    OvsWorld world(*subject, *std::move(resources), lab);
    result = RunCase(*subject, world);
  }
  result.datapath = datapath;
  fmt::print("{}\n", ResultJson(result));
  return result.failure ? 1 : 0;
}

}  // namespace kasane::lab
