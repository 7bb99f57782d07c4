package plane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// State of a process.
type State string

// A zombie counts as dead.
const (
	Running State = "running"
	Paused  State = "paused"
	Dead    State = "dead"
)

// Process is a process that may have ended, and whose number may have been given
// to another one since: it is known by its number and the time of its start.
type Process struct {
	PID     int
	started uint64 // Clock ticks since boot.
}

// Usage is what a process has used.
type Usage struct {
	CPUSeconds  float64 `json:"cpu_s"`
	ResidentMiB float64 `json:"rss_mib"`
}

// fields are those of /proc/PID/stat from the third on, which is behind a name
// that may contain anything.
func fields(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	end := strings.LastIndexByte(string(text), ')')
	words := strings.Fields(string(text[end+1:]))
	if end < 0 || len(words) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(words))
	}
	return words, nil
}

// FindProcess is the process that has this number now.
func FindProcess(pid int) (Process, error) {
	words, err := fields(pid)
	if err != nil {
		return Process{}, err
	}
	started, err := strconv.ParseUint(words[19], 10, 64)
	return Process{pid, started}, err
}

// State is read anew at each call.
func (p Process) State() State {
	if p.PID == 0 {
		return Dead
	}
	words, err := fields(p.PID)
	if err != nil || words[19] != strconv.FormatUint(p.started, 10) {
		return Dead
	}
	switch words[0] {
	case "Z", "X":
		return Dead
	case "T", "t":
		return Paused
	}
	return Running
}

// Usage is zero for a process that has ended.
func (p Process) Usage() Usage {
	if p.State() == Dead {
		return Usage{}
	}
	words, err := fields(p.PID)
	if err != nil {
		return Usage{}
	}
	const ticksPerSecond = 100 // USER_HZ, the same on every architecture of Go.
	number := func(i int) float64 { n, _ := strconv.ParseFloat(words[i], 64); return n }
	return Usage{
		CPUSeconds:  (number(11) + number(12)) / ticksPerSecond,
		ResidentMiB: number(21) * float64(os.Getpagesize()) / (1 << 20),
	}
}

// Signal does nothing to a process that has ended.
func (p Process) Signal(signal syscall.Signal) error {
	if p.State() == Dead {
		return nil
	}
	if err := syscall.Kill(p.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Wait waits until the process is in the state.
func (p Process) Wait(state State, timeout time.Duration) error {
	for end := time.Now().Add(timeout); p.State() != state; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("process %d is not %s after %s", p.PID, state, timeout)
		}
	}
	return nil
}

func (p *Plane) pidFile(name string) string { return filepath.Join(p.Dir, "run", name+".pid") }

// process is the one that was started last, or none.
func (p *Plane) process(name string) Process {
	text, err := os.ReadFile(p.pidFile(name))
	if err != nil {
		return Process{}
	}
	var process Process
	if _, err := fmt.Sscan(string(text), &process.PID, &process.started); err != nil {
		return Process{}
	}
	return process
}

// spawn starts a component in a session of its own, so that it outlives this
// process and no signal of a terminal reaches it.
func (p *Plane) spawn(component Component) error {
	if p.process(component.Name).State() != Dead {
		return fmt.Errorf("%s is running", component.Name)
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.LogFile(component.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(executable, component.Arguments...)
	command.Dir = p.Dir
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return err
	}
	process, err := FindProcess(command.Process.Pid)
	if err != nil {
		return err
	}
	go command.Wait() //nolint:errcheck // Only so that no zombie stays; the state is read from /proc.
	text := fmt.Sprintf("%d %d\n", process.PID, process.started)
	return writeFile(p.pidFile(component.Name), []byte(text))
}

// writeFile replaces a file in one step.
func writeFile(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
