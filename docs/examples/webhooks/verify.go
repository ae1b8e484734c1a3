// A receiver of webhooks that verifies, answers and then works. Nothing has to be installed.
// WEBHOOK_SECRET=whsec_… PORT=4000 go run verify.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceSeconds = 300
const longestBody = 1024 * 1024

// verify tells whether one of the header's signatures was made with the secret, over these bytes, within 300 seconds of now.
func verify(header string, body []byte, secret string, now time.Time) bool {
	timestamp := ""
	var signatures [][]byte
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, signature)
			}
		}
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return false
	}
	age := now.Unix() - int64(seconds)
	if age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, signature := range signatures {
		if hmac.Equal(signature, expected) { // takes the same time wherever they differ
			return true
		}
	}
	return false
}

type delivery struct {
	Event string          `json:"event"`
	ID    int64           `json:"delivery_id"`
	Data  json.RawMessage `json:"data"`
}

// done holds the deliveries seen so far. A real receiver stores each in its database, by event_id, before it answers.
var done sync.Map

func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// As it came: parsing and serializing it again would change its bytes.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
		if err != nil || !verify(r.Header.Get("X-Service-Signature"), body, secret, time.Now()) {
			http.Error(w, "wrong signature", http.StatusBadRequest)
			return
		}
		var received delivery
		if err := json.Unmarshal(body, &received); err != nil {
			http.Error(w, "not JSON", http.StatusBadRequest)
			return
		}
		// The work comes after the answer: after 10 seconds without an answer the delivery counts as failed.
		w.WriteHeader(http.StatusNoContent)
		go func() {
			if _, known := done.LoadOrStore(received.ID, true); !known {
				fmt.Printf("delivery %d: %s %s\n", received.ID, received.Event, received.Data)
			}
		}()
	}
}

func main() {
	secret, port := os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	if port == "" {
		port = "4000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on port %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, receive(secret)))
}
