#include "base/shared_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kasane {
namespace {

using Map = SharedMap<int, std::string>;
using Reference = std::map<int, std::string>;

Reference Contents(const Map& map) { return {map.begin(), map.end()}; }

// A version of the map, and what it must hold for good.
struct Version {
  Map map;
  Reference reference;
};

void ChangeAtRandom(Version& version, std::mt19937& random) {
  const int key = static_cast<int>(random() % 200);
  const std::string value = std::to_string(random() % 4);
  switch (random() % 4) {
    case 0:
      EXPECT_EQ(version.map.erase(key), version.reference.erase(key));
      break;
    case 1:
      EXPECT_EQ(version.map.emplace(key, value), version.reference.emplace(key, value).second);
      break;
    case 2:
      version.map[key] += value;
      version.reference[key] += value;
      break;
    default:
      EXPECT_EQ(version.map.insert_or_assign(key, value),
                version.reference.insert_or_assign(key, value).second);
  }
}

TEST(SharedMapTest, HoldsWhatAMapHoldsAndOldVersionsStay) {
  std::mt19937 random(1);
  std::vector<Version> versions(1);
  for (int i = 0; i < 300; ++i) {
    Version next = versions[random() % versions.size()];
    for (unsigned n = random() % 20; n > 0; --n) ChangeAtRandom(next, random);
    EXPECT_EQ(next.map.size(), next.reference.size());
    versions.push_back(std::move(next));
  }
  for (const Version& version : versions) EXPECT_EQ(Contents(version.map), version.reference);
}

TEST(SharedMapTest, FindsKeysAndTheirNeighbours) {
  std::mt19937 random(2);
  Version version;
  for (int i = 0; i < 400; ++i) ChangeAtRandom(version, random);
  for (int key = -1; key <= 200; ++key) {
    const auto lower = version.reference.lower_bound(key);
    const auto upper = version.reference.upper_bound(key);
    EXPECT_EQ(Reference(version.map.lower_bound(key), version.map.end()),
              Reference(lower, version.reference.end()));
    EXPECT_EQ(Reference(version.map.upper_bound(key), version.map.end()),
              Reference(upper, version.reference.end()));
    EXPECT_EQ(version.map.contains(key), version.reference.contains(key));
    const auto found = version.map.find(key);
    EXPECT_EQ(found != version.map.end(), version.reference.contains(key));
    if (found != version.map.end()) {
      EXPECT_EQ(&found->second, version.map.Find(key));
    }
  }
}

// Key, old and new value, "-" for none.
using Changes = std::vector<std::tuple<int, std::string, std::string>>;

Changes ChangesBetween(const Map& before, const Map& after) {
  Changes changes;
  ForEachChange(before, after, [&](int key, const std::string* was, const std::string* is) {
    changes.emplace_back(key, was == nullptr ? "-" : *was, is == nullptr ? "-" : *is);
  });
  return changes;
}

Changes ChangesBetween(const Reference& before, const Reference& after) {
  Changes changes;
  for (int key = 0; key < 200; ++key) {
    const auto was = before.find(key);
    const auto is = after.find(key);
    const std::string old_value = was == before.end() ? "-" : was->second;
    const std::string new_value = is == after.end() ? "-" : is->second;
    if (old_value != new_value) changes.emplace_back(key, old_value, new_value);
  }
  return changes;
}

TEST(SharedMapTest, TellsWhatDiffersBetweenVersions) {
  std::mt19937 random(3);
  std::vector<Version> versions(1);
  for (int i = 0; i < 60; ++i) {
    Version next = versions[random() % versions.size()];
    for (unsigned n = random() % 40; n > 0; --n) ChangeAtRandom(next, random);
    versions.push_back(std::move(next));
  }
  for (const Version& a : versions) {
    for (const Version& b : versions) {
      const Changes expected = ChangesBetween(a.reference, b.reference);
      EXPECT_EQ(ChangesBetween(a.map, b.map), expected);
      EXPECT_EQ(a.map == b.map, expected.empty());
    }
  }
}

// Counts comparisons, which is what a walk over the whole map would make many of.
struct CountedValue {
  int value = 0;
  bool operator==(const CountedValue& other) const {
    ++comparisons;
    return value == other.value;
  }
  static inline int comparisons = 0;
};

TEST(SharedMapTest, ADifferenceCostsWhatDiffers) {
  SharedMap<int, CountedValue> before;
  for (int i = 0; i < 100'000; ++i) before.emplace(i, CountedValue{i});
  SharedMap<int, CountedValue> after = before;
  after.Change(31'415)->value = -1;
  after.erase(92'653);
  after.emplace(100'000, CountedValue{});
  CountedValue::comparisons = 0;
  int changes = 0;
  ForEachChange(before, after, [&](int, const CountedValue*, const CountedValue*) { ++changes; });
  EXPECT_EQ(changes, 3);
  EXPECT_LT(CountedValue::comparisons, 100) << "of 100,000 entries";
}

TEST(SharedMapTest, WhatNobodyElseHoldsIsChangedInPlace) {
  Map map;
  for (int i = 0; i < 1000; ++i) map.emplace(i, "");
  const std::string* const place = map.Find(500);
  map.Change(500)->assign("changed");
  EXPECT_EQ(map.Find(500), place);
  const Map copy = map;
  map.Change(500)->assign("again");
  EXPECT_EQ(*copy.Find(500), "changed");
  EXPECT_NE(map.Find(500), place);
  int shared = 0;
  for (const auto& [key, value] : copy) shared += map.Find(key) == &value ? 1 : 0;
  EXPECT_GT(shared, 980) << "all but the way to the changed one";
}

}  // namespace
}  // namespace kasane
