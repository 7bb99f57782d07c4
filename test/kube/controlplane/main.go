// Command kubetestbed is a Kubernetes control plane on the loopback interface,
// for tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and
// kubectl as they are released, a fake kubelet, and the commands that start,
// stop and disturb them. It is one program since linking is what costs.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // Time zones of CronJobs.

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/klog/v2"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"muster/kubetestbed/internal/command"
)

// components are the programs that are run as they are released. Each finds its
// own name in os.Args[0].
var components = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllermanager.NewControllerManagerCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kubectl":                 runKubectl,
}

func main() {
	if len(os.Args) > 1 {
		if run, ok := components[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			run()
			return
		}
	}
	klog.SetOutput(os.Stderr)
	if err := command.NewRoot().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "kubetestbed:", err)
		os.Exit(1)
	}
}

func runKubectl() {
	logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)) //nolint:errcheck // As kubectl's own main.
	kubectlutil.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
}
