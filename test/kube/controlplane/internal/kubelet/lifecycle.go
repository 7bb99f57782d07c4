package kubelet

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Annotations by which a pod says how its containers behave. Durations are Go's:
// "500ms", "1m30s".
const (
	RunFor       = "testbed.muster.dev/run-for"        // They end by themselves after this time; else never.
	ExitCode     = "testbed.muster.dev/exit-code"      // With which they do so; 0 if not given.
	StartFor     = "testbed.muster.dev/start-for"      // From the binding to phase Running.
	StopFor      = "testbed.muster.dev/stop-for"       // From the deletion to their end, at most the grace period.
	StopExitCode = "testbed.muster.dev/stop-exit-code" // With which they end then; 143 if not given.
)

const (
	exitTerminated = 143 // By SIGTERM.
	exitKilled     = 137 // By SIGKILL, when the grace period is over.
	restartDelay   = time.Second
)

// Delays are those of pods without annotations.
type Delays struct{ Start, Stop time.Duration }

// Seen is what the kubelet remembers of a pod. Times in a pod's status have whole
// seconds only: they serve after a restart of the kubelet.
type Seen struct {
	Bound, Started, Deleted time.Time
	Restarting              time.Time // When its containers ended to be started again.
}

// Step is what happens next in a pod's life.
type Step int

// None is the step of a pod that stays as it is.
const (
	None    Step = iota
	Start        // Containers start: phase Running.
	Exit         // Containers end by themselves: phase Succeeded or Failed.
	Restart      // Containers have ended, and start again as the restart policy says.
	Stop         // Containers end since the pod is deleted.
	Remove       // The object can go.
)

// Next is the step after what the pod's status says, the time when it is due and
// the exit code of the containers that end in it. Malformed annotations are errors.
func Next(pod *v1.Pod, seen Seen, delays Delays) (step Step, due time.Time, exitCode int32, err error) {
	if pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
		if pod.DeletionTimestamp != nil {
			return Remove, seen.Deleted, 0, nil
		}
		return None, time.Time{}, 0, nil
	}
	plan, err := readPlan(pod, delays)
	if err != nil {
		return None, time.Time{}, 0, err
	}
	if pod.DeletionTimestamp != nil {
		step, due, exitCode = stop(pod, seen, plan)
		return step, due, exitCode, nil
	}
	switch {
	case pod.Status.Phase != v1.PodRunning:
		return Start, seen.Bound.Add(plan.start), 0, nil
	case !seen.Restarting.IsZero():
		return Start, seen.Restarting.Add(restartDelay), 0, nil
	case plan.run < 0:
		return None, time.Time{}, 0, nil
	}
	due = seen.Started.Add(plan.run)
	again := pod.Spec.RestartPolicy == v1.RestartPolicyAlways ||
		pod.Spec.RestartPolicy == v1.RestartPolicyOnFailure && plan.exitCode != 0
	if again {
		return Restart, due, plan.exitCode, nil
	}
	return Exit, due, plan.exitCode, nil
}

func stop(pod *v1.Pod, seen Seen, plan plan) (Step, time.Time, int32) {
	if pod.Status.Phase != v1.PodRunning {
		return Stop, seen.Deleted, exitKilled
	}
	var grace time.Duration
	if seconds := pod.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	if plan.stop > grace {
		return Stop, seen.Deleted.Add(grace), exitKilled
	}
	return Stop, seen.Deleted.Add(plan.stop), plan.stopExitCode
}

// plan is how a pod's containers behave.
type plan struct {
	start, run, stop       time.Duration // run < 0: for ever.
	exitCode, stopExitCode int32
}

func readPlan(pod *v1.Pod, delays Delays) (plan, error) {
	result := plan{start: delays.Start, run: -1, stop: delays.Stop, stopExitCode: exitTerminated}
	for _, duration := range []struct {
		name string
		to   *time.Duration
	}{{StartFor, &result.start}, {RunFor, &result.run}, {StopFor, &result.stop}} {
		text, ok := pod.Annotations[duration.name]
		if !ok {
			continue
		}
		value, err := time.ParseDuration(text)
		if err != nil || value < 0 {
			return plan{}, fmt.Errorf("annotation %s: %q is not a duration such as 1.5s", duration.name, text)
		}
		*duration.to = value
	}
	for _, code := range []struct {
		name string
		to   *int32
	}{{ExitCode, &result.exitCode}, {StopExitCode, &result.stopExitCode}} {
		text, ok := pod.Annotations[code.name]
		if !ok {
			continue
		}
		value, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return plan{}, fmt.Errorf("annotation %s: %q is not a number from 0 to 255", code.name, text)
		}
		*code.to = int32(value)
	}
	return result, nil
}
