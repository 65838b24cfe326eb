package main

import (
	"runtime"
	"syscall"
)

func abort() {
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(syscall.Gettid()), uintptr(syscall.SIGABRT))
}

func fault() { nowhere.value = 1 }
