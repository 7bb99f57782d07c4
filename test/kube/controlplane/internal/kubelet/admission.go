package kubelet

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/cache"
	podresource "k8s.io/component-helpers/resource"
)

const nodeIndex = "node"

// byNode indexes pods by their node.
func byNode(object any) ([]string, error) {
	return []string{object.(*v1.Pod).Spec.NodeName}, nil
}

// admit says why the node has no room for a pod that it has not admitted yet, ""
// if it has. Room is what the pods leave that were admitted before and have not
// ended: an overbooked node shows, as with a kubelet.
func (k *Kubelet) admit(node *v1.Node, pod *v1.Pod, own *memory) (reason, message string, err error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	active, err := k.active(node, pod)
	if err != nil {
		return "", "", err
	}
	wanted := requests(pod)
	reason, message = lacking(node.Status.Allocatable, active, wanted)
	if reason == "" {
		own.admitted, own.given = true, wanted
	}
	return reason, message, nil
}

// active is what the other pods of a node have been given that it admitted and
// that have not ended. Under Kubelet.mutex.
func (k *Kubelet) active(node *v1.Node, pod *v1.Pod) ([]v1.ResourceList, error) {
	neighbours, err := k.index.ByIndex(nodeIndex, node.Name)
	if err != nil {
		return nil, err
	}
	var active []v1.ResourceList
	for _, object := range neighbours {
		other := object.(*v1.Pod)
		if other.UID == pod.UID {
			continue
		}
		one := k.memory[cache.ObjectName{Namespace: other.Namespace, Name: other.Name}]
		switch {
		case one == nil || one.uid != other.UID:
			if other.Status.Phase == v1.PodRunning {
				active = append(active, requests(given(other)))
			}
		case one.admitted && !one.ended:
			active = append(active, one.given)
		}
	}
	return active, nil
}

// requests is what a pod's spec asks for.
func requests(pod *v1.Pod) v1.ResourceList {
	return podresource.PodRequests(pod, podresource.PodResourcesOptions{})
}

// lacking is the first resource, by name, of which a pod does not find enough.
func lacking(allocatable v1.ResourceList, active []v1.ResourceList, pod v1.ResourceList) (reason, message string) {
	wanted := v1.ResourceList{v1.ResourcePods: resource.MustParse("1")}
	maps.Copy(wanted, pod)
	used := v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(int64(len(active)), resource.DecimalSI)}
	for _, other := range active {
		for name, quantity := range other {
			sum := used[name]
			sum.Add(quantity)
			used[name] = sum
		}
	}
	var names []string
	for name := range wanted {
		names = append(names, string(name))
	}
	slices.Sort(names)
	for _, text := range names {
		name := v1.ResourceName(text)
		request, taken, capacity := wanted[name], used[name], allocatable[name]
		rest := capacity.DeepCopy()
		rest.Sub(taken)
		if request.Cmp(rest) > 0 && !request.IsZero() {
			return "OutOf" + text, fmt.Sprintf("the node has too little of %s: requested %s, used %s of %s",
				text, request.String(), taken.String(), capacity.String())
		}
	}
	return "", ""
}
