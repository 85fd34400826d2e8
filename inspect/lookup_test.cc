#include "inspect/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace kasane::inspect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Candidate> kCandidates = {
    {{vswitch::OwnerKind::kPort, "aaaa1111-0001"}, "web"},
    {{vswitch::OwnerKind::kPort, "aaaa2222-0002"}, "db"},
    {{vswitch::OwnerKind::kRouter, "bbbb0000-0003"}, "db"},
    {{vswitch::OwnerKind::kNetwork, "cccc0000-0004"}, "aaaa1111-0001"},
    {{vswitch::OwnerKind::kPipeline, ""}, "pipeline"},
};

TEST(LookUpTest, IdThenNameThenPrefix) {
  struct Case {
    const char* text;
    const char* id;  // Null: an error.
  };
  const Case cases[] = {
      {"aaaa1111-0001", "aaaa1111-0001"},  // Also the name of the network: the id wins.
      {"web", "aaaa1111-0001"},
      {"aaaa2", "aaaa2222-0002"},
      {"cccc", "cccc0000-0004"},
      {"pipeline", ""},
      {"ccc", nullptr},
      {"aaaa", nullptr},
      {"db", nullptr},
      {"", ""},
      {"zzzz", nullptr},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<Candidate> found = LookUp(c.text, kCandidates, "owner");
    EXPECT_EQ(found.ok(), c.id != nullptr) << c.text;
    if (found.ok() && c.id != nullptr) {
      EXPECT_EQ(found->owner.id, c.id) << c.text;
    }
  }
}

TEST(LookUpTest, AmbiguousListsTheCandidates) {
  EXPECT_EQ(Message(LookUp("db", kCandidates, "owner").status()),
            "\"db\" is ambiguous, it may be: port aaaa2222-0002 (db), router bbbb0000-0003 (db)");
  EXPECT_EQ(Message(LookUp("aaaa", kCandidates, "owner").status()),
            "\"aaaa\" is ambiguous, it may be: port aaaa1111-0001 (web), port aaaa2222-0002 (db)");
  std::vector<Candidate> many;
  for (int i = 0; i < 25; ++i) many.push_back({{vswitch::OwnerKind::kPort, "dddd" + std::to_string(i)}, ""});
  EXPECT_THAT(Message(LookUp("dddd", many, "owner").status()), HasSubstr("and 15 more"));
}

TEST(LookUpTest, NotFoundSaysWhatWasLookedFor) {
  const absl::Status status = LookUp("nope", kCandidates, "local port").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(status), HasSubstr("no local port has the id or name \"nope\""));
  EXPECT_THAT(Message(status), Not(HasSubstr("ambiguous")));
  EXPECT_THAT(Message(status), Not(HasSubstr("did you mean")));
  EXPECT_THAT(Message(LookUp("webb", kCandidates, "local port").status()), HasSubstr("did you mean web?"));
}

}  // namespace
}  // namespace kasane::inspect
