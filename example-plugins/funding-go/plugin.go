// Command funding-alignment finds what an applicant and a professor have in common, with evidence.
package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"latchwork"
)

// Minimum fraction of an interest's terms that a text must contain. With fewer terms, the interest does not
// count as shared.
const shared = 0.5

type Source struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

type Professor struct {
	Name         string   `json:"name"`
	Interests    []string `json:"interests"`
	Summary      []string `json:"summary"`
	Publications []struct {
		Title string `json:"title"`
	} `json:"publications"`
}

type Input struct {
	Professor Professor `json:"professor"`
	CV        Source    `json:"cv"`
}

type Applicant struct {
	Name     string `json:"name"`
	Headline string `json:"headline"`
}

type Overlap struct {
	Interest          string  `json:"interest"`
	ProfessorEvidence *string `json:"professor_evidence"`
	ApplicantEvidence string  `json:"applicant_evidence"`
	Strength          int     `json:"strength"`
}

type Alignment struct {
	Applicant Applicant `json:"applicant"`
	Score     int       `json:"score"`
	Overlaps  []Overlap `json:"overlaps"`
	Gaps      []string  `json:"gaps"`
}

func init() {
	latchwork.Step("Alignment.Build", latchwork.Spec{
		Description:   "Says what a CV and a professor's interests have in common, with evidence.",
		Effects:       []latchwork.Effect{latchwork.ReadOnly, latchwork.ProduceOutcome},
		OutcomeType:   "Professor.Alignment",
		OutcomeStatus: "final",
	}, build)
}

func build(_ latchwork.Context, in Input) (Alignment, error) {
	file, err := latchwork.Call[struct{ Text, SHA256 string }]("File.Read", map[string]string{"path": in.CV.Path})
	if err != nil {
		return Alignment{}, err
	}
	if !strings.EqualFold(file.SHA256, in.CV.SHA256) {
		return Alignment{}, latchwork.Fail(latchwork.InvalidInput,
			"%s was changed: its SHA-256 is %s, not %s", in.CV.Path, file.SHA256, in.CV.SHA256)
	}
	return align(in.Professor, file.Text)
}

func align(professor Professor, cv string) (Alignment, error) {
	applicant, statements, err := readCV(cv)
	if err != nil {
		return Alignment{}, err
	}
	if len(professor.Interests) == 0 {
		return Alignment{}, latchwork.Fail(latchwork.MissingRequiredContext, "the page of %s names no interests", professor.Name)
	}
	made := Alignment{Applicant: applicant, Overlaps: []Overlap{}, Gaps: []string{}}
	covered := 0.0
	for _, interest := range professor.Interests {
		statement, part := best(interest, statements)
		covered += part
		if part < shared {
			made.Gaps = append(made.Gaps, interest)
			continue
		}
		made.Overlaps = append(made.Overlaps, Overlap{interest, evidence(professor, interest), statement, percent(part)})
	}
	slices.SortStableFunc(made.Overlaps, func(a, b Overlap) int { return cmp.Compare(b.Strength, a.Strength) })
	made.Score = percent(covered / float64(len(professor.Interests)))
	return made, nil
}

// readCV returns name and headline of the applicant, and the statements of the CV.
func readCV(cv string) (applicant Applicant, statements []string, err error) {
	for line := range strings.Lines(cv) {
		said := strings.TrimLeft(strings.TrimSpace(line), "-*+")
		said = strings.TrimSpace(strings.NewReplacer("**", "", "`", "").Replace(said))
		heading, isHeading := strings.CutPrefix(said, "#")
		switch {
		case said == "":
		case isHeading:
			applicant.Name = cmp.Or(applicant.Name, strings.TrimSpace(strings.TrimLeft(heading, "#")))
		case applicant.Headline == "" && applicant.Name != "":
			applicant.Headline = said
		case strings.HasPrefix(line, "  ") && len(statements) > 0:
			statements[len(statements)-1] += " " + said
		default:
			statements = append(statements, said)
		}
	}
	if applicant.Name == "" {
		err = latchwork.Fail(latchwork.InvalidInput, "the CV does not begin with a heading with the name of the applicant")
	}
	return applicant, statements, err
}

// best returns the text with the largest share of the phrase's terms, and that share. If several texts have
// an equal share, best returns the first of them.
func best(phrase string, texts []string) (found string, most float64) {
	wanted := terms(phrase)
	for _, text := range texts {
		words, both := terms(text), 0.0
		for word := range wanted {
			if words[word] {
				both++
			}
		}
		if part := both / max(float64(len(wanted)), 1); part > most {
			found, most = text, part
		}
	}
	return found, most
}

// terms returns the stems of the words with more than three letters.
func terms(text string) map[string]bool {
	made := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		if len(word) <= 3 {
			continue
		}
		for _, ending := range []string{"ling", "ing", "ed", "es", "s"} {
			if stem, ends := strings.CutSuffix(word, ending); ends {
				word = stem
				break
			}
		}
		made[word[:min(len(word), 6)]] = true
	}
	return made
}

// evidence returns the professor's text about an interest: the title of a paper, or else a sentence of the
// page.
func evidence(professor Professor, interest string) *string {
	titles := []string{}
	for _, publication := range professor.Publications {
		titles = append(titles, publication.Title)
	}
	found, part := best(interest, titles)
	if part < shared {
		found, _ = best(interest, professor.Summary)
	}
	if found == "" {
		return nil
	}
	return &found
}

func percent(part float64) int { return int(math.Round(part * 100)) }

// main is empty: the host calls the operators.
func main() {}
