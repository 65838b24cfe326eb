// Real work, a line with its result, a line with the process, and a death of the given way.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

type place struct{ value int }

var nowhere *place

func recovers() (came bool) {
	defer func() { came = recover() != nil }()
	return nowhere.value == 1
}

func main() {
	var work sync.WaitGroup
	sums := make(chan int, 8)
	for part := 0; part < 8; part++ {
		work.Add(1)
		go func(part int) {
			defer work.Done()
			sum := 0
			for i := 0; i < 100000; i++ {
				sum += (i*8 + part) % 7
			}
			sums <- sum
		}(part)
	}
	work.Wait()
	sum := 0
	for part := 0; part < 8; part++ {
		sum += <-sums
	}
	fmt.Printf("sum %d\n%d\n", sum, os.Getpid())
	switch os.Args[1] {
	case "fault":
		nowhere.value = 1
	case "abort":
		abort()
	case "foreign":
		fault()
	case "stop":
		came := make(chan os.Signal, 1)
		signal.Notify(came, syscall.SIGTERM)
		fmt.Println(<-came)
	case "memory":
		for kept := [][]byte{}; ; {
			room := make([]byte, 1<<20)
			for i := range room {
				room[i] = 1
			}
			kept = append(kept, room)
		}
	case "recover":
		count, begun := 0, time.Now()
		for i := 0; i < 20000; i++ {
			if recovers() {
				count++
			}
		}
		fmt.Println(count, time.Since(begun).Nanoseconds())
	default:
		time.Sleep(time.Hour)
	}
}
