package kubelet

import (
	"fmt"
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
	neighbours, err := k.index.ByIndex(nodeIndex, node.Name)
	if err != nil {
		return "", "", err
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var active []*v1.Pod
	for _, object := range neighbours {
		other := object.(*v1.Pod)
		one := k.memory[cache.ObjectName{Namespace: other.Namespace, Name: other.Name}]
		known := one != nil && one.uid == other.UID
		admitted := known && one.admitted || !known && other.Status.Phase == v1.PodRunning
		if other.UID != pod.UID && admitted && !(known && one.ended) {
			active = append(active, other)
		}
	}
	reason, message = lacking(node.Status.Allocatable, active, pod)
	own.admitted = reason == ""
	return reason, message, nil
}

// lacking is the first resource, by name, of which a pod does not find enough.
func lacking(allocatable v1.ResourceList, active []*v1.Pod, pod *v1.Pod) (reason, message string) {
	wanted := podresource.PodRequests(pod, podresource.PodResourcesOptions{})
	wanted[v1.ResourcePods] = resource.MustParse("1")
	used := v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(int64(len(active)), resource.DecimalSI)}
	for _, other := range active {
		for name, quantity := range podresource.PodRequests(other, podresource.PodResourcesOptions{}) {
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
