#include "tests/lab/case/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kasane::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CaseResult Failed() {
  CaseResult result;
  result.name = "x";
  result.datapath = "ovs";
  result.seconds = 1.5;
  result.notes = {"stream a -> b: 0 of 9 lost"};
  result.failure = {"x.yaml:3: steps[0].ping", "answered by b", "answered by nobody"};
  return result;
}

TEST(ReportTest, AResultComesBackFromJson) {
  const auto back = ResultFromJson(ResultJson(Failed()));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(ResultText(*back), ResultText(Failed()));
  EXPECT_FALSE(ResultFromJson("Segmentation fault").ok());
}

TEST(ReportTest, AFailureSaysWhereAndWhat) {
  const std::string text = ResultText(Failed());
  EXPECT_THAT(text, StartsWith("FAIL x "));
  EXPECT_THAT(text, HasSubstr("x.yaml:3: steps[0].ping\n"));
  EXPECT_THAT(text, HasSubstr("expected: answered by b\n"));
  EXPECT_THAT(text, HasSubstr("seen:     answered by nobody\n"));
  EXPECT_THAT(SummaryText({Failed(), CaseResult()}, 2), StartsWith("1 passed, 1 failed in 2.0 s"));
  EXPECT_FALSE(AllPassed({Failed()}));
}

}  // namespace
}  // namespace kasane::lab
