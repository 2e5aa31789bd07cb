//go:build !linux && !darwin

package bench

import (
	"context"
	"errors"
	"io"
)

// Chaos needs signals that this system does not have.
func Chaos(context.Context, ChaosSettings, io.Writer) error {
	return errors.New("the chaos run freezes and kills processes by signals: it runs on Linux and macOS only")
}
