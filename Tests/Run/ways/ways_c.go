package main

/*
#include <stdlib.h>
static void write_nowhere(void) { *(volatile int *)0 = 1; }
*/
import "C"

func abort() { C.abort() }
func fault() { C.write_nowhere() }
