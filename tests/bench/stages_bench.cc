// What the pure stages between a NetworkState and the flows cost, for a host of a cloud of R routers with 10
// networks of 100 ports each, spread over 100 hosts. The counters give the time per endpoint and per flow.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "view/host_view_builder.h"
#include "vswitch/ovs/translate/compiler.h"

namespace kasane {
namespace {

constexpr uint32_t kNetworks = 10;
constexpr uint32_t kPorts = 100;
constexpr uint32_t kHosts = 100;

MacAddress NthMac(uint32_t n) {
  return MacAddress({0xfa, 0x16, static_cast<uint8_t>(n >> 24), static_cast<uint8_t>(n >> 16),
                     static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)});
}

void AddPort(model::NetworkState& state, const std::string& id, uint32_t number, const model::Subnet& subnet,
             uint32_t host_part, model::PortRole role, const std::string& where) {
  auto port = std::make_shared<model::Port>();
  port->id = PortId(id);
  port->name = id;
  port->network = subnet.network;
  port->mac = NthMac(number);
  port->fixed_ips = {{subnet.id, IpAddress::V4(subnet.cidr.address().v4_host_order() + host_part)}};
  port->role = role;
  if (role == model::PortRole::kRouterInterface) {
    port->device_id = where;
  } else {
    port->host = HostId(where);
  }
  state.ports[port->id] = std::move(port);
}

model::NetworkState MakeCloud(uint32_t routers) {
  model::NetworkState state;
  for (uint32_t h = 0; h < kHosts; ++h) {
    auto host = std::make_shared<model::Host>();
    host->id = HostId(fmt::format("hv{}", h));
    host->tunnel_v4 = IpAddress::V4(0xc0000200 + h + 1);
    state.hosts[host->id] = std::move(host);
  }
  uint32_t number = 0;
  for (uint32_t r = 0; r < routers; ++r) {
    auto router = std::make_shared<model::Router>();
    router->id = RouterId(fmt::format("r{}", r));
    state.routers[router->id] = router;
    for (uint32_t n = 0; n < kNetworks; ++n) {
      auto network = std::make_shared<model::Network>();
      network->id = NetworkId(fmt::format("r{}n{}", r, n));
      network->vni = *Vni::From(1 + r * kNetworks + n);
      auto subnet = std::make_shared<model::Subnet>();
      subnet->id = SubnetId(network->id.str());
      subnet->network = network->id;
      subnet->cidr = IpPrefix(IpAddress::V4(0x0a000000 + (n << 8)), 24);
      AddPort(state, network->id.str() + "gw", ++number, *subnet, 1, model::PortRole::kRouterInterface,
              router->id.str());
      for (uint32_t p = 0; p < kPorts; ++p) {
        AddPort(state, fmt::format("{}p{}", network->id, p), ++number, *subnet, 10 + p, model::PortRole::kVm,
                fmt::format("hv{}", (p + n) % kHosts));
      }
      state.networks[network->id] = std::move(network);
      state.subnets[subnet->id] = std::move(subnet);
    }
  }
  return state;
}

vswitch::HostView ViewOf(const model::NetworkState& state) {
  return view::BuildHostView(state, HostId("hv0"), {IpAddress::V4(0xc0000201), std::nullopt});
}

ovs::Bindings NumberPorts(const vswitch::HostView& view) {
  ovs::Bindings bindings;
  bindings.vxlan_v4 = 1;
  uint32_t next = 10;
  for (const auto& [id, port] : view.ports) bindings.ports[id] = next++;
  return bindings;
}

void PerItem(benchmark::State& bench, const char* name, size_t items) {
  bench.counters[name] = static_cast<double>(items);
  bench.counters[fmt::format("seconds_per_{}", name)] = benchmark::Counter(
      static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_BuildHostView(benchmark::State& bench) {
  const model::NetworkState state = MakeCloud(static_cast<uint32_t>(bench.range(0)));
  size_t endpoints = 0;
  for (auto _ : bench) {
    const vswitch::HostView view = ViewOf(state);
    endpoints = view.endpoints.size();
    benchmark::DoNotOptimize(endpoints);
  }
  PerItem(bench, "endpoint", endpoints);
}
BENCHMARK(BM_BuildHostView)->Arg(1)->Arg(10)->Unit(benchmark::kMillisecond);

void BM_Compile(benchmark::State& bench) {
  const vswitch::HostView view = ViewOf(MakeCloud(static_cast<uint32_t>(bench.range(0))));
  const ovs::Bindings bindings = NumberPorts(view);
  size_t flows = 0;
  for (auto _ : bench) {
    const auto tables = tables::BuildForwardingTables(view, ovs::PluggedPorts(bindings));
    flows = ovs::Compile(tables, bindings).flows().size();
    benchmark::DoNotOptimize(flows);
  }
  PerItem(bench, "flow", flows);
}
BENCHMARK(BM_Compile)->Arg(1)->Arg(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kasane

BENCHMARK_MAIN();
