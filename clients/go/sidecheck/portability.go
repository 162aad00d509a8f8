package sidecheck

import (
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Portability are the options of a portable form: a definition that model APIs and clients accept
// as it is.
type Portability struct {
	// Targets are the model APIs and clients that must accept the definition, named as for
	// sidecheck check --for, for example openai or claude-code. Empty means all but openai-strict.
	Targets []string
	// Prove asks for a proof that the form accepts every call that the original accepts.
	Prove bool
}

func (p *Portability) encode() *pb.Portability {
	if p == nil {
		return nil
	}
	return &pb.Portability{Targets: p.Targets, Prove: p.Prove}
}
