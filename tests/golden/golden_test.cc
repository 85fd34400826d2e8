// Golden tests of everything between a resource file and the switch: for each tests/golden/NAME.yaml and
// each host in it, the HostView (NAME.HOST.view) and the flows that OVS would hold (NAME.HOST.flows).
// A change in one of the stages shows as a difference that a reviewer reads.
//
// KASANE_UPDATE_GOLDEN=1 writes the files anew; read the difference before it is committed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/files/resource_file.h"
#include "view/host_view_builder.h"
#include "vswitch/ovs/translate/compiler.h"

namespace kasane {
namespace {

const std::filesystem::path kFolder = "tests/golden";

model::NetworkState Load(const std::filesystem::path& file) {
  const auto resources = files::ReadResourceFile(file.string());
  EXPECT_TRUE(resources.ok()) << Message(resources.status());
  model::NetworkState state;
  if (!resources.ok()) return state;
  std::vector<model::Fault> faults = resources->faults;
  for (const v1::ApplyItem& item : resources->items) {
    if (const auto resource = Decode(item.resource(), item.path(), faults)) Upsert(state, *resource);
  }
  for (const model::Fault& fault : faults) ADD_FAILURE() << file << ": " << ToString(fault);
  return state;
}

// Port numbers as a switch would give them: in the order of the ports' ids, VXLAN ports first.
ovs::Bindings NumberPorts(const vswitch::HostView& view) {
  ovs::Bindings bindings;
  bindings.vxlan_v4 = view.tunnel_addresses.v4 ? 1 : 0;
  bindings.vxlan_v6 = view.tunnel_addresses.v6 ? 2 : 0;
  bindings.replication_limit = ovs::MeterRate{1000, 1000};
  uint32_t next = 10;
  for (const auto& [id, port] : view.ports) bindings.ports[id] = next++;
  return bindings;
}

void ExpectGolden(const std::filesystem::path& file, const std::string& text) {
  if (std::getenv("KASANE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file) << text;
    return;
  }
  std::ifstream in(file);
  std::stringstream golden;
  golden << in.rdbuf();
  // By line, so that a failure shows what changed and not two long texts.
  std::istringstream was(golden.str());
  std::istringstream is(text);
  std::string old_line;
  std::string new_line;
  for (int line = 1;; ++line) {
    const bool had = static_cast<bool>(std::getline(was, old_line));
    const bool has = static_cast<bool>(std::getline(is, new_line));
    if (!had && !has) return;
    ASSERT_EQ(had ? old_line : "(end of file)", has ? new_line : "(end of output)")
        << file << ":" << line << ": run with KASANE_UPDATE_GOLDEN=1 if the change is meant";
  }
}

void CheckHost(const model::NetworkState& state, const std::string& name, const model::Host& host) {
  const vswitch::HostView view = view::BuildHostView(state, host.id, {host.tunnel_v4, host.tunnel_v6});
  const ovs::Bindings bindings = NumberPorts(view);
  const auto tables = tables::BuildForwardingTables(view, ovs::PluggedPorts(bindings));
  const ovs::FlowTable flows = ovs::Compile(tables, bindings);
  EXPECT_EQ(flows.conflicts(), 0U) << host.id.str();
  const std::string base = name + "." + host.id.str();
  ExpectGolden(kFolder / (base + ".view"), ToString(view));
  ExpectGolden(kFolder / (base + ".flows"), ovs::ToString(flows));
}

TEST(GoldenTest, ResourceFilesToFlows) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++cases;
    const model::NetworkState state = Load(entry.path());
    ASSERT_FALSE(state.hosts.empty()) << entry.path() << " has no hosts";
    for (const auto& [id, host] : state.hosts) CheckHost(state, entry.path().stem().string(), *host);
  }
  EXPECT_GT(cases, 0) << "run from the top of the source tree";
}

}  // namespace
}  // namespace kasane
