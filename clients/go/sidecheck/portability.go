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

// PortableForm has what a portable definition lost, and the mapping that converts its calls back.
type PortableForm struct {
	// Mapping is what [ConversionClient.ConvertToolCall] needs. Calls are the params of a
	// tools/call.
	Mapping JSON
	// Losses are all differences from the definition, by location.
	Losses []Loss
	// Effect is the worst effect of the losses on the set of accepted calls.
	Effect Effect
	// Proof of the effect; nil unless [Portability.Prove] asked for it.
	Proof *PortabilityProof
}

// ProofOutcome is the relation of the calls that a portable form accepts to those of the original.
type ProofOutcome string

const (
	// ProofOutcomeEquivalent means that both provably accept the same calls.
	ProofOutcomeEquivalent ProofOutcome = "equivalent"
	// ProofOutcomeWider means that the form provably accepts every call of the original, and
	// possibly others.
	ProofOutcomeWider ProofOutcome = "wider"
	// ProofOutcomeUndecided means that neither a proof nor a counterexample was found.
	ProofOutcomeUndecided ProofOutcome = "undecided"
	// ProofOutcomeNarrower means that the original accepts a call that the form rejects.
	ProofOutcomeNarrower ProofOutcome = "narrower"
)

// PortabilityProof compares a portable form with its original, with the mapping applied.
type PortabilityProof struct {
	// Outcome of the comparison.
	Outcome ProofOutcome
	// Message says why the outcome is undecided or narrower. A form that is narrower although no
	// loss is [EffectNarrowed] is a defect of the server, which the message says.
	Message string
	// Witness has arguments that only the original accepts; nil if there are none.
	Witness *Witness
}

func (p *Portability) encode() *pb.Portability {
	if p == nil {
		return nil
	}
	return &pb.Portability{Targets: p.Targets, Prove: p.Prove}
}

func decodePortable(message *pb.PortableForm) (*PortableForm, error) {
	if message == nil {
		return nil, nil
	}
	if len(message.GetMapping()) == 0 {
		return nil, missingField(message, "mapping")
	}
	form := &PortableForm{
		Mapping: message.GetMapping(),
		Losses:  decodeLosses(message.GetLosses()),
		Effect:  decodeWord[Effect](message.GetEffect(), "EFFECT_"),
	}
	if proof := message.GetProof(); proof != nil {
		form.Proof = &PortabilityProof{
			Outcome: decodeWord[ProofOutcome](proof.GetOutcome(), "OUTCOME_"),
			Message: proof.GetMessage(),
			Witness: decodeOptional(proof.GetWitness(), decodeWitness),
		}
	}
	return form, nil
}
