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
    words[index >> 2] = at(words, index >> 2) | ((bytes[index] as number) << (24 - (index & 3) * 8));
  }
  const end = bytes.length;
  words[end >> 2] = at(words, end >> 2) | (0x80 << (24 - (end & 3) * 8));
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

function mixBlock(hash: Int32Array, words: Int32Array, offset: number, schedule: Int32Array): void {
  let a = at(hash, 0);
  let b = at(hash, 1);
  let c = at(hash, 2);
  let d = at(hash, 3);
  let e = at(hash, 4);
  let f = at(hash, 5);
  let g = at(hash, 6);
  let h = at(hash, 7);
  for (let round = 0; round < 64; round++) {
    const word = round < 16 ? at(words, offset + round) : expanded(schedule, round);
    schedule[round] = word;
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + at(constants, round) + word) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  hash[0] = at(hash, 0) + a;
  hash[1] = at(hash, 1) + b;
  hash[2] = at(hash, 2) + c;
  hash[3] = at(hash, 3) + d;
  hash[4] = at(hash, 4) + e;
  hash[5] = at(hash, 5) + f;
  hash[6] = at(hash, 6) + g;
  hash[7] = at(hash, 7) + h;
}

function expanded(schedule: Int32Array, round: number): number {
  const early = at(schedule, round - 15);
  const late = at(schedule, round - 2);
  const mixedEarly = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
  const mixedLate = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
  return (mixedEarly + at(schedule, round - 7) + mixedLate + at(schedule, round - 16)) | 0;
}

const turn = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));
const at = (words: Int32Array, index: number): number => words[index] as number;

/** The first 32 bits of the fractions of the roots of the first primes, as the standard defines them. */
const initial = new Int32Array(8);
const constants = new Int32Array(64);
for (let candidate = 2, count = 0; count < 64; candidate++) {
  let isPrime = true;
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) isPrime &&= candidate % divisor !== 0;
  if (!isPrime) continue;
  if (count < 8) initial[count] = (Math.sqrt(candidate) % 1) * 0x1_0000_0000;
  constants[count++] = (Math.cbrt(candidate) % 1) * 0x1_0000_0000;
}
