package kubelet

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	origin = time.Unix(1000, 0)
	delays = Delays{Start: 200 * time.Millisecond, Stop: 300 * time.Millisecond}
)

func at(offset time.Duration) time.Time { return origin.Add(offset) }

// newPod is a pod in a phase, whose annotations are pairs of a key and a value.
func newPod(phase v1.PodPhase, policy v1.RestartPolicy, annotations ...string) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "uid", Annotations: map[string]string{}},
		Spec: v1.PodSpec{RestartPolicy: policy,
			InitContainers: []v1.Container{{Name: "init"}},
			Containers:     []v1.Container{{Name: "a"}, {Name: "b"}}},
		Status: v1.PodStatus{Phase: phase},
	}
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotations[annotations[i]] = annotations[i+1]
	}
	return pod
}

func deleted(pod *v1.Pod, grace int64) *v1.Pod {
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: origin}, &grace
	return pod
}

func TestNext(t *testing.T) {
	const never, onFailure, always = v1.RestartPolicyNever, v1.RestartPolicyOnFailure, v1.RestartPolicyAlways
	seen := Seen{Bound: at(0), Started: at(time.Second), Deleted: at(5 * time.Second)}
	restarting := seen
	restarting.Restarting = at(2 * time.Second)
	for _, test := range []struct {
		name string
		pod  *v1.Pod
		seen Seen
		step Step
		due  time.Time
		code int32
	}{
		{"a bound pod starts after the delay", newPod(v1.PodPending, never), seen, Start, at(delays.Start), 0},
		{"an annotation overrides the delay", newPod(v1.PodPending, never, StartFor, "2s"), seen, Start, at(2 * time.Second), 0},
		{"without an annotation it runs for ever", newPod(v1.PodRunning, never), seen, None, time.Time{}, 0},
		{"it ends by itself", newPod(v1.PodRunning, never, RunFor, "5s"), seen, Exit, at(6 * time.Second), 0},
		{"it fails", newPod(v1.PodRunning, never, RunFor, "0s", ExitCode, "7"), seen, Exit, at(time.Second), 7},
		{"a success is not repeated", newPod(v1.PodRunning, onFailure, RunFor, "1s"), seen, Exit, at(2 * time.Second), 0},
		{"a failure is repeated", newPod(v1.PodRunning, onFailure, RunFor, "1s", ExitCode, "1"), seen, Restart, at(2 * time.Second), 1},
		{"a service is always started again", newPod(v1.PodRunning, always, RunFor, "1s"), seen, Restart, at(2 * time.Second), 0},
		{"it starts again after a delay", newPod(v1.PodRunning, always, RunFor, "1s"), restarting, Start, at(2*time.Second + restartDelay), 0},
		{"what has ended stays", newPod(v1.PodSucceeded, never, RunFor, "1s"), seen, None, time.Time{}, 0},
		{"a deleted pod ends by SIGTERM", deleted(newPod(v1.PodRunning, never), 30), seen, Stop, at(5*time.Second + delays.Stop), exitTerminated},
		{"it may end well", deleted(newPod(v1.PodRunning, never, StopExitCode, "0"), 30), seen, Stop, at(5*time.Second + delays.Stop), 0},
		{"it may take its time", deleted(newPod(v1.PodRunning, never, StopFor, "9s"), 30), seen, Stop, at(14 * time.Second), exitTerminated},
		{"but not more than its grace", deleted(newPod(v1.PodRunning, never, StopFor, "1h"), 30), seen, Stop, at(35 * time.Second), exitKilled},
		{"what has not started ends at once", deleted(newPod(v1.PodPending, never), 30), seen, Stop, at(5 * time.Second), exitKilled},
		{"what has ended is removed", deleted(newPod(v1.PodFailed, never), 30), seen, Remove, at(5 * time.Second), 0},
		{"whatever its annotations say", deleted(newPod(v1.PodFailed, never, RunFor, "?"), 30), seen, Remove, at(5 * time.Second), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			step, due, code, err := Next(test.pod, test.seen, delays)
			if err != nil || step != test.step || !due.Equal(test.due) || code != test.code {
				t.Errorf("step %d at %s with code %d (%v), not step %d at %s with code %d",
					step, due, code, err, test.step, test.due, test.code)
			}
		})
	}
}

