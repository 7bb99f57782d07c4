// Package kubelet takes pods through the phases of their life, for all nodes at
// once and without containers. What it writes, and when, is what a kubelet does;
// annotations (lifecycle.go) say how the containers of a pod behave.
package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Silent, with the value "true" on a node, is an annotation that stops the kubelet
// there: nothing becomes of its pods, and its lease is not renewed.
const Silent = "testbed.muster.dev/silent"

// Options of a kubelet.
type Options struct {
	Delays    Delays
	Workers   int  // Requests at a time.
	Heartbeat bool // Whether the leases of nodes are renewed.
}

// Kubelet is one for all nodes.
type Kubelet struct {
	client  kubernetes.Interface
	options Options
	pods    corelisters.PodLister
	index   cache.Indexer // Of pods, by node.
	nodes   corelisters.NodeLister
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]

	mutex  sync.Mutex
	memory map[cache.ObjectName]*memory
}

// memory of one pod, which one worker at a time uses.
type memory struct {
	uid             types.UID
	seen            Seen
	written         string // The resource version of our last write.
	removed         bool
	admitted, ended bool            // Between the two it uses the node. Under Kubelet.mutex.
	given           v1.ResourceList // So much of it. Under Kubelet.mutex.
}

// New makes a kubelet that does nothing yet.
func New(client kubernetes.Interface, options Options) *Kubelet {
	return &Kubelet{
		client:  client,
		options: options,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](50*time.Millisecond, 5*time.Second)),
		memory: map[cache.ObjectName]*memory{},
	}
}

// Run works until ctx ends; it calls started when it knows all pods and nodes.
func (k *Kubelet) Run(ctx context.Context, started func()) error {
	bound := informers.NewSharedInformerFactoryWithOptions(k.client, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
		}))
	all := informers.NewSharedInformerFactory(k.client, 0)
	pods, nodes := bound.Core().V1().Pods(), all.Core().V1().Nodes()
	k.pods, k.nodes = pods.Lister(), nodes.Lister()
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), nodes.Informer()} {
		if err := informer.SetTransform(strip); err != nil {
			return err
		}
	}
	if err := pods.Informer().AddIndexers(cache.Indexers{nodeIndex: byNode}); err != nil {
		return err
	}
	k.index = pods.Informer().GetIndexer()
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.enqueue,
		UpdateFunc: func(_, pod any) { k.enqueue(pod) },
		DeleteFunc: k.enqueue,
	}); err != nil {
		return err
	}
	if _, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(node any) { k.enqueueNode(node.(*v1.Node).Name) },
		UpdateFunc: func(before, after any) {
			if silent(before.(*v1.Node)) && !silent(after.(*v1.Node)) {
				k.enqueueNode(after.(*v1.Node).Name)
			}
		},
	}); err != nil {
		return err
	}
	bound.Start(ctx.Done())
	all.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced, nodes.Informer().HasSynced) {
		return ctx.Err()
	}
	started()
	if k.options.Heartbeat {
		go k.heartbeat(ctx)
	}
	for range k.options.Workers {
		go k.work(ctx)
	}
	<-ctx.Done()
	k.queue.ShutDown()
	return nil
}

// strip leaves out of the cache what no step looks at.
func strip(object any) (any, error) {
	if meta, ok := object.(metav1.Object); ok {
		meta.SetManagedFields(nil)
	}
	return object, nil
}

func silent(node *v1.Node) bool { return node.Annotations[Silent] == "true" }

func (k *Kubelet) enqueue(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		k.queue.Add(name)
	}
}

// enqueueNode looks at each pod of a node again.
func (k *Kubelet) enqueueNode(node string) {
	pods, err := k.index.ByIndex(nodeIndex, node)
	if err != nil {
		klog.ErrorS(err, "index of pods") // It has no such index.
	}
	for _, pod := range pods {
		k.enqueue(pod)
	}
}

func (k *Kubelet) work(ctx context.Context) {
	for {
		name, quit := k.queue.Get()
		if quit {
			return
		}
		if again, err := k.sync(ctx, name); err != nil {
			klog.ErrorS(err, "pod", "name", name)
			k.queue.AddRateLimited(name)
		} else {
			k.queue.Forget(name)
			if again > 0 {
				k.queue.AddAfter(name, again)
			}
		}
		k.queue.Done(name)
	}
}

