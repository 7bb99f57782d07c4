package plane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster/kubetestbed/internal/client"
)

// ComponentStatus is what status tells of a component.
type ComponentStatus struct {
	Name    string `json:"name"`
	PID     int    `json:"pid,omitempty"`
	State   State  `json:"state"`
	Healthy bool   `json:"healthy"`
	Usage
	Log string `json:"log"`
}

// Status is what status tells of a control plane.
type Status struct {
	*Plane
	Healthy    bool              `json:"healthy"`    // All components are.
	Kubernetes string            `json:"kubernetes"` // Version, empty if there is no answer.
	EtcdServer string            `json:"etcd_server"`
	Components []ComponentStatus `json:"components"`
}

// Status asks each component.
func (p *Plane) Status(ctx context.Context) Status {
	status := Status{Plane: p, Healthy: true}
	web, err := p.webClient()
	for _, component := range p.Components {
		process := p.process(component.Name)
		one := ComponentStatus{Name: component.Name, PID: process.PID, State: process.State(),
			Usage: process.Usage(), Log: p.LogFile(component.Name)}
		if one.State == Dead {
			one.PID = 0
		}
		one.Healthy = one.State == Running && err == nil &&
			(component.Health == "" || get(ctx, web, component.Health, nil) == nil)
		status.Healthy = status.Healthy && one.Healthy
		status.Components = append(status.Components, one)
	}
	if err == nil {
		status.Kubernetes = version(ctx, web, p.Server+"/version", "gitVersion")
		status.EtcdServer = version(ctx, web, p.Etcd+"/version", "etcdserver")
	}
	return status
}

// WaitHealthy returns when the components say that they are well, or with the end
// of the log of one that has ended or does not become well in time.
func (p *Plane) WaitHealthy(ctx context.Context, names ...string) error {
	web, err := p.webClient()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, name := range names {
		component, err := p.component(name)
		if err != nil {
			return err
		}
		if component.Health == "" {
			continue
		}
		for {
			answer := get(ctx, web, component.Health, nil)
			if answer == nil {
				break
			}
			if p.process(name).State() == Dead {
				return fmt.Errorf("%s has ended:\n%s", name, tail(p.LogFile(name)))
			}
			if !sleep(ctx, 20*time.Millisecond) {
				return fmt.Errorf("%s is not well: %w\n%s", name, answer, tail(p.LogFile(name)))
			}
		}
	}
	return nil
}

// waitServiceAccount waits for the service account that pods run as, without
// which the API server refuses them.
func (p *Plane) waitServiceAccount(ctx context.Context) error {
	api, err := client.New(p.Kubeconfig, "kubetestbed-up")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, err := api.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("no service account in the default namespace: %w\n%s", err,
				tail(p.LogFile(ControllerManager)))
		}
	}
}

// webClient trusts the servers of this control plane only.
func (p *Plane) webClient() (*http.Client, error) {
	text, err := os.ReadFile(p.Authority)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no certificate", p.Authority)
	}
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: pool},
			DisableKeepAlives: true,
		},
	}, nil
}

// get is an error unless the answer is 200, and of the form of into, if that is
// not nil.
func get(ctx context.Context, web *http.Client, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := web.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, response.Status, body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

func version(ctx context.Context, web *http.Client, url, field string) string {
	var fields map[string]any
	if get(ctx, web, url, &fields) != nil {
		return ""
	}
	text, _ := fields[field].(string)
	return text
}

func tail(path string) string {
	const lines = 20
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func sleep(ctx context.Context, duration time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(duration):
		return true
	}
}
