package kubelet

import (
	"hash/fnv"
	"net"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostIP is an address of the block that is kept for benchmarks.
const hostIP = "198.18.0.1"

// apply makes a pod's status what it is after a step, as a kubelet writes it.
func apply(pod *v1.Pod, step Step, exitCode int32, now time.Time) {
	at := metav1.NewTime(now)
	status := &pod.Status
	switch step {
	case Start:
		status.Phase = v1.PodRunning
		if status.StartTime == nil {
			status.StartTime = &at
		}
		ip := podIP(pod)
		status.HostIP, status.HostIPs = hostIP, []v1.HostIP{{IP: hostIP}}
		status.PodIP, status.PodIPs = ip, []v1.PodIP{{IP: ip}}
		initial := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: at, FinishedAt: at}}
		status.InitContainerStatuses = containers(pod.Spec.InitContainers, status.InitContainerStatuses, initial, true)
		running := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: at}}
		status.ContainerStatuses = containers(pod.Spec.Containers, status.ContainerStatuses, running, true)
		ready(status, v1.ConditionTrue, "", at)
	case Restart:
		status.ContainerStatuses = containers(pod.Spec.Containers, status.ContainerStatuses, ended(status, exitCode, at), false)
		for i := range status.ContainerStatuses {
			one := &status.ContainerStatuses[i]
			one.RestartCount++
			one.LastTerminationState = one.State
			one.State = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		}
		ready(status, v1.ConditionFalse, "ContainersNotReady", at)
	case Exit, Stop:
		status.Phase = v1.PodSucceeded
		reason := "PodCompleted"
		if exitCode != 0 {
			status.Phase, reason = v1.PodFailed, "PodFailed"
		}
		status.ContainerStatuses = containers(pod.Spec.Containers, status.ContainerStatuses, ended(status, exitCode, at), false)
		ready(status, v1.ConditionFalse, reason, at)
	}
	status.ObservedGeneration = pod.Generation
}

// containers are the statuses of containers that are all in one state. An init
// container that has completed is ready.
func containers(specs []v1.Container, before []v1.ContainerStatus, state v1.ContainerState, ready bool) []v1.ContainerStatus {
	old := map[string]v1.ContainerStatus{}
	for _, one := range before {
		old[one.Name] = one
	}
	started := state.Running != nil
	var result []v1.ContainerStatus
	for _, spec := range specs {
		has := old[spec.Name]
		if has.Resources == nil {
			give(&has, spec)
		}
		result = append(result, v1.ContainerStatus{
			AllocatedResources:   has.AllocatedResources,
			Resources:            has.Resources,
			Name:                 spec.Name,
			Image:                spec.Image,
			ImageID:              spec.Image,
			State:                state,
			LastTerminationState: has.LastTerminationState,
			RestartCount:         has.RestartCount,
			Ready:                ready,
			Started:              &started,
		})
	}
	return result
}

// ended is the state of containers that ran since the status says so.
func ended(status *v1.PodStatus, exitCode int32, at metav1.Time) v1.ContainerState {
	terminated := &v1.ContainerStateTerminated{ExitCode: exitCode, Reason: "Completed", FinishedAt: at}
	if exitCode != 0 {
		terminated.Reason = "Error"
	}
	if started := startedAt(status); started != nil {
		terminated.StartedAt = *started
	}
	return v1.ContainerState{Terminated: terminated}
}

func startedAt(status *v1.PodStatus) *metav1.Time {
	for _, one := range status.ContainerStatuses {
		if one.State.Running != nil {
			return &one.State.Running.StartedAt
		}
	}
	return nil
}

// ready sets the conditions that say whether the containers are; the pod's own
// condition follows from theirs.
func ready(status *v1.PodStatus, value v1.ConditionStatus, reason string, at metav1.Time) {
	set(status, v1.PodReadyToStartContainers, value, "", at)
	set(status, v1.PodInitialized, v1.ConditionTrue, "", at)
	set(status, v1.ContainersReady, value, reason, at)
	set(status, v1.PodReady, value, reason, at)
}

func set(status *v1.PodStatus, kind v1.PodConditionType, value v1.ConditionStatus, reason string, at metav1.Time) {
	for i := range status.Conditions {
		one := &status.Conditions[i]
		if one.Type != kind {
			continue
		}
		if one.Status != value {
			one.Status, one.LastTransitionTime = value, at
		}
		one.Reason = reason
		return
	}
	status.Conditions = append(status.Conditions,
		v1.PodCondition{Type: kind, Status: value, Reason: reason, LastTransitionTime: at})
}

// podIP is the same for a pod whenever it is asked; two pods may share one.
func podIP(pod *v1.Pod) string {
	hash := fnv.New32a()
	hash.Write([]byte(pod.UID))
	sum := hash.Sum32()
	return net.IPv4(10, byte(128|sum>>16&0x7f), byte(sum>>8), byte(sum)).String()
}
