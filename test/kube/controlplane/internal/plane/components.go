package plane

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const loopback = "127.0.0.1"

// controllers are those that a scheduler's tests meet. Controllers of clouds,
// certificates, service addresses and autoscaling are left out.
var controllers = []string{
	"clusterrole-aggregation-controller", "cronjob-controller", "daemonset-controller",
	"deployment-controller", "disruption-controller", "endpoints-controller",
	"endpointslice-controller", "ephemeral-volume-controller", "garbage-collector-controller",
	"job-controller", "namespace-controller", "persistentvolume-binder-controller",
	"persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller",
	"pod-garbage-collector-controller", "podgroup-protection-controller", "replicaset-controller",
	"replicationcontroller-controller", "resourcequota-controller",
	"root-ca-certificate-publisher-controller", "serviceaccount-controller",
	"serviceaccount-token-controller", "statefulset-controller", "ttl-after-finished-controller",
}

// lifecycleControllers taint silent nodes and evict pods from tainted ones.
var lifecycleControllers = []string{"node-lifecycle-controller", "taint-eviction-controller"}

// Component is one process of a control plane: how to start it, and where it
// says that it is well.
type Component struct {
	Name      string   `json:"name"`
	Arguments []string `json:"arguments"`
	Health    string   `json:"health,omitempty"` // A URL that answers 200.
}

// builder knows the ports and files that the components of a plane share.
type builder struct {
	config Config
	ports  *portPicker
	etcd   string // URL of clients.
	server string // URL of the API server.
}

func (b *builder) path(parts ...string) string {
	return filepath.Join(append([]string{b.config.Dir}, parts...)...)
}

func (b *builder) add(name, health string, arguments ...string) Component {
	arguments = append(append([]string{name}, arguments...), b.config.Arguments[name]...)
	return Component{Name: name, Arguments: arguments, Health: health}
}

func (b *builder) components() ([]Component, error) {
	var all []Component
	etcd, err := b.buildEtcd()
	if err != nil {
		return nil, err
	}
	server, err := b.buildAPIServer()
	if err != nil {
		return nil, err
	}
	all = append(all, etcd, server)
	for _, next := range []struct {
		wanted bool
		build  func() (Component, error)
	}{
		{b.config.ControllerManager, b.buildControllerManager},
		{b.config.Scheduler, b.buildScheduler},
		{b.config.Kubelet, b.buildKubelet},
	} {
		if !next.wanted {
			continue
		}
		component, err := next.build()
		if err != nil {
			return nil, err
		}
		all = append(all, component)
	}
	if b.config.Owner != 0 {
		all = append(all, Component{Name: guard, Arguments: []string{guard, "--dir=" + b.config.Dir,
			"--owner=" + strconv.Itoa(b.config.Owner)}})
	}
	return all, nil
}

func (b *builder) buildEtcd() (Component, error) {
	ports, err := b.ports.pick(2)
	if err != nil {
		return Component{}, err
	}
	b.etcd = "http://" + address(ports[0])
	peer := "http://" + address(ports[1])
	return b.add(Etcd, b.etcd+"/health",
		"--name=testbed",
		"--data-dir="+b.path("etcd"),
		"--listen-client-urls="+b.etcd,
		"--advertise-client-urls="+b.etcd,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=testbed="+peer,
		"--watch-progress-notify-interval=5s",
		"--quota-backend-bytes=4294967296",
		"--log-level=warn",
		fmt.Sprintf("--unsafe-no-fsync=%t", !b.config.Fsync)), nil
}

func (b *builder) buildAPIServer() (Component, error) {
	ports, err := b.ports.pick(1)
	if err != nil {
		return Component{}, err
	}
	b.server = "https://" + address(ports[0])
	var disabled []string
	if !b.config.Lifecycle {
		// Nobody would take the taint "not ready" from a new node.
		disabled = append(disabled, "TaintNodesByCondition")
	}
	if !b.config.ControllerManager {
		// Nobody would make the service accounts that pods run as.
		disabled = append(disabled, "ServiceAccount")
	}
	arguments := []string{
		"--bind-address=" + loopback,
		"--advertise-address=" + loopback,
		"--secure-port=" + strconv.Itoa(ports[0]),
		"--endpoint-reconciler-type=none",
		"--etcd-servers=" + b.etcd,
		"--service-cluster-ip-range=10.0.0.0/16",
		"--client-ca-file=" + b.path("pki", "ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + b.path("pki", "service-account.key"),
		"--service-account-signing-key-file=" + b.path("pki", "service-account.key"),
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--feature-gates=" + b.config.FeatureGates,
		"--runtime-config=" + b.config.RuntimeConfig,
		"--disable-admission-plugins=" + strings.Join(disabled, ","),
	}
	return b.add(APIServer, b.server+"/readyz", append(arguments, b.serving()...)...), nil
}

func (b *builder) buildControllerManager() (Component, error) {
	wanted := controllers
	arguments := []string{
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + b.path("pki", "service-account.key"),
		"--root-ca-file=" + b.path("pki", "ca.crt"),
		"--kube-api-qps=2000",
		"--kube-api-burst=2000",
		"--leader-elect=false",
		"--feature-gates=" + b.config.FeatureGates,
	}
	if b.config.Lifecycle {
		wanted = append(append([]string{}, wanted...), lifecycleControllers...)
		arguments = append(arguments, "--node-monitor-period=1s", "--node-monitor-grace-period=10s")
	}
	arguments = append(arguments, "--controllers="+strings.Join(wanted, ","))
	return b.buildClient(ControllerManager, "/healthz", arguments)
}

func (b *builder) buildScheduler() (Component, error) {
	file := b.path("kube-scheduler.yaml")
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000}
`, b.path("users", Scheduler+".kubeconfig"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return Component{}, err
	}
	return b.buildClient(Scheduler, "/readyz",
		[]string{"--config=" + file, "--feature-gates=" + b.config.FeatureGates})
}

// buildClient is a component that serves its health and metrics, and lets the
// API server say who may read them.
func (b *builder) buildClient(name, health string, arguments []string) (Component, error) {
	ports, err := b.ports.pick(1)
	if err != nil {
		return Component{}, err
	}
	kubeconfig := b.path("users", name+".kubeconfig")
	common := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(ports[0]),
	}
	common = append(append(common, b.serving()...), arguments...)
	return b.add(name, "https://"+address(ports[0])+health, common...), nil
}

func (b *builder) buildKubelet() (Component, error) {
	ports, err := b.ports.pick(1)
	if err != nil {
		return Component{}, err
	}
	return b.add(Kubelet, "http://"+address(ports[0])+"/healthz",
		"--kubeconfig="+b.path("users", Kubelet+".kubeconfig"),
		"--health-address="+address(ports[0]),
		fmt.Sprintf("--heartbeat=%t", b.config.Lifecycle)), nil
}

func (b *builder) serving() []string {
	return []string{
		"--tls-cert-file=" + b.path("pki", "server.crt"),
		"--tls-private-key-file=" + b.path("pki", "server.key"),
	}
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
