// Package command has the commands of kubetestbed, but for those that are programs
// of others.
package command

import "github.com/spf13/cobra"

// NewRoot is the command with all others below it.
func NewRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kubetestbed",
		Short: "A Kubernetes control plane on the loopback interface, for tests",
		Long: "A Kubernetes control plane on the loopback interface, for tests.\n" +
			"Also runs as etcd, kube-apiserver, kube-controller-manager, kube-scheduler\n" +
			"or kubectl when that is the first argument.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newUpCommand(), newDownCommand(), newStatusCommand(), newUserCommand(),
		newCompactCommand(), newNodesCommand(), newKubeletCommand(), newGuardCommand())
	root.AddCommand(newComponentCommands()...)
	return root
}
