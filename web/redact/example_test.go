package redact_test

import (
	"encoding/json"
	"fmt"

	"github.com/tekrar/tekrar/web/redact"
)

// Values are hidden by the name of their key, in any spelling, or by their path.
func ExampleNew() {
	rules, err := redact.New("api_key", "customer.iban")
	if err != nil {
		panic(err)
	}
	args := json.RawMessage(`{"invoice":42,"apiKey":"s3cret","customer":{"name":"Ada","iban":"TR33"}}`)
	fmt.Println(string(rules.JSON(args)))
	// Output: {"invoice":42,"apiKey":"•••","customer":{"name":"Ada","iban":"•••"}}
}
