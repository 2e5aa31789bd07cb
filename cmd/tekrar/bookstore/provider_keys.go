package bookstore

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const maxKeyLength = 255

// readKey takes a key in its raw form or as an RFC 8941 string; both are one key.
func readKey(headers []string) (string, error) {
	switch {
	case len(headers) == 0:
		return "", nil
	case len(headers) > 1:
		return "", errors.New("Idempotency-Key: came more than once")
	}
	key, err := unquote(headers[0])
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", errors.New("Idempotency-Key: is empty")
	case len(key) > maxKeyLength:
		return "", fmt.Errorf("Idempotency-Key: has %d bytes, must be at most %d", len(key), maxKeyLength)
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return "", fmt.Errorf("Idempotency-Key: byte %d is not printable ASCII", i)
		}
	}
	return key, nil
}

func unquote(value string) (string, error) {
	inner, quoted := strings.CutPrefix(value, `"`)
	if !quoted {
		return value, nil
	}
	var key strings.Builder
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '"' && i == len(inner)-1:
			return key.String(), nil
		case c == '\\' && i+1 < len(inner) && (inner[i+1] == '"' || inner[i+1] == '\\'):
			i++
			key.WriteByte(inner[i])
		case c == '"' || c == '\\':
			return "", errors.New("Idempotency-Key: is no structured-field string")
		default:
			key.WriteByte(c)
		}
	}
	return "", errors.New("Idempotency-Key: the closing quote is missing")
}

// known gives the reservation of a key that is not yet forgotten. The caller holds
// the lock.
func (p *Provider) known(key string, life time.Duration) *reservation {
	if life <= 0 {
		life = defaultKeyLife
	}
	r := p.keys[key]
	// A running request is never forgotten: its answer is still to come.
	if r != nil && r.done && p.now().Sub(r.at) >= life {
		p.forget(key)
		return nil
	}
	return r
}

// Find tells what became of a key that is not yet forgotten.
func (p *Provider) find(key string) (reservation, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.known(key, p.switches.KeyLife); r != nil {
		return *r, true
	}
	return reservation{}, false
}

func (p *Provider) reserve(key string, fingerprint [32]byte) *reservation {
	r := &reservation{at: p.now(), fingerprint: fingerprint}
	p.keys[key] = r
	if p.keyOrder = append(p.keyOrder, key); len(p.keyOrder) > maxKeys {
		p.forget(p.keyOrder[0])
	}
	return r
}

func (p *Provider) forget(key string) {
	delete(p.keys, key)
	for i, k := range p.keyOrder {
		if k == key {
			p.keyOrder = append(p.keyOrder[:i], p.keyOrder[i+1:]...)
			return
		}
	}
}
