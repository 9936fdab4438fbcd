#include "bundle/connect.h"

#include "support.h"

namespace leapp {
namespace {

using Wires = std::vector<Wire>;

TEST(ConnectTest, WiresOfOneSourceAreOneInTheOrderOfTheYaml) {
  Wires wires;
  add_wire(wires, {"pre", "y"}, {"policy", "x"});
  add_wire(wires, {"policy", "y"}, {"drive", "x"});
  add_wire(wires, {"pre", "y"}, {"drive", "z"});
  EXPECT_EQ(wires, (Wires{{{"policy", "y"}, {{"drive", "x"}}},
                          {{"pre", "y"}, {{"policy", "x"}, {"drive", "z"}}}}));
}

TEST(ConnectTest, PortsThatNoWireReachesAreTheCallers) {
  const Bundle whole = test::make_bundle();
  Bundle bundle = whole;
  bundle.pipeline.inputs.clear();
  bundle.pipeline.outputs.clear();
  list_open_ports(bundle, {{"policy", "h_out"}});
  EXPECT_EQ(bundle, whole);
}

}  // namespace
}  // namespace leapp
