// ClaimTable: the announcements that this host has heard and the controller does not know of yet. Failover does
// not wait for the controller: what is heard goes before what is stored, until the controller says more.
//
// Of hosts that hear two claimers in different orders, each may prefer another one for a moment; the
// controller's word ends that, for it is taken whenever it changes. Threads: one owner, the reconcile thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "model/network_state.h"
#include "vswitch/host_view.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::agent {

class ClaimTable {
 public:
  // A port with port security off could claim addresses without end.
  static constexpr size_t kMaxClaimsPerPort = 256;

  // `heard` on this host, whose view is `view`. False if it changes nothing: it is known, the port may not make
  // it or makes too many, or it only says what the port's fixed addresses say.
  bool Observe(const slowpath::Announcement& heard, const vswitch::HostView& view);

  // The controller's state is `after` now, `before` it was another (or null): forgets what that settles.
  // True if a claim that was heard is forgotten.
  bool Reconcile(const model::NetworkState* before, const model::NetworkState& after);

  // `state` with what was heard in place of what is stored.
  std::shared_ptr<const model::NetworkState> Overlay(std::shared_ptr<const model::NetworkState> state) const;

  // After a restart, with the view of the state that the claims were heard in: as if `heard` were heard again.
  void Restore(std::vector<model::AddressClaim> heard, const vswitch::HostView& view);
  // What changed since the last call, by claim; nothing: it is forgotten.
  std::map<AddressClaimId, std::optional<model::AddressClaim>> TakeUnsaved();

  // Claims of this host's own ports that the controller was not told yet, once each.
  std::vector<model::AddressClaim> TakeUnreported();
  // A new stream to the controller: it must be told again what it does not say itself.
  void ReportAgain();

 private:
  struct Entry {
    model::AddressClaim claim;
    bool local = false;  // By a port of this host, which thus is the one that reports it.
    bool reported = false;
  };

  std::optional<vswitch::AddressClaim> Known(const AddressClaimId& id, const vswitch::ClaimKey& key,
                                             const vswitch::HostView& view) const;
  uint64_t NextSequence(const vswitch::ClaimKey& key, const MacAddress& mac,
                        const vswitch::HostView& view) const;
  bool TooMany(const PortId& port, const vswitch::ClaimKey& key) const;

  std::map<AddressClaimId, Entry> heard_;
  std::set<AddressClaimId> unsaved_;
};

}  // namespace kasane::agent
