package world

import (
	"crypto/sha256"
	"encoding/binary"
)

// Stream is bytes that look random and are always the same: SHA-256 of the seed and a counter, both as 8 bytes with the
// lowest first, block after block.
type Stream struct {
	Seed, counter uint64
	rest          []byte
}

func (s *Stream) Read(into []byte) (int, error) {
	for i := range into {
		if len(s.rest) == 0 {
			block := binary.LittleEndian.AppendUint64(nil, s.Seed)
			sum := sha256.Sum256(binary.LittleEndian.AppendUint64(block, s.counter))
			s.rest, s.counter = sum[:], s.counter+1
		}
		into[i], s.rest = s.rest[0], s.rest[1:]
	}
	return len(into), nil
}
