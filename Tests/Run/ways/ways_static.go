package main

import "syscall"

func abort() { syscall.Kill(syscall.Getpid(), syscall.SIGABRT) }
func fault() { nowhere.value = 1 }
