package nodes

import "testing"

var config = Config{
	Prefix: "node-", CPU: "64", Memory: "512Gi", Pods: 110, GPUs: 8, GPUResource: "nvidia.com/gpu",
	NodesPerRack: 4, RacksPerBlock: 2, BlocksPerZone: 2,
	Labels: map[string]string{"tier": "gold"}, Extended: map[string]string{"example.com/nic": "2"},
}

func TestNodesStandInRacksBlocksAndZones(t *testing.T) {
	for number, places := range map[int][3]string{
		0: {"rack-0", "block-0", "zone-0"}, 7: {"rack-1", "block-0", "zone-0"},
		8: {"rack-2", "block-1", "zone-0"}, 16: {"rack-4", "block-2", "zone-1"},
	} {
		node, err := New(config, number)
		if err != nil {
			t.Fatal(err)
		}
		got := [3]string{node.Labels[RackLabel], node.Labels[BlockLabel], node.Labels["topology.kubernetes.io/zone"]}
		if got != places {
			t.Errorf("node %d is in %v, not in %v", number, got, places)
		}
	}
}

func TestResourcesAndLabelsAreAsConfigured(t *testing.T) {
	node, err := New(config, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cpu": "64", "nvidia.com/gpu": "8", "example.com/nic": "2", "pods": "110"} {
		for key, quantity := range node.Status.Allocatable {
			if string(key) == name && quantity.String() != text {
				t.Errorf("%s: %s, not %s", name, quantity.String(), text)
			}
		}
	}
	if len(node.Status.Allocatable) != 6 || node.Labels["tier"] != "gold" || node.Name != "node-3" {
		t.Errorf("node %+v", node)
	}
}

func TestAQuantityThatCannotBeReadIsAnError(t *testing.T) {
	bad := config
	bad.Memory = "much"
	if _, err := New(bad, 0); err == nil {
		t.Error("memory \"much\" is taken")
	}
}
