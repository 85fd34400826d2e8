#include "vswitch/underlay/netlink.h"

#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/status.h"

namespace kasane::underlay {
namespace {

using Message = std::unique_ptr<nl_msg, decltype(&nlmsg_free)>;
using Handler = std::function<void(nlmsghdr*)>;

std::string ErrorText(int code) { return nl_geterror(code); }

int CallHandler(nl_msg* message, void* handler) {
  (*static_cast<Handler*>(handler))(nlmsg_hdr(message));
  return NL_OK;
}

Message NewMessage(int type, int flags) { return {nlmsg_alloc_simple(type, flags), &nlmsg_free}; }

int FamilyOf(const IpAddress& address) { return address.is_v4() ? AF_INET : AF_INET6; }

void PutAddress(nl_msg* message, int attribute, const IpAddress& address) {
  nla_put(message, attribute, static_cast<int>(address.bytes().size()), address.bytes().data());
}

// Sends `request` and hands each answer to `handler`. A negative libnl error code on failure.
int Transact(nl_sock* socket, nl_msg* request, Handler handler) {
  nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, &CallHandler, &handler);
  const int sent = nl_send_auto(socket, request);
  return sent < 0 ? sent : nl_recvmsgs_default(socket);
}

std::optional<IpAddress> ReadAddress(nlattr* attribute) {
  if (attribute == nullptr) return std::nullopt;
  const auto* bytes = static_cast<const uint8_t*>(nla_data(attribute));
  if (nla_len(attribute) == 4) return IpAddress::V4(std::span<const uint8_t, 4>(bytes, 4));
  if (nla_len(attribute) == 16) return IpAddress::V6(std::span<const uint8_t, 16>(bytes, 16));
  return std::nullopt;
}

std::string LinkName(uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  return if_indextoname(index, name.data()) != nullptr ? std::string(name.data())
                                                       : fmt::format("link {}", index);
}

// Of all links, by index: one request, however many have addresses.
std::map<uint32_t, uint32_t> LinkMtus(nl_sock* socket) {
  Message request = NewMessage(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP);
  ifinfomsg body{};
  nlmsg_append(request.get(), &body, sizeof body, NLMSG_ALIGNTO);
  std::map<uint32_t, uint32_t> mtus;
  Transact(socket, request.get(), [&mtus](nlmsghdr* header) {
    nlattr* mtu = nlmsg_find_attr(header, sizeof(ifinfomsg), IFLA_MTU);
    if (mtu == nullptr || nla_len(mtu) != sizeof(uint32_t)) return;
    mtus[static_cast<uint32_t>(static_cast<const ifinfomsg*>(nlmsg_data(header))->ifi_index)] =
        nla_get_u32(mtu);
  });
  return mtus;
}

NeighbourState StateOf(uint16_t nud) {
  if ((nud & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP)) != 0) return NeighbourState::kFresh;
  if ((nud & (NUD_STALE | NUD_DELAY | NUD_PROBE)) != 0) return NeighbourState::kStale;
  if ((nud & NUD_INCOMPLETE) != 0) return NeighbourState::kResolving;
  return (nud & NUD_FAILED) != 0 ? NeighbourState::kFailed : NeighbourState::kUnknown;
}

std::optional<Neighbour> ReadNeighbour(nlmsghdr* header) {
  std::array<nlattr*, NDA_MAX + 1> attributes{};
  if (nlmsg_parse(header, sizeof(ndmsg), attributes.data(), NDA_MAX, nullptr) < 0) return std::nullopt;
  const auto* body = static_cast<const ndmsg*>(nlmsg_data(header));
  if (body->ndm_family != AF_INET && body->ndm_family != AF_INET6) return std::nullopt;
  const std::optional<IpAddress> address = ReadAddress(attributes[NDA_DST]);
  if (!address) return std::nullopt;
  Neighbour neighbour{.link_index = static_cast<uint32_t>(body->ndm_ifindex),
                      .address = *address,
                      .state = StateOf(body->ndm_state),
                      .mac = std::nullopt};
  if (header->nlmsg_type == RTM_DELNEIGH) neighbour.state = NeighbourState::kUnknown;
  const bool valid = neighbour.state == NeighbourState::kFresh || neighbour.state == NeighbourState::kStale;
  nlattr* mac = attributes[NDA_LLADDR];
  if (valid && mac != nullptr && nla_len(mac) == 6) {
    MacAddress::Bytes bytes;
    const auto* data = static_cast<const uint8_t*>(nla_data(mac));
    std::copy(data, data + bytes.size(), bytes.begin());
    neighbour.mac = MacAddress(bytes);
  }
  if (valid && !neighbour.mac) neighbour.state = NeighbourState::kUnknown;
  return neighbour;
}

