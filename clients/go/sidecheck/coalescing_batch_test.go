package sidecheck

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

func TestBatchHasTheDefaultsThatAllCallsHave(t *testing.T) {
	here, there := &pb.Target{Target: &pb.Target_SchemaDigest{SchemaDigest: "here"}},
		&pb.Target{Target: &pb.Target_SchemaDigest{SchemaDigest: "there"}}
	hidden := &pb.ValidationOptions{HideValues: true}
	for name, requests := range map[string][2]*pb.ValidateRequest{
		"alike":         {{Target: here, Options: hidden}, {Target: proto.CloneOf(here), Options: proto.CloneOf(hidden)}},
		"no options":    {{Target: here}, {Target: here}},
		"other target":  {{Target: here, Options: hidden}, {Target: there, Options: hidden}},
		"some options":  {{Target: here, Options: hidden}, {Target: here}},
		"first without": {{Target: here}, {Target: here, Options: hidden}},
	} {
		batch := sharedBatch([]*waitingCall{{request: requests[0]}, {request: requests[1]}})
		isTarget := proto.Equal(requests[0].GetTarget(), requests[1].GetTarget())
		isOptions := requests[0].GetOptions() != nil &&
			proto.Equal(requests[0].GetOptions(), requests[1].GetOptions())
		if (batch.GetTarget() != nil) != isTarget || (batch.GetOptions() != nil) != isOptions {
			t.Errorf("%s: got %v", name, batch)
		}
		// What is not a default is with the items.
		for index, item := range batch.GetItems() {
			effective := &pb.ValidateRequest{Target: item.GetTarget(), Options: item.GetOptions()}
			if effective.Target == nil {
				effective.Target = batch.GetTarget()
			}
			if effective.Options == nil {
				effective.Options = batch.GetOptions()
			}
			if !proto.Equal(effective, requests[index]) {
				t.Errorf("%s: item %d has %v", name, index, effective)
			}
		}
	}
}
