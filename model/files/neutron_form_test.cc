#include "model/files/neutron_form.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>

#include "kasane/v1/resources.pb.h"
#include "model/features.h"

namespace kasane::files {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Every field of every message below a resource is in the table of its message, under one name.
void ExpectComplete(const Descriptor& message) {
  std::set<const FieldDescriptor*> named;
  std::set<std::string_view> names;
  for (const FieldForm& form : FormOf(message)) {
    EXPECT_TRUE(names.insert(form.name).second) << message.name() << " has " << form.name << " twice";
    const FieldDescriptor* field = ProtoField(message, form);
    ASSERT_EQ(field != nullptr, IsStored(form.use)) << message.name() << "." << form.name;
    if (field != nullptr) named.insert(field);
    EXPECT_EQ(form.use == Use::kNotEnforced, !model::feature::Explanation(form.feature).empty()) << form.name;
  }
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    EXPECT_TRUE(named.contains(&field)) << field.full_name();
    if (field.message_type() != nullptr) ExpectComplete(*field.message_type());
  }
}

TEST(NeutronFormTest, TablesMatchTheProtocol) {
  for (const model::Kind kind : model::kAllKinds) {
    const FieldDescriptor* spec = v1::Resource::descriptor()->FindFieldByName(std::string(Label(kind)));
    ASSERT_NE(spec, nullptr) << Label(kind);
    ExpectComplete(*spec->message_type());
  }
}

TEST(NeutronFormTest, Sections) {
  EXPECT_EQ(KindOfSection("ports"), model::Kind::kPort);
  EXPECT_EQ(KindOfSection("security-groups"), model::Kind::kSecurityGroup);
  EXPECT_EQ(KindOfSection("security_groups"), model::Kind::kSecurityGroup);
  EXPECT_EQ(KindOfSection("hosts"), model::Kind::kHost);
  EXPECT_EQ(KindOfSection("port"), std::nullopt);
  EXPECT_EQ(KindOfSection("quotas"), std::nullopt);
  EXPECT_EQ(FindOtherSection("quotas")->use, Use::kMetadata);
  EXPECT_EQ(FindOtherSection("metering-labels")->feature, model::feature::kMetering);
  EXPECT_EQ(FindOtherSection("ports"), nullptr);
  EXPECT_TRUE(IsLinksSection("ports_links"));
  EXPECT_TRUE(IsLinksSection("trunks_links"));
  EXPECT_FALSE(IsLinksSection("ports"));
  EXPECT_FALSE(IsLinksSection("colour_links"));
}

TEST(NeutronFormTest, SuggestionsAreNearOrNone) {
  const auto ports = FormOf(*v1::Port::descriptor());
  EXPECT_EQ(NearestField(ports, "mac_adress"), "mac_address");
  EXPECT_EQ(NearestField(ports, "fixed_ip"), "fixed_ips");
  EXPECT_EQ(NearestField(ports, "binding_host_id"), "binding:host_id");
  EXPECT_EQ(NearestField(ports, "flavour"), "");
  EXPECT_EQ(NearestField(ports, std::string(100000, 'x')), "");
  EXPECT_EQ(NearestSection("port"), "ports");
  EXPECT_EQ(NearestSection("floating_ips"), "floatingips");
}

}  // namespace
}  // namespace kasane::files
