/**
 * SHA-256 of a text, in hexadecimal. Written out because each command of the command line hashes two short texts in a
 * cold process: loading the platform's own takes six times as long as this, and the packages that have it twice as long.
 */
export function sha256(text: string): string {
  return sha256OfBytes(encoder.encode(text));
}

/** The same of bytes, for a file that is short. */
export function sha256OfBytes(bytes: Uint8Array): string {
  // The message, a one bit, zeros, and the length in bits in the last of the 64-byte blocks.
  const words = new Int32Array((((bytes.length + 8) >> 6) + 1) * 16);
  for (let index = 0; index < bytes.length; index++) {
    words[index >> 2] = (words[index >> 2] as number) | ((bytes[index] as number) << (24 - (index & 3) * 8));
  }
  const end = bytes.length;
  words[end >> 2] = (words[end >> 2] as number) | (0x80 << (24 - (end & 3) * 8));
  words[words.length - 2] = end / 0x20000000;
  words[words.length - 1] = end << 3;
  const hash = Int32Array.from(initial);
  const schedule = new Int32Array(64);
  for (let offset = 0; offset < words.length; offset += 16) mixBlock(hash, words, offset, schedule);
  let digits = '';
  for (const word of hash) digits += (word >>> 0).toString(16).padStart(8, '0');
  return digits;
}

const encoder = new TextEncoder();

/** Rotations are written out: in a cold process a call costs more than what it does. */
function mixBlock(hash: Int32Array, words: Int32Array, offset: number, schedule: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = hash as unknown as EightWords;
  for (let round = 0; round < 64; round++) {
    let word: number;
    if (round < 16) word = words[offset + round] as number;
    else {
      const early = schedule[round - 15] as number;
      const late = schedule[round - 2] as number;
      word =
        (schedule[round - 16] as number) +
        (((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3)) +
        (schedule[round - 7] as number) +
        (((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10));
    }
    schedule[round] = word;
    const one =
      h +
      (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))) +
      ((e & f) ^ (~e & g)) +
      (constants[round] as number) +
      (schedule[round] as number);
    const two =
      (((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  const mixed = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index++) hash[index] = (hash[index] as number) + (mixed[index] as number);
}

type EightWords = [number, number, number, number, number, number, number, number];

/** The first 32 bits of the fractions of the roots of the first primes, as the standard has them. */
const initial = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
// biome-ignore format: a table
const constants = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
