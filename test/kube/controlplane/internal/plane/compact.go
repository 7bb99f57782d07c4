package plane

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Compact makes etcd forget what was before a revision, or, if it is 0, before
// the newest one, which it returns. Revisions are Kubernetes' resourceVersions.
func (p *Plane) Compact(ctx context.Context, revision int64) (int64, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Etcd}, DialTimeout: 5 * time.Second})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if revision == 0 {
		answer, err := client.Get(ctx, "/")
		if err != nil {
			return 0, fmt.Errorf("etcd: %w", err)
		}
		revision = answer.Header.Revision
	}
	if _, err := client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		return 0, fmt.Errorf("etcd: %w", err)
	}
	return revision, nil
}
