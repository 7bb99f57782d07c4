// Package client makes clients of the API server that the API server alone
// throttles.
package client

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Config reads a kubeconfig file. The client's own limit of its rate is off.
func Config(kubeconfig, userAgent string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = userAgent
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config, nil
}

// New is a client with the credentials of a kubeconfig file.
func New(kubeconfig, userAgent string) (kubernetes.Interface, error) {
	config, err := Config(kubeconfig, userAgent)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}
