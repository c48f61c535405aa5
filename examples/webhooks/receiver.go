// A receiver of webhooks with the standard library: go run receiver.go, with the secret in ERGON_WEBHOOK_SECRET.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceSeconds = 300

type event struct {
	Event      string         `json:"event"`
	EventID    string         `json:"event_id"`
	OccurredAt time.Time      `json:"occurred_at"`
	Data       map[string]any `json:"data"`
}

// verify returns the event, or an error for a forged or an old delivery.
func verify(body []byte, header, secret string) (event, error) {
	var found event
	timestamp := ""
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > toleranceSeconds {
		return found, errors.New("the delivery is too old, or has no time")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := hex.EncodeToString(mac.Sum(nil))
	for _, signature := range signatures {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return found, json.Unmarshal(body, &found)
		}
	}
	return found, errors.New("no signature fits")
}

func main() {
	secret := os.Getenv("ERGON_WEBHOOK_SECRET")
	// Everyone can sign with an empty secret.
	if !strings.HasPrefix(secret, "whsec_") || secret == "whsec_" {
		log.Fatal("Set ERGON_WEBHOOK_SECRET to what `ergon webhook create` printed: whsec_…")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	// An event may arrive twice. A real receiver keeps the ids beside what it does, in one transaction.
	var handled sync.Map
	http.HandleFunc("/", func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, 1<<20))
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		found, err := verify(body, request.Header.Get("X-Svc-Signature"), secret)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		if _, isKnown := handled.LoadOrStore(found.EventID, true); !isKnown {
			fmt.Println(found.Event, found.EventID, found.Data)
		}
		// Within 15 s: do long work after the answer.
		writer.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
