// Package pki makes the keys and certificates of a control plane that lives for
// one test. Nothing here is fit for a cluster that others can reach.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const lifetime = 30 * 24 * time.Hour

// Authority signs the certificates of one control plane.
type Authority struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes a self-signed authority.
func NewAuthority(name string) (*Authority, error) {
	template := newTemplate(name)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate, key}, err
}

// Load reads what Save wrote.
func Load(dir string) (*Authority, error) {
	block, err := readPEM(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(block)
	if err != nil {
		return nil, err
	}
	if block, err = readPEM(filepath.Join(dir, "ca.key")); err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(block)
	return &Authority{certificate, key}, err
}

// Save writes ca.crt and ca.key into dir.
func (a *Authority) Save(dir string) error {
	pair, err := newPair(a.Certificate.Raw, a.key)
	if err != nil {
		return err
	}
	return pair.Save(dir, "ca")
}

// CertificatePEM is what clients verify servers with.
func (a *Authority) CertificatePEM() []byte { return encode("CERTIFICATE", a.Certificate.Raw) }

// Server makes the certificate of a server on the loopback interface.
func (a *Authority) Server(names ...string) (*Pair, error) {
	template := newTemplate("kube-apiserver")
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = append([]string{"localhost"}, names...)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	return a.sign(template)
}

// Client makes the certificate of a user; Kubernetes takes the common name as
// the user's and the organisations as its groups.
func (a *Authority) Client(user string, groups ...string) (*Pair, error) {
	template := newTemplate(user)
	template.Subject.Organization = groups
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

func (a *Authority) sign(template *x509.Certificate) (*Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return newPair(der, key)
}

// Pair is a certificate and its key, both as PEM.
type Pair struct{ Certificate, Key []byte }

// Save writes name.crt and name.key into dir, which only their owner can read.
func (p *Pair) Save(dir, name string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, name+".crt"), p.Certificate, 0o600),
		os.WriteFile(filepath.Join(dir, name+".key"), p.Key, 0o600))
}

// SaveServiceAccountKey writes a new key for service account tokens. It is of the
// SEC1 form: the API server refuses elliptic curves in PKCS#8.
func SaveServiceAccountKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, encode("EC PRIVATE KEY", der), 0o600)
}

func newPair(certificate []byte, key *ecdsa.PrivateKey) (*Pair, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &Pair{encode("CERTIFICATE", certificate), encode("EC PRIVATE KEY", der)}, nil
}

func newTemplate(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // The system has no random numbers.
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(lifetime),
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func readPEM(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: not PEM", path)
	}
	return block.Bytes, nil
}
