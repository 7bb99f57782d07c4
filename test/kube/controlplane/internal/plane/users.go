package plane

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"muster/kubetestbed/internal/pki"
)

// AddUser writes a kubeconfig file, whose path it returns, for a user and groups
// that need not be known before; the certificate and its key lie beside it. Access
// is what roles say, none without one.
func (p *Plane) AddUser(user User) (string, error) {
	authority, err := pki.Load(filepath.Join(p.Dir, "pki"))
	if err != nil {
		return "", err
	}
	return p.addUser(authority, user)
}

func (p *Plane) addUser(authority *pki.Authority, user User) (string, error) {
	name := strings.TrimPrefix(user.Name, "system:")
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return "", fmt.Errorf("user %q: a name, without a slash", user.Name)
	}
	pair, err := authority.Client(user.Name, user.Groups...)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(p.Dir, "users")
	if err := pair.Save(dir, name); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".kubeconfig")
	return path, p.writeKubeconfig(authority, user, pair, path)
}

func (p *Plane) writeKubeconfig(authority *pki.Authority, user User, pair *pki.Pair, path string) error {
	config := api.NewConfig()
	config.Clusters["testbed"] = &api.Cluster{
		Server:                   p.Server,
		CertificateAuthorityData: authority.CertificatePEM(),
	}
	config.AuthInfos[user.Name] = &api.AuthInfo{
		ClientCertificateData: pair.Certificate,
		ClientKeyData:         pair.Key,
	}
	config.Contexts["testbed"] = &api.Context{Cluster: "testbed", AuthInfo: user.Name}
	config.CurrentContext = "testbed"
	return clientcmd.WriteToFile(*config, path)
}