struct AddressOfLink {
  uint32_t link_index = 0;
  IpAddress address;
};

std::optional<AddressOfLink> ReadLocalAddress(nlmsghdr* header) {
  std::array<nlattr*, IFA_MAX + 1> attributes{};
  if (nlmsg_parse(header, sizeof(ifaddrmsg), attributes.data(), IFA_MAX, nullptr) < 0) return std::nullopt;
  const auto* body = static_cast<const ifaddrmsg*>(nlmsg_data(header));
  // On a point-to-point link IFA_ADDRESS is the peer's.
  nlattr* local = attributes[IFA_LOCAL] != nullptr ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
  const std::optional<IpAddress> address = ReadAddress(local);
  if (!address) return std::nullopt;
  return AddressOfLink{body->ifa_index, *address};
}

absl::StatusOr<RouteInfo> ReadRoute(nlmsghdr* header, const IpAddress& destination) {
  std::array<nlattr*, RTA_MAX + 1> attributes{};
  if (nlmsg_parse(header, sizeof(rtmsg), attributes.data(), RTA_MAX, nullptr) < 0) {
    return Error(absl::StatusCode::kInternal, "the kernel's route to {} cannot be read", destination);
  }
  const auto* body = static_cast<const rtmsg*>(nlmsg_data(header));
  if (body->rtm_type == RTN_LOCAL) {
    return Error(absl::StatusCode::kFailedPrecondition, "{} is an address of this host itself", destination);
  }
  if (body->rtm_type != RTN_UNICAST || attributes[RTA_OIF] == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition, "there is no unicast route to {}", destination);
  }
  RouteInfo route;
  route.link_index = nla_get_u32(attributes[RTA_OIF]);
  route.link = LinkName(route.link_index);
  route.next_hop = ReadAddress(attributes[RTA_GATEWAY]).value_or(destination);
  return route;
}

absl::StatusOr<std::unique_ptr<nl_sock, Netlink::SocketDeleter>> OpenSocket(int protocol) {
  std::unique_ptr<nl_sock, Netlink::SocketDeleter> socket(nl_socket_alloc());
  if (!socket) return Error(absl::StatusCode::kResourceExhausted, "out of memory for a netlink socket");
  if (const int code = nl_connect(socket.get(), protocol); code < 0) {
    return Error(absl::StatusCode::kUnavailable, "cannot open a netlink socket: {}", ErrorText(code));
  }
  nl_socket_disable_auto_ack(socket.get());
  return socket;
}

}  // namespace

void Netlink::SocketDeleter::operator()(nl_sock* socket) const { nl_socket_free(socket); }

absl::StatusOr<std::unique_ptr<Netlink>> Netlink::Open(Watch watch) {
  ASSIGN_OR_RETURN(Socket requests, OpenSocket(NETLINK_ROUTE));
  ASSIGN_OR_RETURN(Socket events, OpenSocket(NETLINK_ROUTE));
  nl_socket_disable_seq_check(events.get());
  nl_socket_set_nonblocking(events.get());
  std::vector<int> groups = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR};
  if (watch == Watch::kNeighbours) {
    groups.insert(groups.end(), {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_NEIGH});
  }
  for (const int group : groups) {
    if (const int code = nl_socket_add_memberships(events.get(), group, 0); code < 0) {
      return Error(absl::StatusCode::kUnavailable, "cannot subscribe to netlink events: {}", ErrorText(code));
    }
  }
  return std::unique_ptr<Netlink>(new Netlink(std::move(requests), std::move(events)));
}

int Netlink::event_fd() const { return nl_socket_get_fd(events_.get()); }

bool Netlink::ReadEvents(const std::function<void(const Neighbour&)>& on_neighbour) {
  bool other = false;
  Handler handler = [&](nlmsghdr* header) {
    if (header->nlmsg_type != RTM_NEWNEIGH && header->nlmsg_type != RTM_DELNEIGH) {
      other = true;
    } else if (const std::optional<Neighbour> neighbour = ReadNeighbour(header)) {
      on_neighbour(*neighbour);
    }
  };
  nl_socket_modify_cb(events_.get(), NL_CB_VALID, NL_CB_CUSTOM, &CallHandler, &handler);
  int code = 0;
  while ((code = nl_recvmsgs_default(events_.get())) >= 0) {
  }
  // Anything but "no more" means that the kernel dropped events.
  return other || code != -NLE_AGAIN;
}

