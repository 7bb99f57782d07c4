package kubelet

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func resources(pairs ...string) v1.ResourceList {
	list := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func asking(pairs ...string) *v1.Pod {
	return &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{
		{Name: "main", Resources: v1.ResourceRequirements{Requests: resources(pairs...)}}}}}
}

func TestLacking(t *testing.T) {
	node := resources("cpu", "4", "gpu", "2", "pods", "3")
	one := resources("cpu", "1", "gpu", "1")
	for _, test := range []struct {
		name   string
		active []v1.ResourceList
		pod    v1.ResourceList
		reason string
	}{
		{"an empty node has room", nil, one, ""},
		{"what is left is enough", []v1.ResourceList{one}, one, ""},
		{"all GPUs are used", []v1.ResourceList{one, one}, one, "OutOfgpu"},
		{"others do not matter to a pod without GPUs", []v1.ResourceList{one, one}, resources("cpu", "2"), ""},
		{"half a core is missing", []v1.ResourceList{one, one}, resources("cpu", "2500m"), "OutOfcpu"},
		{"the first resource by name is told", nil, resources("gpu", "9", "cpu", "9"), "OutOfcpu"},
		{"pods are counted", []v1.ResourceList{resources(), resources(), resources()}, resources(), "OutOfpods"},
		{"a resource that the node lacks", nil, resources("nic", "1"), "OutOfnic"},
		{"none of a resource that the node lacks", nil, resources("nic", "0"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if reason, message := lacking(node, test.active, test.pod); reason != test.reason {
				t.Errorf("%q (%s), not %q", reason, message, test.reason)
			}
		})
	}
}
