package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
)

// newAuthority is one that has been saved and loaded again.
func newAuthority(t *testing.T) *Authority {
	t.Helper()
	dir := t.TempDir()
	authority, err := NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Save(dir); err != nil {
		t.Fatal(err)
	}
	if authority, err = Load(dir); err != nil {
		t.Fatal(err)
	}
	return authority
}

func TestCertificatesAreOfTheirAuthority(t *testing.T) {
	authority := newAuthority(t)
	server, err := authority.Server("kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	client, err := authority.Client("alice", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		pair  *Pair
		usage x509.ExtKeyUsage
		host  string
		trust *Authority
		valid bool
	}{
		{server, x509.ExtKeyUsageServerAuth, "127.0.0.1", authority, true},
		{server, x509.ExtKeyUsageServerAuth, "kubernetes", authority, true},
		{server, x509.ExtKeyUsageServerAuth, "example.com", authority, false},
		{server, x509.ExtKeyUsageClientAuth, "", authority, false},
		{client, x509.ExtKeyUsageClientAuth, "", authority, true},
		{client, x509.ExtKeyUsageServerAuth, "", authority, false},
		{client, x509.ExtKeyUsageClientAuth, "", newAuthority(t), false},
	} {
		pair, err := tls.X509KeyPair(test.pair.Certificate, test.pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(test.trust.Certificate)
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.host,
			KeyUsages: []x509.ExtKeyUsage{test.usage}})
		if (err == nil) != test.valid {
			t.Errorf("%s for %q as %d: %v", pair.Leaf.Subject, test.host, test.usage, err)
		}
	}
}

func TestKeysCanBeReadByTheirOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service-account.key")
	if err := SaveServiceAccountKey(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if block, _ := pem.Decode(text); block == nil || block.Type != "EC PRIVATE KEY" {
		t.Errorf("not SEC1: %s", text)
	}
}
