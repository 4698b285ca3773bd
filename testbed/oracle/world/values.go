package world

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Decode makes a value of JSON in which an object with one key that begins with a dollar says what JSON cannot.
func Decode(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	return value(decoded), nil
}

func value(decoded any) any {
	switch decoded := decoded.(type) {
	case json.Number:
		return number(decoded)
	case []any:
		list := make([]any, len(decoded))
		for i, item := range decoded {
			list[i] = value(item)
		}
		return list
	case map[string]any:
		for key, inner := range decoded {
			if len(decoded) == 1 && strings.HasPrefix(key, "$") {
				return tagged(key[1:], inner)
			}
		}
		object := make(map[string]any, len(decoded))
		for key, inner := range decoded {
			object[key] = value(inner)
		}
		return object
	}
	return decoded
}

func number(n json.Number) any {
	if whole, err := strconv.Atoi(n.String()); err == nil {
		return whole
	}
	float, _ := n.Float64()
	return float
}

func tagged(tag string, inner any) any {
	text := fmt.Sprint(inner)
	signed := func(bits int) int64 {
		n, _ := strconv.ParseInt(text, 10, bits)
		return n
	}
	unsigned := func(bits int) uint64 {
		n, _ := strconv.ParseUint(text, 10, bits)
		return n
	}
	switch tag {
	case "int8":
		return int8(signed(8))
	case "int16":
		return int16(signed(16))
	case "int32":
		return int32(signed(32))
	case "int64":
		return signed(64)
	case "uint":
		return uint(unsigned(64))
	case "uint8":
		return uint8(unsigned(8))
	case "uint16":
		return uint16(unsigned(16))
	case "uint32":
		return uint32(unsigned(32))
	case "uint64":
		return unsigned(64)
	case "float32":
		float, _ := strconv.ParseFloat(text, 32)
		return float32(float)
	case "float64":
		float, _ := strconv.ParseFloat(text, 64)
		return float
	case "bytes":
		decoded, _ := hex.DecodeString(text)
		return decoded
	case "raw":
		decoded, _ := hex.DecodeString(text)
		return string(decoded)
	case "nil":
		return map[string]any{
			"strings": []string(nil), "list": []any(nil), "map": map[string]any(nil), "stringmap": map[string]string(nil),
		}[text]
	case "host":
		return hosts()[text]
	case "func":
		return Functions(nil)[text]
	}
	return collection(tag, inner)
}

func collection(tag string, inner any) any {
	items, _ := inner.([]any)
	switch tag {
	case "strings":
		list := make([]string, len(items))
		for i, item := range items {
			list[i] = item.(string)
		}
		return list
	case "ints":
		list := make([]int, len(items))
		for i, item := range items {
			list[i] = value(item).(int)
		}
		return list
	case "lists":
		list := make([][]any, len(items))
		for i, item := range items {
			list[i] = value(item).([]any)
		}
		return list
	case "stringmap":
		object := map[string]string{}
		for key, item := range inner.(map[string]any) {
			object[key] = item.(string)
		}
		return object
	case "intmap":
		object := map[int]any{}
		for _, pair := range items {
			object[value(pair.([]any)[0]).(int)] = value(pair.([]any)[1])
		}
		return object
	case "anymap":
		object := map[any]any{}
		for _, pair := range items {
			object[value(pair.([]any)[0])] = value(pair.([]any)[1])
		}
		return object
	}
	return "no such tag: " + tag
}
