// Runs a fuzzer's function where there is no libFuzzer: on each file of a corpus, and on random changes of it,
// the same in each run. Fails if there are no files. The last line printed is the input that was wrong.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kChangedInputs = 300;  // Of each file.

struct Input {
  std::string name;
  Bytes bytes;
};

std::vector<Input> ReadCorpus(const char* folder) {
  std::vector<Input> inputs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::ifstream in(entry.path(), std::ios::binary);
    inputs.push_back(
        {entry.path(), Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>())});
  }
  std::sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.name < b.name; });
  return inputs;
}

size_t Below(std::mt19937& random, size_t end) { return end == 0 ? 0 : random() % end; }

// One to four times: a byte changed or inserted, a range taken out or repeated, or the rest taken from `other`.
Bytes Changed(Bytes bytes, const Bytes& other, std::mt19937& random) {
  for (size_t n = 1 + Below(random, 4); n != 0; --n) {
    const size_t at = Below(random, bytes.size());
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last =
        first + static_cast<std::ptrdiff_t>(Below(random, std::min<size_t>(bytes.size() - at, 16)));
    switch (Below(random, 5)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<uint8_t>(random());
        break;
      case 1:
        bytes.insert(first, static_cast<uint8_t>(random()));
        break;
      case 2:
        bytes.erase(first, last);
        break;
      case 3: {
        const Bytes range(first, last);
        bytes.insert(last, range.begin(), range.end());
        break;
      }
      default:
        bytes.erase(first, bytes.end());
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(std::min(at, other.size())),
                     other.end());
    }
  }
  return bytes;
}

void Run(const std::string& name, const Bytes& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random;  // NOLINT(cert-msc51-cpp): the same inputs in each run.
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::vector<Input> inputs = ReadCorpus(argv[i]);
    files += inputs.size();
    for (const Input& input : inputs) Run(input.name, input.bytes);
    for (const Input& input : inputs) {
      for (int n = 1; n <= kChangedInputs; ++n) {
        const Bytes& other = inputs[Below(random, inputs.size())].bytes;
        Run(input.name + " changed, " + std::to_string(n), Changed(input.bytes, other, random));
      }
    }
  }
  if (files > 0) return 0;
  std::fprintf(stderr, "run_corpus: no files in the folders given\n");
  return 1;
}
