// Real work, a line with its result, a line with the process, and a death of the given way.
const { Worker } = require("node:worker_threads");
const zlib = require("node:zlib");
const fs = require("node:fs");

// A function that reads 65536 bytes beyond the one page of its memory.
const module_ = new WebAssembly.Module(new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
  7, 5, 1, 1, 0x66, 0, 0, 10, 11, 1, 9, 0, 0x41, 0x80, 0x80, 8, 0x28, 2, 0, 0x0b]));

function recover(times) {
  const read = new WebAssembly.Instance(module_).exports.f;
  let count = 0;
  for (let i = 0; i < times; i++) {
    try { read(); } catch (error) { count += error instanceof WebAssembly.RuntimeError; }
  }
  return count;
}

function die(way, library) {
  switch (way) {
  case "fault": process.dlopen({ exports: {} }, library); break;
  case "abort": process.abort(); break;
  case "memory": for (const kept = []; ;) kept.push(Buffer.alloc(1 << 20, 1));
  case "recover": {
    recover(1000);
    const begun = process.hrtime.bigint(), count = recover(20000);
    fs.writeSync(1, `${count} ${process.hrtime.bigint() - begun}\n`);
    break;
  }
  default: setTimeout(() => {}, 3600000);
  }
}

const packed = zlib.gzipSync(Buffer.alloc(1 << 20, "work"));
new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true }).once("message", (answer) => {
  fs.writeSync(1, `sum ${zlib.gunzipSync(packed).length + answer}\n${process.pid}\n`);
  setTimeout(() => die(process.argv[2], process.argv[3]), 100);
});
