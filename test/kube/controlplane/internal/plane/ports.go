package plane

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// portPicker finds ports on which nobody listens. They are below those that the
// system gives to outgoing connections: a component that is started again must
// find its port free.
type portPicker struct {
	low, high int // [low, high).
	taken     map[int]bool
}

func newPortPicker() *portPicker {
	const first, least = 10000, 1000
	picker := &portPicker{low: first, high: 32768, taken: map[int]bool{}}
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		var ephemeral int
		if _, err := fmt.Sscan(string(text), &ephemeral); err == nil && ephemeral >= first+least {
			picker.high = ephemeral
		}
	}
	return picker
}

func (p *portPicker) pick(count int) ([]int, error) {
	var ports []int
	for try := 0; try < 1000 && len(ports) < count; try++ {
		port := p.low + rand.IntN(p.high-p.low)
		if p.taken[port] {
			continue
		}
		p.taken[port] = true
		listener, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	if len(ports) < count {
		return nil, fmt.Errorf("no free port on %s from %d to %d", loopback, p.low, p.high-1)
	}
	return ports, nil
}
