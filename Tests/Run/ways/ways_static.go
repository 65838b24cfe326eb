package main

import (
	"syscall"
	"time"
)

func abort() {
	syscall.Kill(syscall.Getpid(), syscall.SIGABRT)
	time.Sleep(time.Hour) // another thread may be the one that gets it
}

func fault() { nowhere.value = 1 }
