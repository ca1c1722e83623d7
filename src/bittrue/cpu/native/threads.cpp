#include "threads.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "float_environment.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define BITTRUE_HAS_FORK 1
#endif

namespace bittrue {
namespace {

constexpr int most_workers = 255;

// One call of run_parts. It lives on the caller's stack: the caller leaves when no worker is in it.
struct Job {
    std::size_t parts;
    void (*part)(void*, std::size_t);
    void* context;
    std::atomic<std::size_t> next{0};
    int wanted;      // workers that may still join; guarded by Pool::mutex, as is the next one
    int inside = 0;  // workers that joined and have not left

    void work() {
        const FloatEnvironmentGuard environment;
        for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < parts;) {
            part(context, i);
        }
    }
};

class Pool {
public:
    void run(Job& job) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            start(job.wanted);
            jobs_.push_back(&job);
        }
        wake_.notify_all();
        job.work();
        std::unique_lock<std::mutex> lock(mutex_);
        withdraw(&job);
        left_.wait(lock, [&] { return job.inside == 0; });
    }

private:
    // Fewer workers than wanted, where the system gives no more, only take longer.
    void start(int wanted) {
        try {
            while (workers_ < wanted && workers_ < most_workers) {
                std::thread([this] { serve(); }).detach();
                ++workers_;
            }
        } catch (const std::system_error&) {
        }
    }

    void withdraw(Job* job) {
        for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
            if (*it == job) {
                jobs_.erase(it);
                return;
            }
        }
    }

    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return !jobs_.empty(); });
            Job& job = *jobs_.front();
            ++job.inside;
            if (--job.wanted <= 0) jobs_.pop_front();
            lock.unlock();
            job.work();
            lock.lock();
            withdraw(&job);
            if (--job.inside == 0) left_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;  // a job came
    std::condition_variable left_;  // a job has no worker in it
    std::deque<Job*> jobs_;
    int workers_ = 0;
};

std::atomic<Pool*> current{nullptr};

// Never destroyed: detached workers wait in it until the process ends. In a forked child neither
// the workers nor the state of the locks can be relied on, so it starts with no pool.
Pool& pool() {
    Pool* found = current.load(std::memory_order_acquire);
    if (found != nullptr) return *found;
#if defined(BITTRUE_HAS_FORK)
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_release); });
    (void)registered;
#endif
    Pool* fresh = new Pool;
    if (current.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *found;
}

}  // namespace

void run_parts(std::size_t parts, int threads, void (*part)(void*, std::size_t), void* context) {
    Job job{parts, part, context, {}, 0};
    const std::size_t helpers = threads > 1 ? static_cast<std::size_t>(threads) - 1 : 0;
    const std::size_t useful = parts > 0 ? parts - 1 : 0;
    const std::size_t wanted = helpers < useful ? helpers : useful;
    if (wanted == 0) {
        job.work();
        return;
    }
    job.wanted = wanted < most_workers ? static_cast<int>(wanted) : most_workers;
    pool().run(job);
}

}  // namespace bittrue
