// Package plane starts, watches, disturbs and ends the processes of one control
// plane. All that belongs to it lies in one directory; several control planes
// run side by side in directories of their own.
package plane

import "fmt"

// Names of the components, in the order in which they start.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	guard             = "guard"
)

// ComponentNames are the names that Config.Arguments and commands know.
var ComponentNames = []string{Etcd, APIServer, ControllerManager, Scheduler, Kubelet}

// Config says what a control plane consists of.
type Config struct {
	Dir               string // Must not exist, or be empty. Absolute.
	ControllerManager bool
	Scheduler         bool // kube-scheduler, for pods that name no scheduler.
	Kubelet           bool // The fake one, for all nodes.
	// Lifecycle runs the controllers that taint nodes whose kubelet is silent, and
	// evict pods from tainted nodes. Leases of nodes are then renewed.
	Lifecycle     bool
	Fsync         bool   // Whether etcd's writes reach the disk before they are answered.
	FeatureGates  string // Of all Kubernetes components.
	RuntimeConfig string // API groups that are off by default.
	// Arguments are added to those of a component, by its name, and override them.
	Arguments map[string][]string
	Users     []User
	Owner     int // If not 0, the control plane ends with this process.
}

// User gets a kubeconfig file of its own.
type User struct {
	Name   string
	Groups []string
}

// Default gates and groups: those of gang scheduling in Kubernetes 1.37.
const (
	DefaultFeatureGates  = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
	DefaultRuntimeConfig = "scheduling.k8s.io/v1beta1=true"
)

func (c *Config) validate() error {
	known := map[string]bool{}
	for _, name := range ComponentNames {
		known[name] = true
	}
	for name := range c.Arguments {
		if !known[name] {
			return fmt.Errorf("no component %q; there are %v", name, ComponentNames)
		}
	}
	if c.Lifecycle && !(c.ControllerManager && c.Kubelet) {
		return fmt.Errorf("the life cycle of nodes needs the controller manager and the kubelet")
	}
	return nil
}
