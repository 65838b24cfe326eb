//! Real work, a line with its result, a line with the process, and a death of the given way.
use std::{io::Write, process, ptr, thread, time::Duration};

fn overflow(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 128]);
    overflow(depth + 1) + room[(depth % 128) as usize]
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    let parts = (0..4).map(|part| thread::spawn(move || (0..250_000u64).map(|i| (i * 4 + part) % 7).sum::<u64>()));
    let sum: u64 = parts.collect::<Vec<_>>().into_iter().map(|part| part.join().unwrap()).sum();
    println!("sum {}\n{}", sum, process::id());
    std::io::stdout().flush().unwrap();
    match way.as_str() {
        "fault" => unsafe { ptr::null_mut::<u32>().write_volatile(1) },
        "overflow" => println!("{}", overflow(0)),
        "panic" => panic!("on request"),
        "abort" => process::abort(),
        "memory" => {
            let mut kept = Vec::new();
            loop {
                kept.push(std::hint::black_box(vec![1u8; 1 << 20]));
            }
        }
        _ => loop {
            thread::park()
        },
    }
}
