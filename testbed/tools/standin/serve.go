package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What charts commonly probe, beside the ports their arguments name.
var common = []int{80, 443, 6080, 8000, 8080, 8081, 8082, 8083, 8443, 8888, 9090, 9091, 9094, 9402, 9403, 9443, 9898, 10250, 10254}

var numbers = regexp.MustCompile(`\d+`)

func ports(words []string) []int {
	all := slices.Clone(common)
	for _, number := range numbers.FindAllString(strings.Join(words, " "), -1) {
		if port, err := strconv.Atoi(number); err == nil && port > 0 && port < 65536 {
			all = append(all, port)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// serve answers on each port it can have. An unprivileged process may not have
// the low ones, and a number among the arguments need not be a port at all.
func serve(ports []int) {
	server := &http.Server{Handler: http.HandlerFunc(answer), Protocols: &http.Protocols{}, ReadHeaderTimeout: 10 * time.Second}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	secret := &tls.Config{Certificates: []tls.Certificate{certificate()}, NextProtos: []string{"h2", "http/1.1"}}
	for _, port := range ports {
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		go func() {
			if err := server.Serve(eitherListener{listener, secret}); !errors.Is(err, http.ErrServerClosed) {
				log.Print(err)
			}
		}()
	}
}

// answer says "ok" to whoever asks, and SERVING in the words of gRPC's health
// protocol to whoever asks in gRPC.
func answer(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		fmt.Fprintln(w, "ok")
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	// Not compressed, 2 bytes long, field 1 of HealthCheckResponse is SERVING.
	_, _ = w.Write([]byte{0, 0, 0, 0, 2, 0x08, 0x01})
	w.Header().Set("Grpc-Status", "0")
}

// eitherListener speaks TLS to those who begin with a TLS handshake.
type eitherListener struct {
	net.Listener
	secret *tls.Config
}

func (l eitherListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &eitherConn{Conn: conn, secret: l.secret}, nil
}

// eitherConn decides at the first read, so that a silent peer holds up nobody.
type eitherConn struct {
	net.Conn
	secret *tls.Config
	chosen net.Conn
}

func (c *eitherConn) Read(into []byte) (int, error) {
	if c.chosen == nil {
		reader := bufio.NewReader(c.Conn)
		first, err := reader.Peek(1)
		if err != nil {
			return 0, err
		}
		c.chosen = replayed{c.Conn, reader}
		if first[0] == 0x16 {
			c.chosen = tls.Server(c.chosen, c.secret)
		}
	}
	return c.chosen.Read(into)
}

func (c *eitherConn) Write(from []byte) (int, error) {
	if c.chosen == nil {
		return c.Conn.Write(from)
	}
	return c.chosen.Write(from)
}

type replayed struct {
	net.Conn
	reader *bufio.Reader
}

func (c replayed) Read(into []byte) (int, error) { return c.reader.Read(into) }

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"standin"}, NotAfter: time.Now().AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
