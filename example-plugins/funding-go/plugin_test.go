package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"latchwork"
	"latchwork/latchtest"
)

func given(t *testing.T) (latchtest.Host, Input) {
	cv, err := os.ReadFile("../funding-outreach/data/cv.md")
	if err != nil {
		t.Fatal(err)
	}
	host := latchtest.Host{Tools: map[string]func(json.RawMessage) (any, error){
		"File.Read": func(json.RawMessage) (any, error) {
			return map[string]string{"text": string(cv), "sha256": "AB"}, nil
		},
	}}
	professor := Professor{
		Name:      "Prof. Dr. Ingrid Solheim",
		Interests: []string{"snowmelt modelling", "medieval music"},
		Summary:   []string{"We combine field measurements with snowmelt models."},
	}
	return host, Input{professor, Source{"/data/cv.md", "ab"}}
}

func TestOverlapsComeWithEvidenceOfBothSides(t *testing.T) {
	host, in := given(t)
	var made Alignment
	if err := host.Run("Alignment.Build", in, &made); err != nil {
		t.Fatal(err)
	}
	if made.Applicant.Name != "Mira Castellan" || len(made.Overlaps) != 1 || made.Gaps[0] != "medieval music" {
		t.Fatalf("%+v", made)
	}
	first := made.Overlaps[0]
	if !strings.HasPrefix(first.ApplicantEvidence, "Built a snowmelt model") || *first.ProfessorEvidence != in.Professor.Summary[0] {
		t.Errorf("%+v", first)
	}
}

func TestAChangedCVIsRefused(t *testing.T) {
	host, in := given(t)
	in.CV.SHA256 = "cd"
	var failure *latchwork.Failure
	err := host.Run("Alignment.Build", in, nil)
	if !errors.As(err, &failure) || failure.Code != latchwork.InvalidInput {
		t.Errorf("%v", err)
	}
}
