package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster/kubetestbed/internal/pki"
)

// Plane is what plane.json in its directory says: the processes may run or not.
type Plane struct {
	Dir        string      `json:"dir"`
	Server     string      `json:"server"`     // URL of the API server.
	Kubeconfig string      `json:"kubeconfig"` // Of an administrator.
	Authority  string      `json:"certificate_authority"`
	Etcd       string      `json:"etcd"` // URL for clients.
	Components []Component `json:"components"`
}

const stateFile = "plane.json"

// startTimeout is how long a component may take until it says that it is well.
const startTimeout = 60 * time.Second

// Up starts a control plane, and returns when each component says that it is
// well. If one does not, or ctx ends, nothing of it stays behind.
func Up(ctx context.Context, config Config) (*Plane, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if err := claim(config.Dir); err != nil {
		return nil, err
	}
	plane, err := prepare(config)
	if err == nil {
		err = plane.startAll(ctx)
	}
	if err == nil && config.ControllerManager {
		err = plane.waitServiceAccount(ctx)
	}
	if err != nil {
		if plane == nil {
			return nil, errors.Join(err, os.RemoveAll(config.Dir))
		}
		return nil, errors.Join(err, plane.Down())
	}
	return plane, nil
}

// claim makes the directory; one that is empty serves as well.
func claim(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if err := os.Remove(dir); err != nil {
			return fmt.Errorf("%s is not an empty directory; if it is an old control plane: down", dir)
		}
		err = os.Mkdir(dir, 0o700)
	}
	return err
}

// prepare writes all files that the components read.
func prepare(config Config) (*Plane, error) {
	for _, folder := range []string{"pki", "users", "run", "logs"} {
		if err := os.Mkdir(filepath.Join(config.Dir, folder), 0o700); err != nil {
			return nil, err
		}
	}
	b := builder{config: config, ports: newPortPicker()}
	components, err := b.components()
	if err != nil {
		return nil, err
	}
	plane := &Plane{
		Dir:        config.Dir,
		Server:     b.server,
		Kubeconfig: filepath.Join(config.Dir, "users", "admin.kubeconfig"),
		Authority:  filepath.Join(config.Dir, "pki", "ca.crt"),
		Etcd:       b.etcd,
		Components: components,
	}
	if err := plane.makeCredentials(config.Users); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(plane, "", "  ")
	if err != nil {
		return nil, err
	}
	return plane, writeFile(filepath.Join(config.Dir, stateFile), append(text, '\n'))
}

// Open reads what Up left.
func Open(dir string) (*Plane, error) {
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, fmt.Errorf("no control plane in %s: %w", dir, err)
	}
	plane := &Plane{}
	if err := json.Unmarshal(text, plane); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, stateFile), err)
	}
	plane.Dir = dir
	return plane, nil
}

// Down kills each component and removes the directory.
func (p *Plane) Down() error {
	var failures []error
	for i := len(p.Components) - 1; i >= 0; i-- {
		process := p.process(p.Components[i].Name)
		if process.PID == os.Getpid() {
			continue // The guard, when its owner has ended.
		}
		failures = append(failures, process.Signal(syscall.SIGKILL))
	}
	for _, component := range p.Components {
		if process := p.process(component.Name); process.PID != os.Getpid() {
			failures = append(failures, process.Wait(Dead, 10*time.Second))
		}
	}
	return errors.Join(append(failures, os.RemoveAll(p.Dir))...)
}

// startAll starts the API server beside etcd, which it waits for, and the others
// when it is there.
func (p *Plane) startAll(ctx context.Context) error {
	for _, component := range p.Components {
		if component.Name != Etcd && component.Name != APIServer {
			continue
		}
		if err := p.spawn(component); err != nil {
			return err
		}
	}
	if err := p.WaitHealthy(ctx, Etcd, APIServer); err != nil {
		return err
	}
	var names []string
	for _, component := range p.Components {
		if component.Name == Etcd || component.Name == APIServer {
			continue
		}
		if err := p.spawn(component); err != nil {
			return err
		}
		names = append(names, component.Name)
	}
	return p.WaitHealthy(ctx, names...)
}

// Start starts a component that has ended, with the arguments, port and data that
// it had, and waits until it is well.
func (p *Plane) Start(ctx context.Context, name string) error {
	component, err := p.component(name)
	if err != nil {
		return err
	}
	if err := p.spawn(component); err != nil {
		return err
	}
	return p.WaitHealthy(ctx, name)
}

// Kill ends a component by a signal, and returns when it has ended.
func (p *Plane) Kill(name string, signal syscall.Signal) error {
	return p.signal(name, signal, Dead)
}

// Pause stops a component where it is: its connections stay open, and silent.
func (p *Plane) Pause(name string) error { return p.signal(name, syscall.SIGSTOP, Paused) }

// Resume lets a paused component go on.
func (p *Plane) Resume(name string) error { return p.signal(name, syscall.SIGCONT, Running) }

func (p *Plane) signal(name string, signal syscall.Signal, then State) error {
	if _, err := p.component(name); err != nil {
		return err
	}
	process := p.process(name)
	if process.State() == Dead {
		return fmt.Errorf("%s is not running", name)
	}
	if err := process.Signal(signal); err != nil {
		return err
	}
	return process.Wait(then, startTimeout)
}

func (p *Plane) component(name string) (Component, error) {
	var names []string
	for _, component := range p.Components {
		if component.Name == name {
			return component, nil
		}
		names = append(names, component.Name)
	}
	return Component{}, fmt.Errorf("no component %q; there are %v", name, names)
}

// LogFile is where a component writes what it has to say.
func (p *Plane) LogFile(name string) string { return filepath.Join(p.Dir, "logs", name+".log") }

func (p *Plane) makeCredentials(users []User) error {
	dir := filepath.Join(p.Dir, "pki")
	authority, err := pki.NewAuthority("kubetestbed")
	if err != nil {
		return err
	}
	if err := authority.Save(dir); err != nil {
		return err
	}
	server, err := authority.Server("kubernetes", "kubernetes.default", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	if err := server.Save(dir, "server"); err != nil {
		return err
	}
	if err := pki.SaveServiceAccountKey(filepath.Join(dir, "service-account.key")); err != nil {
		return err
	}
	// The kubelet stands for those of all nodes.
	users = append([]User{
		{"admin", []string{"system:masters"}},
		{"system:kube-controller-manager", nil},
		{"system:kube-scheduler", nil},
		{"kubelet", []string{"system:masters"}},
	}, users...)
	for _, user := range users {
		if _, err := p.addUser(authority, user); err != nil {
			return err
		}
	}
	return nil
}