func TestMalformedAnnotationsAreErrors(t *testing.T) {
	for _, annotation := range [][2]string{
		{RunFor, "5"}, {RunFor, "-1s"}, {StartFor, ""}, {StopFor, "1x"},
		{ExitCode, "256"}, {ExitCode, "-1"}, {StopExitCode, "one"},
	} {
		if _, _, _, err := Next(newPod(v1.PodPending, v1.RestartPolicyNever, annotation[0], annotation[1]), Seen{}, delays); err == nil {
			t.Errorf("%s: %q is taken", annotation[0], annotation[1])
		}
	}
}

func TestStatusOfARunningPod(t *testing.T) {
	pod := newPod(v1.PodPending, v1.RestartPolicyNever)
	apply(pod, Start, 0, at(0))
	if pod.Status.Phase != v1.PodRunning || !pod.Status.StartTime.Time.Equal(at(0)) || pod.Status.PodIP == "" {
		t.Errorf("status %+v", pod.Status)
	}
	if len(pod.Status.ContainerStatuses) != 2 || !pod.Status.ContainerStatuses[1].Ready {
		t.Errorf("containers %+v", pod.Status.ContainerStatuses)
	}
	if one := pod.Status.InitContainerStatuses[0]; one.State.Terminated == nil || !one.Ready {
		t.Errorf("init container %+v", one)
	}
	expectReady(t, pod, v1.ConditionTrue)
}

func TestStatusOfAPodThatEnds(t *testing.T) {
	for code, phase := range map[int32]v1.PodPhase{0: v1.PodSucceeded, 9: v1.PodFailed} {
		pod := newPod(v1.PodPending, v1.RestartPolicyNever)
		apply(pod, Start, 0, at(0))
		apply(pod, Exit, code, at(time.Minute))
		ended := pod.Status.ContainerStatuses[0].State.Terminated
		if pod.Status.Phase != phase || ended == nil || ended.ExitCode != code ||
			!ended.StartedAt.Time.Equal(at(0)) || !ended.FinishedAt.Time.Equal(at(time.Minute)) {
			t.Errorf("code %d: phase %s, container %+v", code, pod.Status.Phase, ended)
		}
		expectReady(t, pod, v1.ConditionFalse)
	}
}

func TestStatusOfAPodThatStartsAgain(t *testing.T) {
	pod := newPod(v1.PodPending, v1.RestartPolicyAlways)
	apply(pod, Start, 0, at(0))
	apply(pod, Restart, 1, at(time.Second))
	if one := pod.Status.ContainerStatuses[0]; one.State.Waiting == nil || one.RestartCount != 1 ||
		pod.Status.Phase != v1.PodRunning {
		t.Errorf("phase %s, container %+v", pod.Status.Phase, one)
	}
	expectReady(t, pod, v1.ConditionFalse)
	apply(pod, Start, 0, at(2*time.Second))
	one := pod.Status.ContainerStatuses[0]
	if one.State.Running == nil || one.RestartCount != 1 || one.LastTerminationState.Terminated.ExitCode != 1 {
		t.Errorf("container %+v", one)
	}
	expectReady(t, pod, v1.ConditionTrue)
}

func expectReady(t *testing.T, pod *v1.Pod, value v1.ConditionStatus) {
	t.Helper()
	for _, kind := range []v1.PodConditionType{v1.PodReady, v1.ContainersReady} {
		count := 0
		for _, one := range pod.Status.Conditions {
			if one.Type == kind && one.Status == value {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%d times %s=%s in %+v", count, kind, value, pod.Status.Conditions)
		}
	}
}
