package sidechecktest

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

// Process is a real server in a process of its own.
type Process struct {
	// Address of the server.
	Address string

	command *exec.Cmd
	logged  chan struct{}
}

// Start starts a real server at address with further flags, which ends with the test at the latest.
// It skips the test as [Load] does.
func Start(t testing.TB, address string, flags ...string) *Process {
	t.Helper()
	serve := Load(t).Serve
	arguments := append(slices.Clone(serve[1:]), "--listen", address, "--log-format", "json")
	arguments = append(arguments, flags...)
	process := &Process{command: exec.Command(serve[0], arguments...), logged: make(chan struct{})}
	log, err := process.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(process.logged)
		defer close(ready)
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			var line struct {
				Event     string
				Addresses []string
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Event == "server.ready" {
				ready <- line.Addresses[0]
				break
			}
		}
		// It ends with the process.
		_, _ = io.Copy(io.Discard, log)
	}()
	t.Cleanup(process.Kill)
	if process.Address = <-ready; process.Address == "" {
		t.Fatalf("the server at %s ended before it was ready", address)
	}
	return process
}

// Pause stops the process, so that it answers nothing.
func (p *Process) Pause(t testing.TB) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the process at once. Further calls do nothing.
func (p *Process) Kill() {
	// It may have ended, and the error of Wait is that it was killed.
	_ = p.command.Process.Kill()
	<-p.logged
	_ = p.command.Wait()
}
