// Package nodes makes Node objects as a cluster with accelerators has them.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
)

// Labels of the places of a node; zones have their well-known one.
const (
	RackLabel  = "topology.testbed.muster.dev/rack"
	BlockLabel = "topology.testbed.muster.dev/block"
)

// Config says which nodes to make. Names are Prefix and a number from First on.
type Config struct {
	Count, First                               int
	Prefix                                     string
	CPU, Memory                                string // Quantities.
	Pods                                       int
	GPUs                                       int
	GPUResource, GPUProduct                    string
	NodesPerRack, RacksPerBlock, BlocksPerZone int // 0: no such level, nor any above it.
	Labels                                     map[string]string
	Extended                                   map[string]string // Further resources, with their quantities.
	Taints                                     []v1.Taint
}

// Create makes the nodes, ready to run pods. It returns the first error, if any.
func Create(ctx context.Context, client kubernetes.Interface, config Config) error {
	if _, err := New(config, config.First); err != nil {
		return err
	}
	const workers = 32
	var mutex sync.Mutex
	var failures []error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workqueue.ParallelizeUntil(ctx, workers, config.Count, func(i int) {
		node, err := New(config, config.First+i)
		if err == nil {
			_, err = client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		}
		if err != nil {
			mutex.Lock()
			defer mutex.Unlock()
			failures = append(failures, err)
			cancel()
		}
	})
	if len(failures) > 0 {
		return failures[0]
	}
	return ctx.Err()
}

// New is the node of a number.
func New(config Config, number int) (*v1.Node, error) {
	name := config.Prefix + strconv.Itoa(number)
	resources, err := quantities(config)
	if err != nil {
		return nil, err
	}
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname:   name,
			v1.LabelArchStable: "amd64",
			v1.LabelOSStable:   "linux",
		}},
		Spec: v1.NodeSpec{Taints: config.Taints},
		Status: v1.NodeStatus{
			Capacity:    resources,
			Allocatable: resources,
			Conditions:  conditions(),
			Addresses:   []v1.NodeAddress{{Type: v1.NodeHostName, Address: name}},
			NodeInfo:    v1.NodeSystemInfo{KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64"},
		},
	}
	if config.GPUs > 0 {
		node.Labels["nvidia.com/gpu.product"] = config.GPUProduct
		node.Labels["nvidia.com/gpu.count"] = strconv.Itoa(config.GPUs)
	}
	place(node.Labels, config, number)
	for key, value := range config.Labels {
		node.Labels[key] = value
	}
	return node, nil
}

func place(labels map[string]string, config Config, number int) {
	for _, level := range []struct {
		label, prefix string
		size          int
	}{
		{RackLabel, "rack-", config.NodesPerRack},
		{BlockLabel, "block-", config.RacksPerBlock},
		{v1.LabelTopologyZone, "zone-", config.BlocksPerZone},
	} {
		if level.size <= 0 {
			return
		}
		number /= level.size
		labels[level.label] = level.prefix + strconv.Itoa(number)
	}
}

func quantities(config Config) (v1.ResourceList, error) {
	texts := map[string]string{
		string(v1.ResourceCPU):              config.CPU,
		string(v1.ResourceMemory):           config.Memory,
		string(v1.ResourcePods):             strconv.Itoa(config.Pods),
		string(v1.ResourceEphemeralStorage): "1Ti",
	}
	if config.GPUs > 0 {
		texts[config.GPUResource] = strconv.Itoa(config.GPUs)
	}
	for name, text := range config.Extended {
		texts[name] = text
	}
	result := v1.ResourceList{}
	var failures []error
	for name, text := range texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %q: %w", name, text, err))
		}
		result[v1.ResourceName(name)] = quantity
	}
	return result, errors.Join(failures...)
}

func conditions() []v1.NodeCondition {
	now := metav1.Now()
	result := []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady"}}
	for _, kind := range []v1.NodeConditionType{v1.NodeMemoryPressure, v1.NodeDiskPressure, v1.NodePIDPressure} {
		result = append(result, v1.NodeCondition{Type: kind, Status: v1.ConditionFalse, Reason: "KubeletHasEnough"})
	}
	for i := range result {
		result[i].LastHeartbeatTime, result[i].LastTransitionTime = now, now
	}
	return result
}
