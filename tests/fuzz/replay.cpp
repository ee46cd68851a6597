// Runs one fuzz target on files, with any compiler: the kept corpus is a test where there is no libFuzzer.
// Arguments are files and folders.
#include "input.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sanitizer/common_interface_defs.h>

namespace {

std::string current;

// Whoever ends the process says what is wrong, but not with which input.
void say_which() {
    std::fprintf(stderr, "with the input %s\n", current.c_str());
}

void run(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) {
        std::fprintf(stderr, "%s: not readable\n", path.c_str());
        std::exit(1);
    }
    current = path.string();
    ExactBuffer exact(fuzz::Bytes(bytes.begin(), bytes.end()));
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
    __sanitizer_set_death_callback(say_which);
    std::signal(SIGABRT, [](int) { say_which(); });
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        if (!std::filesystem::is_directory(argv[i])) {
            run(argv[i]);
            count++;
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            run(entry.path());
            count++;
        }
    }
    if (count == 0) {
        std::fprintf(stderr, "no inputs\n");
        return 1;
    }
    std::printf("%zu inputs: passed\n", count);
    return 0;
}
