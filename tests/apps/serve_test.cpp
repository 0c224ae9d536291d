// foretrace serve, spoken to as its page does, and as nobody should.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/apps/support/json_schema.h"
#include "tests/apps/support/program.h"
#include "tests/apps/support/served.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

json head_of(const Reply& reply) {
  REQUIRE(reply.body.size() > 4);
  std::uint32_t length = 0;
  std::memcpy(&length, reply.body.data(), 4);
  return json::parse(reply.body.substr(4, length));
}

std::string question(int id, const json& stack, const std::string& client = "a") {
  return json{{"client", client}, {"id", id}, {"stack", stack}}.dump();
}

std::string own_host(const Served& served) {
  return "Host: 127.0.0.1:" + std::to_string(served.port()) + "\r\n";
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const json two = {{{"name", "mixed_precision"}},
                  {{"name", "batch_size"}, {"parameters", {{"factor", "2"}}}}};

TEST_CASE("serve: a stack gets the answer that whatif gives") {
  const Served served({demo_trace});
  const Reply point = served.post("/api/0/point", question(1, two));
  REQUIRE(point.status == 200);
  const Reply rest = served.post("/api/0/rest", question(1, two));
  REQUIRE(rest.status == 200);
  const Ran ran = run_program(std::string("whatif ") + demo_trace +
                              " --apply mixed_precision --apply batch_size:factor=2 --json");
  const json expected = json::parse(ran.out)["predicted"];
  const json found = json::parse(rest.body);
  CHECK(head_of(point)["variant"]["step_ns"] == expected["step_ns"]);
  const json& answer = found["answer"]["predicted"];
  for (const char* const key : {"step_ns", "low_ns", "high_ns", "breakdown", "provenance"}) {
    CHECK(answer[key] == expected[key]);
  }
  CHECK(found["samples"] == 2);
  CHECK(head_of(point)["variant"]["apply"] == json({"batch_size:factor=2", "mixed_precision"}));
}

TEST_CASE("serve: a changed setting gives the answer of the new one, whatever was kept") {
  const Served served({demo_trace});
  const auto step = [&served](int id, const std::string& factor) {
    const json stack = {
        {{"name", "mixed_precision"}},
        {{"name", "scale"}, {"parameters", {{"select", "resource=host"}, {"factor", factor}}}}};
    return head_of(served.post("/api/0/point", question(id, stack)))["variant"]["step_ns"]
        .get<std::int64_t>();
  };
  const std::int64_t half = step(1, "0.5");
  CHECK(step(2, "0.9") > half);
  CHECK(step(3, "0.5") == half);
}

TEST_CASE("serve: the page holds no data and its policy names its sources") {
  const Served served({demo_trace});
  const Reply page = served.send("GET / HTTP/1.1\r\n" + own_host(served) + "\r\n");
  CHECK(page.status == 200);
  CHECK(page.head.find("connect-src 'self'") != std::string::npos);
  CHECK(page.head.find("frame-ancestors 'none'") != std::string::npos);
  CHECK(allows_engine_alone(page.body));
  CHECK(page.body.find(served.token()) == std::string::npos);
  CHECK(page.body.find("block-graph") == std::string::npos);
  CHECK(page.body.find("demo_generated") == std::string::npos);
}

TEST_CASE("serve: foreign hosts, foreign origins and no token get nothing") {
  const Served served({demo_trace});
  const std::string host = own_host(served);
  const std::string asks = "POST /api/0/open HTTP/1.1\r\n";
  const std::string rest = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  const std::string token = "X-Foretrace-Token: " + served.token() + "\r\n";
  CHECK(served.send(asks + host + token + rest).status == 200);
  CHECK(served.send(asks + host + rest).status == 403);
  CHECK(served.send(asks + host + "X-Foretrace-Token: 0\r\n" + rest).status == 403);
  CHECK(served
            .send(asks + "Host: rebound.example:" + std::to_string(served.port()) + "\r\n" + token +
                  rest)
            .status == 403);
  CHECK(served.send(asks + token + rest).status == 403);
  CHECK(served.send(asks + host + token + "Origin: http://evil.example\r\n" + rest).status == 403);
  CHECK(served.send(asks + host + token + "Sec-Fetch-Site: cross-site\r\n" + rest).status == 403);
  const Reply preflight = served.send("OPTIONS /api/0/open HTTP/1.1\r\n" + host +
                                      "Origin: http://evil.example\r\n\r\n");
  CHECK(preflight.status == 403);
  CHECK(preflight.head.find("Access-Control") == std::string::npos);
}

TEST_CASE("serve: no file is opened, by a what-if, a parameter or an address") {
  const Served served({demo_trace});
  const auto asks = [&](const json& stack) {
    return served.post("/api/0/point", question(1, stack));
  };
  const Reply at_file = asks({{{"name", "@/etc/passwd"}}});
  CHECK(at_file.status == 422);
  CHECK(at_file.body.find("root:") == std::string::npos);
  CHECK(asks({"@/etc/passwd"}).status == 400);
  for (const char* const path : {"/etc/passwd", "../../../etc/passwd", "a.json", "./x"}) {
    const Reply swap = asks({{{"name", "accelerator_swap"}, {"parameters", {{"to", path}}}}});
    CHECK(swap.status == 422);
    CHECK(swap.body.find("opens no file") != std::string::npos);
    CHECK(asks({{{"name", "kernel_table"}, {"parameters", {{"table", path}}}}}).status == 422);
  }
  for (const char* const target : {"/../etc/passwd", "//etc/passwd", "/%2e%2e/etc/passwd",
                                   "/etc/passwd", "/api/../api/0/open", "/index.html"}) {
    const Reply reply =
        served.send(std::string("GET ") + target + " HTTP/1.1\r\n" + own_host(served) + "\r\n");
    CHECK_MESSAGE((reply.status == 403 || reply.status == 404), target);
  }
}

TEST_CASE("serve: bodies that are too large, no JSON, or ask for nonsense are refused") {
  const Served served({demo_trace});
  CHECK(served.post("/api/0/point", std::string(65'537, ' ')).status == 413);
  CHECK(served.post("/api/0/point", std::string(60'000, '[')).status == 400);
  for (const char* const body :
       {"", "[]", "{}", "null", R"({"client":"a","id":-1,"stack":[]})",
        R"({"client":"a","id":1,"stack":{}})", R"({"client":"a","id":1,"stack":[{}]})",
        R"({"client":"a","id":1,"stack":[],"more":1})", R"({"client":1,"id":1,"stack":[]})",
        R"({"client":"a","id":1,"stack":[{"name":"amp","parameters":{"a":1}}]})"}) {
    CHECK_MESSAGE(served.post("/api/0/point", body).status == 400, body);
  }
  const Reply unknown = served.post("/api/0/point", question(1, {{{"name", "mixed_precisio"}}}));
  CHECK(unknown.status == 422);
  CHECK(unknown.body.find("did you mean 'mixed_precision'") != std::string::npos);
  CHECK(served.post("/api/0/nothing", "{}").status == 404);
  CHECK(served.post("/api/0/point", question(2, two)).status == 200);
}

TEST_CASE(
    "serve: of many questions of a page the newest is answered; pages do not disturb others") {
  const Served served({demo_trace});
  CHECK(served.post("/api/0/point", question(7, two)).status == 200);
  CHECK(served.post("/api/0/point", question(6, two)).status == 409);
  CHECK(served.post("/api/0/point", question(1, two, "b")).status == 200);
  std::atomic<int> answered = 0;
  std::atomic<int> newest = 0;
  std::vector<std::thread> pages;
  for (int page = 0; page < 4; ++page) {
    pages.emplace_back([&, page] {
      for (int i = 1; i <= 25; ++i) {
        const Reply reply = served.post(
            "/api/0/point", question(100 + i, two, std::string(1, static_cast<char>('c' + page))));
        answered += reply.status == 200 || reply.status == 409 ? 1 : 0;
        newest += i == 25 && reply.status == 200 ? 1 : 0;
      }
    });
  }
  for (std::thread& page : pages) page.join();
  CHECK(answered == 100);
  CHECK(newest == 4);
}

TEST_CASE("serve: who goes away in the middle costs others nothing") {
  const Served served({demo_trace});
  for (int i = 0; i < 30; ++i) {
    const int gone = served.connect();
    const std::string begin = "POST /api/0/point HTTP/1.1\r\n" + own_host(served) +
                              "X-Foretrace-Token: " + served.token() +
                              "\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{";
    static_cast<void>(::send(gone, begin.data(), begin.size(), MSG_NOSIGNAL));
    ::close(gone);
  }
  CHECK(served.post("/api/0/point", question(1, two)).status == 200);
}

/// What a client sends to hold something for as long as it can.
struct Slow {
  const char* name;
  std::string begin;
};

/// How connections stand that have asked for nothing whole.
enum class Fate { is_held, is_refused, was_let_go };

/// Connections that sent the same; they are closed with this.
class Held {
 public:
  Held(const Served& served, const std::string& begin, int count) {
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(served.connect());
      static_cast<void>(::send(sockets_.back(), begin.data(), begin.size(), MSG_NOSIGNAL));
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    for (const int each : sockets_) ::close(each);
  }

  /// Of each, the oldest first. Takes what came.
  [[nodiscard]] std::vector<Fate> fates() const {
    std::vector<Fate> list;
    for (const int each : sockets_) {
      char byte = 0;
      const ssize_t got = ::recv(each, &byte, 1, MSG_DONTWAIT);
      const bool is_open = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      list.push_back(got > 0 ? Fate::is_refused : is_open ? Fate::is_held : Fate::was_let_go);
    }
    return list;
  }

 private:
  std::vector<int> sockets_;
};

constexpr int dawdlers = 600;  // the server keeps 512 connections

TEST_CASE("serve: hundreds that dawdle, or never take their answer, hold up nobody") {
  const Served served({demo_trace});
  const std::string call = "POST /api/0/open HTTP/1.1\r\n" + own_host(served) +
                           "X-Foretrace-Token: " + served.token() +
                           "\r\nContent-Type: application/json\r\nContent-Length: ";
  for (const Slow& slow :
       {Slow{"one byte", "P"}, Slow{"no end of a head", "POST /api/0/open HTTP/1.1\r\n"},
        Slow{"half a body", call + "500\r\n\r\n{"},
        Slow{"a page", "GET / HTTP/1.1\r\n" + own_host(served) + "\r\n"},
        Slow{"a run", call + "2\r\n\r\n{}"}}) {
    CAPTURE(slow.name);
    const Held held(served, slow.begin, dawdlers);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(served.post("/api/0/point", question(1, two)).status == 200);
    // threads that waited five seconds for each of them would take minutes
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  }
}

TEST_CASE("serve: where too many dawdle the oldest are let go, and only as many as new ones need") {
  const Served served({demo_trace});
  const Held held(served, "P", dawdlers);
  CHECK(served.post("/api/0/point", question(1, two)).status == 200);
  std::vector<Fate> fates = held.fates();
  // Where the machine is so slow that five seconds pass, some are refused for that before.
  const auto refused = static_cast<std::ptrdiff_t>(std::erase(fates, Fate::is_refused));
  const auto kept = std::ranges::find(fates, Fate::is_held);
  const auto let_go = std::ranges::count(fates, Fate::was_let_go);
  CHECK(std::distance(fates.begin(), kept) == let_go);  // the oldest
  CHECK(let_go <= dawdlers + 1 - 512);                  // one place is for who asks
  CHECK(let_go + refused >= dawdlers + 1 - 512);
}

TEST_CASE("serve: who says nothing is refused and closed after seconds") {
  const Served served({demo_trace});
  const Held silent(served, "", 64);  // more than it has threads
  CHECK(served.post("/api/0/point", question(1, two)).status == 200);
  // The kernel keeps them for about seven seconds, the server for five.
  bool is_over = false;
  for (int second = 0; second < 60 && !is_over; ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const std::vector<Fate> fates = silent.fates();
    is_over = std::ranges::count(fates, Fate::is_held) == 0;
  }
  CHECK(is_over);
}

TEST_CASE("serve: a body that comes in many pieces is one body") {
  const Served served({demo_trace});
  const std::string body = question(1, two);
  const std::string all =
      "POST /api/0/point HTTP/1.1\r\n" + own_host(served) + "X-Foretrace-Token: " + served.token() +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  const int slow = served.connect();
  for (const char byte : all) {
    REQUIRE(::send(slow, &byte, 1, MSG_NOSIGNAL) == 1);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::string begin(15, ' ');
  CHECK(::recv(slow, begin.data(), begin.size(), MSG_WAITALL) == 15);
  CHECK(begin == "HTTP/1.1 200 OK");
  ::close(slow);
}

TEST_CASE("serve: each of several runs answers for itself, and only those that were named") {
  const Served served({"--each", demo_trace, "tests/fixtures/job"});
  const json opened = json::parse(served.post("/api/1/open", "{}").body);
  CHECK(opened["runs"] == json({"demo_generated_cnn.json.gz", "job"}));
  const auto step_of = [&](const std::string& run) {
    const json stack = json::array({json::object({{"name", "cuda_graph"}})});
    const Reply reply = served.post("/api/" + run + "/point", question(1, stack));
    REQUIRE(reply.status == 200);
    return head_of(reply)["variant"]["step_ns"].get<std::int64_t>();
  };
  for (const auto& [run, path] :
       {std::pair("0", demo_trace), std::pair("1", "tests/fixtures/job")}) {
    const Ran ran = run_program(std::string("whatif ") + path + " --apply cuda_graph --json");
    CHECK(step_of(run) == json::parse(ran.out)["predicted"]["step_ns"].get<std::int64_t>());
  }
  for (const char* const call :
       {"/api/2/open", "/api/-1/open", "/api/+1/open", "/api//open", "/api/1", "/api/1/",
        "/api/0x1/open", "/api/99999999999999999999/open", "/api/1/open/", "/api/1/2/open"}) {
    CHECK_MESSAGE(served.post(call, "{}").status == 404, call);
  }
  CHECK(served
            .send("POST /api/1/open HTTP/1.1\r\n" + own_host(served) +
                  "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            .status == 403);
}

/// A recording as the page sends it.
Reply send_recording(const Served& served, const std::string& name, const std::string& bytes,
                     const std::string& token) {
  return served.send("POST /api/add HTTP/1.1\r\n" + own_host(served) +
                     "Content-Type: application/octet-stream\r\nX-Foretrace-Token: " + token +
                     "\r\nX-Foretrace-Name: " + name +
                     "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes);
}

TEST_CASE("serve: a recording that the page sends becomes one more run") {
  const Served served({demo_trace});
  const std::string bytes = bytes_of_file(demo_trace);
  REQUIRE(bytes.size() > 0);
  const Reply added = send_recording(served, "../../etc/run.json.gz", bytes, served.token());
  REQUIRE_MESSAGE(added.status == 200, added.body);
  CHECK(json::parse(added.body) == json{{"run", 1}});
  for (const std::string run : {"0", "1"}) {
    const json opened = json::parse(served.post("/api/" + run + "/open", "{}").body);
    CHECK(opened["runs"].size() == 2);
    CHECK(opened["runs"][1] == "run.json.gz");
  }
  CHECK(served.post("/api/1/point", question(1, two)).status == 200);
  // who may not ask may not send, whatever its size; other calls stay small
  CHECK(send_recording(served, "a", "small", "0").status == 403);
  CHECK(send_recording(served, "a", std::string(70'000, 'x'), "0").status == 413);
  CHECK(served.post("/api/add", "{}").status == 415);
  const Reply none = send_recording(served, "notes.txt", "no recording", served.token());
  CHECK(none.status == 422);
  CHECK(none.body.find("/foretrace-") == std::string::npos);
  CHECK(served.post("/api/2/open", "{}").status == 404);
}

TEST_CASE("serve: the address as JSON follows its schema and opens the page") {
  const Served served({demo_trace, "--json"});
  const json told = json::parse(served.told());
  const std::vector<std::string> wrong = violations(read_schema("serve-1.json"), told);
  CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : wrong.front()));
  CHECK(told["url"] == served.address());
  CHECK(served.post("/api/0/open", "{}").status == 200);
}

TEST_CASE("serve: ctrl-C and a request to end are no failures; a taken port is named") {
  Served first({demo_trace});
  const std::string port = std::to_string(first.port());
  const Ran taken = run_program(std::string("serve ") + demo_trace + " --port " + port);
  CHECK(taken.code == 2);
  CHECK(taken.err.find("serve: port " + port) != std::string::npos);
  CHECK(first.end(SIGINT) == 0);
  Served second({demo_trace});
  CHECK(second.end(SIGTERM) == 0);
}

}  // namespace
}  // namespace foretrace::test
