package command

import (
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"

	"muster/kubetestbed/internal/plane"
)

func TestParseUser(t *testing.T) {
	for text, want := range map[string]plane.User{
		"alice":                     {Name: "alice"},
		"alice:a,b":                 {Name: "alice", Groups: []string{"a", "b"}},
		"system:kube-scheduler":     {Name: "system:kube-scheduler"},
		"system:x:system:masters,y": {Name: "system:x", Groups: []string{"system:masters", "y"}},
	} {
		if got := parseUser(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, not %+v", text, got, want)
		}
	}
}

func TestParseTaint(t *testing.T) {
	got, err := parseTaint("a=b:NoExecute")
	if want := (v1.Taint{Key: "a", Value: "b", Effect: v1.TaintEffectNoExecute}); err != nil || got != want {
		t.Errorf("%+v (%v), not %+v", got, err, want)
	}
	if got, err = parseTaint("a:NoSchedule"); err != nil || got.Key != "a" || got.Value != "" {
		t.Errorf("%+v (%v)", got, err)
	}
	for _, text := range []string{"", "a=b", "a=b:Never", "=b:NoSchedule"} {
		if _, err := parseTaint(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestParseArguments(t *testing.T) {
	var config plane.Config
	if err := parseArguments(&config, []string{"etcd=--a=1", "etcd=--b", "kubelet=--c"}); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"etcd": {"--a=1", "--b"}, "kubelet": {"--c"}}
	if !reflect.DeepEqual(config.Arguments, want) {
		t.Errorf("%v, not %v", config.Arguments, want)
	}
	if err := parseArguments(&config, []string{"etcd"}); err == nil {
		t.Error("an argument without a value is taken")
	}
}
