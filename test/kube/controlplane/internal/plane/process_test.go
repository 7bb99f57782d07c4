package plane

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestStateFollowsTheProcess(t *testing.T) {
	command := exec.Command("sleep", "600")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := FindProcess(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		signal syscall.Signal
		state  State
	}{{syscall.SIGSTOP, Paused}, {syscall.SIGCONT, Running}, {syscall.SIGKILL, Dead}} { // Dead: a zombie.
		if err := process.Signal(step.signal); err != nil {
			t.Fatal(err)
		}
		if err := process.Wait(step.state, 10*time.Second); err != nil {
			t.Error(err)
		}
	}
	if err := command.Wait(); err == nil {
		t.Error("the process has not been killed")
	}
}

func TestAnotherProcessOfTheSameNumberIsNotTaken(t *testing.T) {
	process, err := FindProcess(syscall.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	process.started++
	if process.State() != Dead {
		t.Error("a process that started at another time is taken for the same")
	}
	if err := process.Signal(syscall.SIGKILL); err != nil { // This process would end.
		t.Error(err)
	}
}

func TestPortsAreFreeAndBelowThoseOfTheSystem(t *testing.T) {
	picker := newPortPicker()
	ports, err := picker.pick(50)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if port < picker.low || port >= picker.high || seen[port] {
			t.Errorf("port %d", port)
		}
		seen[port] = true
	}
}
