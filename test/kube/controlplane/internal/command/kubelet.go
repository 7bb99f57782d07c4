package command

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"muster/kubetestbed/internal/client"
	"muster/kubetestbed/internal/kubelet"
)

func newKubeletCommand() *cobra.Command {
	var kubeconfig, health string
	var options kubelet.Options
	command := &cobra.Command{
		Use:   "kubelet",
		Short: "Take the pods of all nodes through their phases",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return runKubelet(kubeconfig, health, options) },
	}
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "of a user who may do what kubelets do")
	flags.StringVar(&health, "health-address", "127.0.0.1:0", "where /healthz is")
	flags.DurationVar(&options.Delays.Start, "start-delay", 200*time.Millisecond, "from a pod's binding to Running")
	flags.DurationVar(&options.Delays.Stop, "stop-delay", 200*time.Millisecond, "from a pod's deletion to its end")
	flags.IntVar(&options.Workers, "workers", 16, "requests at a time")
	flags.BoolVar(&options.Heartbeat, "heartbeat", false, "renew the leases of nodes")
	return command
}

func runKubelet(kubeconfig, health string, options kubelet.Options) error {
	ctx, cancel := untilSignal()
	defer cancel()
	api, err := client.New(kubeconfig, "kubetestbed-kubelet")
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", health)
	if err != nil {
		return err
	}
	var started atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(writer http.ResponseWriter, _ *http.Request) {
		if !started.Load() {
			http.Error(writer, "starting", http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener) //nolint:errcheck // Ends with the process.
	return kubelet.New(api, options).Run(ctx, func() { started.Store(true) })
}
