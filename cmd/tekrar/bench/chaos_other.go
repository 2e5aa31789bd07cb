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

// Soak needs signals as well.
func Soak(context.Context, string, string, io.Reader, io.Writer) error {
	return errors.New("the soak ends processes by signals: it runs on Linux and macOS only")
}
