package latchwork

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Schema is a JSON Schema.
type Schema = json.RawMessage

var (
	rawMessage    = reflect.TypeFor[json.RawMessage]()
	timeOf        = reflect.TypeFor[time.Time]()
	numberOf      = reflect.TypeFor[json.Number]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

type object = map[string]any

// schemaOf returns the schema of the JSON that encoding/json makes of a type. Every field is required, except pointers
// and fields with omitempty or omitzero. Types with their own JSON encoding accept any value.
func schemaOf(t reflect.Type, above []reflect.Type) object {
	for _, seen := range above {
		if seen == t { // A recursive type.
			return object{}
		}
	}
	above = append(above, t)
	switch {
	case t == timeOf:
		return object{"type": "string", "format": "date-time"}
	case t == numberOf:
		return object{"type": "number"}
	case t == rawMessage, t.Implements(marshaler), reflect.PointerTo(t).Implements(marshaler):
		return object{}
	case t.Implements(textMarshaler), reflect.PointerTo(t).Implements(textMarshaler):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Slice:
		// A slice may be null, because encoding/json writes a nil slice as null.
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": []string{"string", "null"}}
		}
		return object{"type": []string{"array", "null"}, "items": schemaOf(t.Elem(), above)}
	case reflect.Array:
		return object{"type": "array", "items": schemaOf(t.Elem(), above), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": schemaOf(t.Elem(), above)}
	case reflect.Pointer:
		return object{"anyOf": []any{schemaOf(t.Elem(), above), object{"type": "null"}}}
	case reflect.Struct:
		properties, required := object{}, []string{}
		fields(t, above, properties, &required)
		return object{"type": "object", "properties": properties, "required": required}
	}
	return object{}
}

func fields(t reflect.Type, above []reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		embedded := field.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if field.Anonymous && name == "" && embedded.Kind() == reflect.Struct {
			fields(embedded, above, properties, required)
			continue
		}
		if !field.IsExported() || tag == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		schema := schemaOf(field.Type, above)
		if strings.Contains(options, "string") {
			schema = object{"type": "string"}
		}
		properties[name] = schema
		if !strings.Contains(options, "omit") && field.Type.Kind() != reflect.Pointer {
			*required = append(*required, name)
		}
	}
}

func schemaText[T any](given Schema) string {
	if given != nil {
		return string(given)
	}
	text, err := json.Marshal(schemaOf(reflect.TypeFor[T](), nil))
	if err != nil {
		return "{}"
	}
	return string(text)
}