absl::StatusOr<std::vector<LocalAddress>> Netlink::Addresses() {
  Message request = NewMessage(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);
  ifaddrmsg body{};
  nlmsg_append(request.get(), &body, sizeof body, NLMSG_ALIGNTO);
  std::vector<AddressOfLink> found;
  const int code = Transact(requests_.get(), request.get(), [&found](nlmsghdr* header) {
    if (const auto address = ReadLocalAddress(header)) found.push_back(*address);
  });
  if (code < 0) {
    return Error(absl::StatusCode::kUnavailable, "cannot list this host's addresses: {}", ErrorText(code));
  }
  std::vector<LocalAddress> addresses;
  const std::map<uint32_t, uint32_t> mtus = LinkMtus(requests_.get());
  for (const auto& [index, address] : found) {
    const auto mtu = mtus.find(index);
    addresses.push_back({address, LinkName(index), mtu == mtus.end() ? 0 : mtu->second});
  }
  return addresses;
}

absl::StatusOr<RouteInfo> Netlink::RouteTo(const IpAddress& destination) {
  Message request = NewMessage(RTM_GETROUTE, NLM_F_REQUEST);
  rtmsg body{};
  body.rtm_family = static_cast<unsigned char>(FamilyOf(destination));
  body.rtm_dst_len = static_cast<unsigned char>(destination.bits());
  nlmsg_append(request.get(), &body, sizeof body, NLMSG_ALIGNTO);
  PutAddress(request.get(), RTA_DST, destination);
  absl::StatusOr<RouteInfo> route =
      Error(absl::StatusCode::kInternal, "the kernel did not say how to reach {}", destination);
  const int code = Transact(requests_.get(), request.get(), [&](nlmsghdr* header) {
    if (header->nlmsg_type == RTM_NEWROUTE) route = ReadRoute(header, destination);
  });
  if (code < 0) {
    return Error(absl::StatusCode::kFailedPrecondition, "there is no route to {}: {}", destination,
                 ErrorText(code));
  }
  return route;
}

absl::StatusOr<Neighbour> Netlink::GetNeighbour(uint32_t link_index, const IpAddress& address) {
  Message request = NewMessage(RTM_GETNEIGH, NLM_F_REQUEST);
  ndmsg body{};
  body.ndm_family = static_cast<unsigned char>(FamilyOf(address));
  body.ndm_ifindex = static_cast<int>(link_index);
  nlmsg_append(request.get(), &body, sizeof body, NLMSG_ALIGNTO);
  PutAddress(request.get(), NDA_DST, address);
  Neighbour neighbour{.link_index = link_index, .address = address, .state = {}, .mac = std::nullopt};
  const int code = Transact(requests_.get(), request.get(), [&neighbour](nlmsghdr* header) {
    if (const std::optional<Neighbour> found = ReadNeighbour(header)) neighbour = *found;
  });
  if (code < 0 && code != -NLE_OBJ_NOTFOUND) {
    return Error(absl::StatusCode::kUnavailable, "cannot look up neighbour {}: {}", address, ErrorText(code));
  }
  return neighbour;
}

absl::Status Netlink::Probe(uint32_t link_index, const IpAddress& address) {
  Message request = NewMessage(RTM_NEWNEIGH, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK);
  ndmsg body{};
  body.ndm_family = static_cast<unsigned char>(FamilyOf(address));
  body.ndm_ifindex = static_cast<int>(link_index);
  body.ndm_flags = NTF_USE;
  nlmsg_append(request.get(), &body, sizeof body, NLMSG_ALIGNTO);
  PutAddress(request.get(), NDA_DST, address);
  const int code = Transact(requests_.get(), request.get(), [](nlmsghdr*) {});
  if (code < 0) {
    return Error(absl::StatusCode::kUnavailable, "cannot make the kernel resolve {}: {}", address,
                 ErrorText(code));
  }
  return absl::OkStatus();
}

bool KernelHasOpenvswitch() {
  absl::StatusOr<std::unique_ptr<nl_sock, Netlink::SocketDeleter>> socket = OpenSocket(NETLINK_GENERIC);
  if (!socket.ok()) return false;
  Message request = NewMessage(GENL_ID_CTRL, NLM_F_REQUEST);
  genlmsghdr body{};
  body.cmd = CTRL_CMD_GETFAMILY;
  body.version = 1;
  nlmsg_append(request.get(), &body, sizeof body, NLMSG_ALIGNTO);
  nla_put_string(request.get(), CTRL_ATTR_FAMILY_NAME, "ovs_datapath");
  return Transact(socket->get(), request.get(), [](nlmsghdr*) {}) >= 0;
}

}  // namespace kasane::underlay
