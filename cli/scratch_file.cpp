// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>

namespace floorline {

namespace {

constexpr std::size_t kMostFiles = 16;  // of one command; there are at most three
constexpr std::size_t kLongestName = 4096;
constexpr std::array kEnding{SIGTERM, SIGINT, SIGHUP};

// What a signal handler may read: memory that is never given back, each name behind its flag.
struct Slot {
  std::atomic<bool> used = false;
  std::array<char, kLongestName> name{};
};
std::array<Slot, kMostFiles> slots;
static_assert(std::atomic<bool>::is_always_lock_free);

/// Only what is async-signal-safe: unlink, signal, raise.
void remove_and_end(int signal_number) {
  for (const Slot& slot : slots) {
    if (slot.used.load(std::memory_order_acquire)) unlink(slot.name.data());
  }
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);  // ends the program once this handler returns
}

/// A signal that is ignored (nohup) stays ignored.
void install_once() {
  static const bool installed = [] {
    for (const int number : kEnding) {
      struct sigaction before {};
      if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
      struct sigaction action {};
      action.sa_handler = remove_and_end;
      sigfillset(&action.sa_mask);
      sigaction(number, &action, nullptr);
    }
    return true;
  }();
  static_cast<void>(installed);
}

/// No such signal between the making of a file and the note of its name.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : kEnding) sigaddset(&ending, number);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  SignalsHeld(SignalsHeld&&) = delete;
  SignalsHeld& operator=(SignalsHeld&&) = delete;

 private:
  sigset_t before_{};
};

void note(const std::string& name) {
  if (name.size() >= kLongestName) return;
  for (Slot& slot : slots) {
    if (slot.used.load()) continue;
    std::copy(name.begin(), name.end(), slot.name.begin());
    slot.name.at(name.size()) = '\0';
    slot.used.store(true, std::memory_order_release);
    return;
  }
}

}  // namespace

std::string new_scratch_file(const std::string& file) {
  install_once();
  std::string name = file + ".XXXXXX";
  const SignalsHeld held;
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return "";
  note(name);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);  // as if it had been opened by name
  close(descriptor);
  return name;
}

void forget_scratch_file(const std::string& name) {
  for (Slot& slot : slots) {
    if (slot.used.load() && name == slot.name.data())
      slot.used.store(false, std::memory_order_release);
  }
}

void remove_scratch_file(const std::string& name) {
  unlink(name.c_str());
  forget_scratch_file(name);
}

}  // namespace floorline
