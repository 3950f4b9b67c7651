package latchwork

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"strconv"
	"strings"
)

// JSON conversion without silent loss. Most readers round integers of 2^53 or more. Output with such an integer is
// rejected. Input with such an integer is rejected if its Go type contains a float or the type any, however deep.

const largest = 1 << 53

func encode(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("is not JSON: %w", err)
	}
	made := strings.TrimSuffix(text.String(), "\n")
	err := integers(made, func(path, digits string) error {
		if n, ok := new(big.Int).SetString(digits, 10); ok && n.CmpAbs(big.NewInt(largest)) >= 0 {
			return fmt.Errorf("is not JSON: %s is %s: integers of 2^53 or more lose precision in other languages; use a string", path, digits)
		}
		return nil
	})
	return made, err
}

func decode(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return err
	}
	if !rounds(reflect.TypeOf(into), nil) {
		return nil
	}
	return integers(text, func(path, digits string) error {
		n, ok := new(big.Int).SetString(digits, 10)
		if ok && n.CmpAbs(big.NewInt(largest)) >= 0 {
			return fmt.Errorf("%s is the integer %s, which a float64 would round: use an integer type or json.Number", path, digits)
		}
		return nil
	})
}

// rounds returns true if the type contains, at any depth, a type that stores JSON numbers as float64.
func rounds(t reflect.Type, above []reflect.Type) bool {
	for _, seen := range above {
		if seen == t {
			return false
		}
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return rounds(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			if rounds(t.Field(i).Type, above) {
				return true
			}
		}
	}
	return false
}

// integers calls the function show for every integer in a JSON text, with the path and the digits of the integer.
// A text without a run of 16 digits is skipped.
func integers(text string, show func(path, digits string) error) error {
	if !sixteenDigits(text) {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var walk func(path string) error
	walk = func(path string) error {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case json.Number:
			if strings.ContainsAny(token.String(), ".eE") {
				return nil
			}
			if path == "" {
				path = "the value"
			}
			return show(path, token.String())
		case json.Delim:
			for i := 0; decoder.More(); i++ {
				key := strconv.Itoa(i)
				if token == '{' {
					name, err := decoder.Token()
					if err != nil {
						return err
					}
					key = fmt.Sprint(name)
				}
				if err := walk(path + "/" + key); err != nil {
					return err
				}
			}
			_, err := decoder.Token()
			return err
		}
		return nil
	}
	if err := walk(""); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// sixteenDigits returns true if the text has a run of at least 16 digits. Shorter integers are always exact.
func sixteenDigits(text string) bool {
	run := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			run = 0
		} else if run++; run == 16 {
			return true
		}
	}
	return false
}

func quoted(text string) string {
	made, _ := json.Marshal(clean(text))
	return string(made)
}
