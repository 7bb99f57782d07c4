package command

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"muster/kubetestbed/internal/plane"
)

// onPlane is a command on the control plane in --dir.
func onPlane(command *cobra.Command, run func(context.Context, *plane.Plane, []string) error) *cobra.Command {
	var dir string
	command.RunE = func(_ *cobra.Command, arguments []string) error {
		ctx, cancel := untilSignal()
		defer cancel()
		opened, err := plane.Open(dir)
		if err != nil {
			return err
		}
		return run(ctx, opened, arguments)
	}
	addDir(command, &dir)
	return command
}

func newDownCommand() *cobra.Command {
	return onPlane(&cobra.Command{
		Use:   "down",
		Short: "Kill all components and remove the directory",
		Args:  cobra.NoArgs,
	}, func(_ context.Context, opened *plane.Plane, _ []string) error { return opened.Down() })
}

// exitUnhealthy is what status exits with if a component is not well.
const exitUnhealthy = 3

func newStatusCommand() *cobra.Command {
	var asJSON bool
	command := onPlane(&cobra.Command{
		Use:   "status",
		Short: "Say how each component is; exits with 3 unless all are well",
		Args:  cobra.NoArgs,
	}, func(ctx context.Context, opened *plane.Plane, _ []string) error {
		status := opened.Status(ctx)
		if err := printStatus(status, asJSON); err != nil {
			return err
		}
		if !status.Healthy {
			os.Exit(exitUnhealthy)
		}
		return nil
	})
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func printStatus(status plane.Status, asJSON bool) error {
	if asJSON {
		return printJSON(status)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tPID\tSTATE\tWELL\tCPU S\tRSS MiB\tLOG")
	for _, one := range status.Components {
		fmt.Fprintf(table, "%s\t%d\t%s\t%t\t%.1f\t%.0f\t%s\n", one.Name, one.PID, one.State,
			one.Healthy, one.CPUSeconds, one.ResidentMiB, one.Log)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Printf("Kubernetes %s, etcd %s, %s\nexport KUBECONFIG=%s\n",
		status.Kubernetes, status.EtcdServer, status.Server, status.Kubeconfig)
	return nil
}

func newUserCommand() *cobra.Command {
	return onPlane(&cobra.Command{
		Use:   "user NAME[:GROUP,...]",
		Short: "Write a kubeconfig file for a user, and print its path",
		Args:  cobra.ExactArgs(1),
	}, func(_ context.Context, opened *plane.Plane, arguments []string) error {
		path, err := opened.AddUser(parseUser(arguments[0]))
		if err == nil {
			fmt.Println(path)
		}
		return err
	})
}

func newCompactCommand() *cobra.Command {
	var revision int64
	command := onPlane(&cobra.Command{
		Use:   "compact",
		Short: "Let etcd forget old revisions, and print the oldest that is left",
		Args:  cobra.NoArgs,
	}, func(ctx context.Context, opened *plane.Plane, _ []string) error {
		oldest, err := opened.Compact(ctx, revision)
		if err == nil {
			fmt.Println(oldest)
		}
		return err
	})
	command.Flags().Int64Var(&revision, "revision", 0, "the oldest to be left (default: the newest one)")
	return command
}

func newComponentCommands() []*cobra.Command {
	var signal string
	one := cobra.ExactArgs(1)
	kill := onPlane(&cobra.Command{Use: "kill COMPONENT", Short: "End a component", Args: one},
		func(_ context.Context, opened *plane.Plane, arguments []string) error {
			number := unix.SignalNum("SIG" + signal)
			if number == 0 {
				return fmt.Errorf("--signal %q: a name such as KILL or TERM", signal)
			}
			return opened.Kill(arguments[0], syscall.Signal(number))
		})
	kill.Flags().StringVar(&signal, "signal", "KILL", "by which it ends")
	return []*cobra.Command{
		kill,
		onPlane(&cobra.Command{Use: "start COMPONENT", Short: "Start a component that has ended", Args: one},
			func(ctx context.Context, opened *plane.Plane, arguments []string) error {
				return opened.Start(ctx, arguments[0])
			}),
		onPlane(&cobra.Command{Use: "pause COMPONENT", Short: "Stop a component where it is", Args: one},
			func(_ context.Context, opened *plane.Plane, arguments []string) error {
				return opened.Pause(arguments[0])
			}),
		onPlane(&cobra.Command{Use: "resume COMPONENT", Short: "Let a paused component go on", Args: one},
			func(_ context.Context, opened *plane.Plane, arguments []string) error {
				return opened.Resume(arguments[0])
			}),
	}
}

func newGuardCommand() *cobra.Command {
	var dir string
	var owner int
	command := &cobra.Command{
		Use:    "guard",
		Short:  "Take the control plane down when its owner has ended",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			ctx, cancel := untilSignal()
			defer cancel()
			return plane.Guard(ctx, dir, owner)
		},
	}
	addDir(command, &dir)
	command.Flags().IntVar(&owner, "owner", 0, "its process")
	return command
}