// sync takes the step of a pod that is due, or returns when the next one will be.
func (k *Kubelet) sync(ctx context.Context, name cache.ObjectName) (time.Duration, error) {
	pod, err := k.pods.Pods(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		k.mutex.Lock()
		delete(k.memory, name)
		k.mutex.Unlock()
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	node, err := k.nodes.Get(pod.Spec.NodeName)
	if err != nil || silent(node) {
		return 0, nil //nolint:nilerr // Without a node there is no kubelet.
	}
	now := time.Now()
	memory := k.remember(name, pod, now)
	if memory.removed || older(pod.ResourceVersion, memory.written) {
		return 0, nil
	}
	if !memory.admitted && pod.Status.Phase == v1.PodPending && pod.DeletionTimestamp == nil {
		if reason, message, err := k.admit(node, pod, memory); reason != "" || err != nil {
			return 0, errors.Join(err, k.refuse(ctx, pod, memory, reason, message, now))
		}
	}
	step, due, exitCode, err := Next(pod, memory.seen, k.options.Delays)
	if err != nil {
		return 0, k.refuse(ctx, pod, memory, "InvalidAnnotation", err.Error(), now)
	}
	if step == None || due.After(now) {
		again, err := k.resize(ctx, node, pod, memory, now)
		if wait := due.Sub(now); wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
		return again, err
	}
	if step == Remove {
		return 0, k.remove(ctx, pod, memory)
	}
	next := pod.DeepCopy()
	apply(next, step, exitCode, now)
	if err := k.write(ctx, pod, next, memory); err != nil {
		return 0, err
	}
	switch step {
	case Start:
		memory.seen.Started, memory.seen.Restarting = now, time.Time{}
	case Restart:
		memory.seen.Restarting = now
	}
	return 0, nil
}

// remember is the memory of a pod; what this kubelet has not seen itself is taken
// from the pod's status.
func (k *Kubelet) remember(name cache.ObjectName, pod *v1.Pod, now time.Time) *memory {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	one := k.memory[name]
	if one == nil || one.uid != pod.UID {
		one = &memory{uid: pod.UID, seen: Seen{Bound: now, Started: now},
			admitted: pod.Status.Phase == v1.PodRunning, given: requests(given(pod))}
		if started := startedAt(&pod.Status); started != nil {
			one.seen.Started = started.Time
		} else if pod.Status.Phase == v1.PodRunning {
			one.seen.Restarting = now
		}
		k.memory[name] = one
	}
	if pod.DeletionTimestamp != nil && one.seen.Deleted.IsZero() {
		one.seen.Deleted = now
	}
	return one
}

// older says whether what the informer has is from before our own write.
func older(version, written string) bool {
	if written == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, written)
	return err == nil && order < 0
}

// refuse fails a pod that the node does not run.
func (k *Kubelet) refuse(ctx context.Context, pod *v1.Pod, memory *memory, reason, message string, now time.Time) error {
	next := pod.DeepCopy()
	apply(next, Stop, exitKilled, now)
	next.Status.Reason, next.Status.Message = reason, message
	return k.write(ctx, pod, next, memory)
}

// write patches the status, as a kubelet does: other writers' fields stay, and a
// pod of the same name that was made since is not touched. Containers have ended
// before anyone is told so, who may bind another pod to their room at once.
func (k *Kubelet) write(ctx context.Context, before, after *v1.Pod, memory *memory) error {
	old, err := json.Marshal(v1.Pod{Status: before.Status})
	if err != nil {
		return err
	}
	changed, err := json.Marshal(v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: before.UID}, Status: after.Status})
	if err != nil {
		return err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(old, changed, v1.Pod{})
	if err != nil {
		return err
	}
	k.mutex.Lock()
	memory.ended = after.Status.Phase != v1.PodRunning
	k.mutex.Unlock()
	written, err := k.client.CoreV1().Pods(before.Namespace).Patch(ctx, before.Name,
		types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // It is another pod's name now, or nobody's.
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	memory.written = written.ResourceVersion
	return nil
}

// remove lets the object go: a pod that is deleted on a node stays until its
// kubelet says so.
func (k *Kubelet) remove(ctx context.Context, pod *v1.Pod, memory *memory) error {
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("removing: %w", err)
	}
	memory.removed = true
	return nil
}
