package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"muster/kubetestbed/internal/client"
	"muster/kubetestbed/internal/nodes"
	"muster/kubetestbed/internal/plane"
)

// addDir adds --dir; its value is absolute once the command runs.
func addDir(command *cobra.Command, dir *string) {
	fallback := os.Getenv("MUSTER_KUBE_DIR")
	if fallback == "" {
		fallback = filepath.Join(os.TempDir(), fmt.Sprintf("muster-kube-%d", os.Getuid()))
	}
	command.Flags().StringVar(dir, "dir", fallback, "where all of the control plane lies (MUSTER_KUBE_DIR)")
	command.PreRunE = func(*cobra.Command, []string) (err error) {
		*dir, err = filepath.Abs(*dir)
		return err
	}
}

// untilSignal ends when the user does.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

func newUpCommand() *cobra.Command {
	var config plane.Config
	var arguments, users []string
	var asJSON bool
	machines := nodes.Config{}
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a control plane",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := parseArguments(&config, arguments); err != nil {
				return err
			}
			for _, text := range users {
				config.Users = append(config.Users, parseUser(text))
			}
			return up(config, machines, asJSON)
		},
	}
	addDir(command, &config.Dir)
	flags := command.Flags()
	flags.BoolVar(&config.ControllerManager, "controller-manager", true, "run kube-controller-manager")
	flags.BoolVar(&config.Scheduler, "scheduler", false, "run kube-scheduler")
	flags.BoolVar(&config.Kubelet, "kubelet", true, "take bound pods through their phases")
	flags.BoolVar(&config.Lifecycle, "lifecycle", false, "taint nodes whose kubelet is silent, evict from tainted nodes")
	flags.BoolVar(&config.Fsync, "fsync", false, "let etcd wait for the disk")
	flags.StringVar(&config.FeatureGates, "feature-gates", plane.DefaultFeatureGates, "of all Kubernetes components")
	flags.StringVar(&config.RuntimeConfig, "runtime-config", plane.DefaultRuntimeConfig, "API groups that are off by default")
	flags.StringArrayVar(&arguments, "arg", nil, "COMPONENT=ARGUMENT for one component, e.g. kube-apiserver=--v=4")
	flags.StringArrayVar(&users, "user", nil, "NAME[:GROUP,...] gets a kubeconfig file users/NAME.kubeconfig")
	flags.IntVar(&config.Owner, "owner", 0, "process with whose end the control plane is taken down")
	flags.BoolVar(&asJSON, "json", false, "print what status --json prints")
	addNodeFlags(command, &machines, "nodes", 0)
	return command
}

func up(config plane.Config, machines nodes.Config, asJSON bool) error {
	ctx, cancel := untilSignal()
	defer cancel()
	running, err := plane.Up(ctx, config)
	if err != nil {
		return err
	}
	if machines.Count > 0 {
		api, err := client.New(running.Kubeconfig, "kubetestbed-nodes")
		if err == nil {
			err = nodes.Create(ctx, api, machines)
		}
		if err != nil {
			return fmt.Errorf("%w (the control plane is taken down: %v)", err, running.Down())
		}
	}
	if asJSON {
		return printJSON(running.Status(ctx))
	}
	fmt.Printf("export KUBECONFIG=%s\n", running.Kubeconfig)
	return nil
}

func parseArguments(config *plane.Config, arguments []string) error {
	config.Arguments = map[string][]string{}
	for _, text := range arguments {
		name, argument, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("--arg %q: COMPONENT=ARGUMENT", text)
		}
		config.Arguments[name] = append(config.Arguments[name], argument)
	}
	return nil
}

// parseUser reads NAME[:GROUP,...]; a name may begin with "system:".
func parseUser(text string) plane.User {
	const system = "system:"
	rest, isSystem := strings.CutPrefix(text, system)
	name, groups, ok := strings.Cut(rest, ":")
	if isSystem {
		name = system + name
	}
	user := plane.User{Name: name}
	if ok {
		user.Groups = strings.Split(groups, ",")
	}
	return user
}

func printJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}
