package kubelet

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestPending(t *testing.T) {
	node := resources("cpu", "4", "pods", "9")
	for _, test := range []struct {
		name          string
		others        []v1.ResourceList
		given, wanted string
		reason        string
	}{
		{"there is room", nil, "1", "3", ""},
		{"a neighbour has it", []v1.ResourceList{resources("cpu", "2")}, "1", "3", v1.PodReasonDeferred},
		{"more than there is", nil, "1", "5", v1.PodReasonInfeasible},
		{"less, on a node that is overbooked", []v1.ResourceList{resources("cpu", "4")}, "2", "1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reason := pending(node, test.others, resources("cpu", test.given), resources("cpu", test.wanted))
			if reason != test.reason {
				t.Errorf("%q, not %q", reason, test.reason)
			}
		})
	}
}

// cpus of a pod, as its status says that it has them.
func cpus(pod *v1.Pod) string {
	all := requests(given(pod))
	return all.Cpu().String()
}

func TestAPodIsResized(t *testing.T) {
	pod := asking("cpu", "1")
	apply(pod, Start, 0, at(0))
	if resized(pod) {
		t.Errorf("resized at its start: %+v", pod.Status.ContainerStatuses)
	}
	pod.Spec.Containers[0].Resources.Requests = resources("cpu", "3")
	pod.Generation = 2
	if !resized(pod) || cpus(pod) != "1" {
		t.Errorf("given %s", cpus(pod))
	}
	if !applyResize(pod, v1.PodReasonDeferred, at(1)) || applyResize(pod, v1.PodReasonDeferred, at(2)) {
		t.Error("the same is told twice, or not at all")
	}
	if cpus(pod) != "1" {
		t.Errorf("it has %s without room", cpus(pod))
	}
	if !applyResize(pod, "", at(3)) || resized(pod) {
		t.Errorf("not resized: %+v", pod.Status)
	}
	has := pod.Status.ContainerStatuses[0]
	if has.AllocatedResources.Cpu().String() != "3" || has.Resources.Requests.Cpu().String() != "3" {
		t.Errorf("container %+v", has)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == v1.PodResizePending {
			t.Errorf("%+v is still there", condition)
		}
	}
}
