package kubelet

import (
	"context"
	"encoding/json"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Nodes are asked more often than by a kubelet (10 s), so that tests of their
// failure are short.
const (
	heartbeatInterval    = 2 * time.Second
	leaseDurationSeconds = 10
)

func (k *Kubelet) heartbeat(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		nodes, err := k.nodes.List(labels.Everything())
		if err != nil {
			klog.ErrorS(err, "listing nodes")
		}
		workqueue.ParallelizeUntil(ctx, k.options.Workers, len(nodes), func(i int) {
			if silent(nodes[i]) {
				return
			}
			if err := k.beat(ctx, nodes[i]); err != nil && ctx.Err() == nil {
				klog.ErrorS(err, "heartbeat", "node", nodes[i].Name)
			}
		})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// beat renews a node's lease, and its conditions if others have doubted it.
func (k *Kubelet) beat(ctx context.Context, node *v1.Node) error {
	now := metav1.NowMicro()
	leases := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": now}})
	if err != nil {
		return err
	}
	_, err = leases.Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		seconds := int32(leaseDurationSeconds)
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name: node.Name,
				OwnerReferences: []metav1.OwnerReference{
					{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name,
				LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	return k.restore(ctx, node)
}

// restore says again that a node is ready, if it was taken for silent.
func (k *Kubelet) restore(ctx context.Context, node *v1.Node) error {
	next := node.DeepCopy()
	doubted := false
	for i := range next.Status.Conditions {
		one := &next.Status.Conditions[i]
		if one.Status != v1.ConditionUnknown {
			continue
		}
		doubted = true
		one.Status, one.Reason, one.Message = v1.ConditionFalse, "KubeletIsBack", ""
		if one.Type == v1.NodeReady {
			one.Status = v1.ConditionTrue
		}
		one.LastHeartbeatTime, one.LastTransitionTime = metav1.Now(), metav1.Now()
	}
	if !doubted {
		return nil
	}
	_, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return err
}
