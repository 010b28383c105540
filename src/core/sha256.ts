import { sha256Code } from './sha256-code.ts';

/**
 * SHA-256 of a text, in hexadecimal. Each command hashes a few short texts, and a hook a file, in a cold process. There,
 * loading the platform's own implementation takes five times as long as this one, and so does uncompiled JavaScript.
 */
export function sha256(text: string): string {
  return sha256OfBytes(bytesOf(text));
}

/** Most texts are short and ASCII; Node loads its encoder at the first use of it. */
function bytesOf(text: string): Uint8Array {
  if (text.length > SHORT_CHARS) return new TextEncoder().encode(text);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127) return new TextEncoder().encode(text);
    bytes[index] = code;
  }
  return bytes;
}

const SHORT_CHARS = 1024;

export function sha256OfBytes(bytes: Uint8Array): string {
  machine ??= start();
  const { memory, hash, mix } = machine;
  hash.set(INITIAL);
  let done = 0;
  for (; bytes.length - done >= ROOM_BYTES; done += ROOM_BYTES) {
    memory.set(bytes.subarray(done, done + ROOM_BYTES), ROOM);
    mix(ROOM, ROOM_BYTES / BLOCK_BYTES);
  }
  // What is left, a one bit, zeros, and the length in bits in the last eight bytes.
  const rest = bytes.subarray(done);
  const blocks = ((rest.length + 8) >> 6) + 1;
  const end = ROOM + blocks * BLOCK_BYTES;
  memory.fill(0, ROOM + rest.length, end);
  memory.set(rest, ROOM);
  memory[ROOM + rest.length] = 0x80;
  for (let at = end - 1, bits = bytes.length * 8; bits > 0; at--, bits = Math.floor(bits / 256))
    memory[at] = bits % 256;
  mix(ROOM, blocks);
  let digits = '';
  for (const word of hash) digits += word.toString(16).padStart(8, '0');
  return digits;
}

interface Machine {
  memory: Uint8Array;
  /** The eight words of the hash. */
  hash: Uint32Array;
  /** Mixes a number of blocks into the hash. */
  mix(from: number, blocks: number): void;
}

let machine: Machine | undefined;

/** Only what is used here: TypeScript declares WebAssembly for browsers only. */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

function start(): Machine {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(sha256Code)));
  const { memory, mix } = exports as { memory: { buffer: ArrayBuffer }; mix: Machine['mix'] };
  return { memory: new Uint8Array(memory.buffer), hash: new Uint32Array(memory.buffer, HASH, 8), mix };
}

/** Offsets in memory: the constants and the expanded message come first. */
const HASH = 512;
const ROOM = 576;
const BLOCK_BYTES = 64;
const ROOM_BYTES = 1000 * BLOCK_BYTES;
/** The first 32 bits of the fractions of the square roots of the first primes. */
const INITIAL = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
