package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"muster/kubetestbed/internal/client"
	"muster/kubetestbed/internal/nodes"
	"muster/kubetestbed/internal/plane"
)

func newNodesCommand() *cobra.Command {
	var machines nodes.Config
	var taints []string
	command := onPlane(&cobra.Command{
		Use:   "nodes",
		Short: "Make nodes that are ready",
		Args:  cobra.NoArgs,
	}, func(ctx context.Context, opened *plane.Plane, _ []string) error {
		for _, text := range taints {
			taint, err := parseTaint(text)
			if err != nil {
				return err
			}
			machines.Taints = append(machines.Taints, taint)
		}
		api, err := client.New(opened.Kubeconfig, "kubetestbed-nodes")
		if err != nil {
			return err
		}
		return nodes.Create(ctx, api, machines)
	})
	addNodeFlags(command, &machines, "count", 1)
	flags := command.Flags()
	flags.IntVar(&machines.First, "first", 0, "number of the first")
	flags.StringArrayVar(&taints, "taint", nil, "KEY=VALUE:EFFECT")
	return command
}

func addNodeFlags(command *cobra.Command, machines *nodes.Config, count string, fallback int) {
	flags := command.Flags()
	flags.IntVar(&machines.Count, count, fallback, "how many nodes")
	flags.StringVar(&machines.Prefix, "prefix", "node-", "of their names, before the number")
	flags.StringVar(&machines.CPU, "cpu", "64", "cores of a node")
	flags.StringVar(&machines.Memory, "memory", "512Gi", "of a node")
	flags.IntVar(&machines.Pods, "pods", 110, "that a node can have")
	flags.IntVar(&machines.GPUs, "gpus", 8, "of a node")
	flags.StringVar(&machines.GPUResource, "gpu-resource", "nvidia.com/gpu", "their name as a resource")
	flags.StringVar(&machines.GPUProduct, "gpu-product", "NVIDIA-H100-80GB-HBM3", "their label nvidia.com/gpu.product")
	flags.IntVar(&machines.NodesPerRack, "nodes-per-rack", 16, "label "+nodes.RackLabel+"; 0 for none")
	flags.IntVar(&machines.RacksPerBlock, "racks-per-block", 8, "label "+nodes.BlockLabel+"; 0 for none")
	flags.IntVar(&machines.BlocksPerZone, "blocks-per-zone", 4, "label "+v1.LabelTopologyZone+"; 0 for none")
	flags.StringToStringVar(&machines.Labels, "label", nil, "KEY=VALUE, further labels")
	flags.StringToStringVar(&machines.Extended, "resource", nil, "NAME=QUANTITY, further resources")
}

func parseTaint(text string) (v1.Taint, error) {
	pair, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	taint := v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)}
	switch taint.Effect {
	case v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute:
	default:
		ok = false
	}
	if !ok || key == "" {
		return taint, fmt.Errorf("--taint %q: KEY=VALUE:NoSchedule, PreferNoSchedule or NoExecute", text)
	}
	return taint, nil
}
