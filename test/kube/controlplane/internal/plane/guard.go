package plane

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Guard ends the control plane when its owner has ended, however it ended. It
// returns earlier if the control plane is ended by someone else.
func Guard(ctx context.Context, dir string, owner int) error {
	process, err := FindProcess(owner)
	for err == nil && process.State() != Dead {
		if _, gone := os.Stat(filepath.Join(dir, stateFile)); gone != nil {
			return nil
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
	plane, err := Open(dir)
	if err != nil {
		return nil //nolint:nilerr // It has ended in the meantime.
	}
	return plane.Down()
}
