package kubelet

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resizeAgain is how long after a resize that found no room it is tried again.
const resizeAgain = time.Second

// resize gives a running pod what its spec asks for by now, if the node has room.
// Else the pod keeps what it has, and a condition says so. It returns when to try
// again, 0 if there is no need.
func (k *Kubelet) resize(ctx context.Context, node *v1.Node, pod *v1.Pod, own *memory, now time.Time) (time.Duration, error) {
	runs := pod.Status.Phase == v1.PodRunning && pod.DeletionTimestamp == nil && own.seen.Restarting.IsZero()
	if !runs || !resized(pod) {
		return 0, nil
	}
	k.mutex.Lock()
	active, err := k.active(node, pod)
	wanted := requests(pod)
	reason := ""
	if err == nil {
		reason = pending(node.Status.Allocatable, active, own.given, wanted)
	}
	if err == nil && reason == "" {
		own.given = wanted
	}
	k.mutex.Unlock()
	if err != nil {
		return 0, err
	}
	next := pod.DeepCopy()
	if !applyResize(next, reason, now) {
		return resizeAgain, nil
	}
	if err := k.write(ctx, pod, next, own); err != nil {
		return 0, err
	}
	if reason == "" {
		return 0, nil
	}
	return resizeAgain, nil
}

// pending is why a pod does not get what it wants instead of what it was given:
// the reason of a condition, "" if it gets it. Whoever wants less gets it.
func pending(allocatable v1.ResourceList, active []v1.ResourceList, given, wanted v1.ResourceList) string {
	more := false
	for name, quantity := range wanted {
		more = more || quantity.Cmp(given[name]) > 0
	}
	if !more {
		return ""
	}
	if reason, _ := lacking(allocatable, nil, wanted); reason != "" {
		return v1.PodReasonInfeasible
	}
	if reason, _ := lacking(allocatable, active, wanted); reason != "" {
		return v1.PodReasonDeferred
	}
	return ""
}

// applyResize writes what became of a resize, and says whether that is new.
func applyResize(pod *v1.Pod, reason string, now time.Time) bool {
	status := &pod.Status
	pending := func(one v1.PodCondition) bool { return one.Type == v1.PodResizePending }
	if reason != "" {
		if at := slices.IndexFunc(status.Conditions, pending); at >= 0 && status.Conditions[at].Reason == reason &&
			status.Conditions[at].ObservedGeneration == pod.Generation {
			return false
		}
		set(status, v1.PodResizePending, v1.ConditionTrue, reason, metav1.NewTime(now))
		status.Conditions[slices.IndexFunc(status.Conditions, pending)].ObservedGeneration = pod.Generation
		return true
	}
	status.Conditions = slices.DeleteFunc(status.Conditions, pending)
	for _, spec := range pod.Spec.Containers {
		if has := statusOf(status.ContainerStatuses, spec.Name); has != nil {
			give(has, spec)
		}
	}
	for _, spec := range pod.Spec.InitContainers {
		if has := statusOf(status.InitContainerStatuses, spec.Name); has != nil {
			give(has, spec)
		}
	}
	status.ObservedGeneration = pod.Generation
	return true
}

// give writes down that a container has what its spec asks for.
func give(status *v1.ContainerStatus, spec v1.Container) {
	status.AllocatedResources = spec.Resources.Requests
	status.Resources = spec.Resources.DeepCopy()
	status.Resources.Claims = nil
}

// resized says whether the spec asks for other amounts than the status tells.
func resized(pod *v1.Pod) bool {
	now, before := requests(pod), requests(given(pod))
	for name, quantity := range now {
		if quantity.Cmp(before[name]) != 0 {
			return true
		}
	}
	return len(now) != len(before)
}

// given is the pod with the requests that its status tells.
func given(pod *v1.Pod) *v1.Pod {
	result := &v1.Pod{Spec: *pod.Spec.DeepCopy()}
	for _, part := range []struct {
		specs    []v1.Container
		statuses []v1.ContainerStatus
	}{
		{result.Spec.Containers, pod.Status.ContainerStatuses},
		{result.Spec.InitContainers, pod.Status.InitContainerStatuses},
	} {
		for i := range part.specs {
			if has := statusOf(part.statuses, part.specs[i].Name); has != nil && has.AllocatedResources != nil {
				part.specs[i].Resources.Requests = has.AllocatedResources
			}
		}
	}
	return result
}

// statusOf is the status of the container of that name, nil if there is none.
func statusOf(statuses []v1.ContainerStatus, name string) *v1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}
