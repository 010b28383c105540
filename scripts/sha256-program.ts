/**
 * The compression of SHA-256 as a WebAssembly module, instruction by instruction. Memory holds the 64 constants, the 64 words
 * of the expanded message, the 8 words of the hash, and from 576 on the message itself.
 */
export function sha256Program(): number[] {
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    // A function of two numbers, a page of memory, and both under their names.
    ...section(1, [1, 0x60, 2, I32, I32, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('mix'), 0, 0]),
    ...section(10, [1, ...sized([1, LOCALS, I32, ...eachBlock(), END])]),
    ...section(11, [1, 0, ...number(0), END, ...sized(constants())]),
  ];
}

type Code = readonly number[];

const I32 = 0x7f;
const END = 0x0b;
/** Where things lie in memory. */
const [CONSTANTS, WORDS, HASH] = [0, 256, 512];
const variable = (index: number): Code => [0x20, index];
/** The arguments, and the variables after them. */
const [from, blocks] = [variable(0), variable(1)];
const [at, one, two] = [variable(2), variable(3), variable(4)];
const [a, b, c, d] = [variable(5), variable(6), variable(7), variable(8)];
const [e, f, g, h] = [variable(9), variable(10), variable(11), variable(12)];
const LOCALS = 11;
const state = [a, b, c, d, e, f, g, h];

function eachBlock(): Code {
  return repeat(
    [
      ...put(at, number(0)),
      ...repeat([...readWord(), ...put(at, add(at, number(4)))], below(at, 64)),
      ...repeat([...expandWord(), ...put(at, add(at, number(4)))], below(at, 256)),
      ...state.flatMap((word, index) => put(word, load(number(0), HASH + 4 * index))),
      ...put(at, number(0)),
      ...repeat([...round(), ...put(at, add(at, number(4)))], below(at, 256)),
      ...state.flatMap((word, index) =>
        store(number(0), add(load(number(0), HASH + 4 * index), word), HASH + 4 * index),
      ),
      ...put(from, add(from, number(64))),
      ...put(blocks, add(blocks, number(-1))),
    ],
    blocks,
  );
}

/** The message has the highest byte of a word first, memory the lowest. */
function readWord(): Code {
  const turned = or(and(rotateLeft(one, number(8)), number(0x00ff00ff)), and(rotate(one, 8), number(0xff00ff00)));
  return [...put(one, load(add(from, at), 0)), ...store(at, turned, WORDS)];
}

function expandWord(): Code {
  const early = xor(rotate(one, 7), rotate(one, 18), shift(one, 3));
  const late = xor(rotate(two, 17), rotate(two, 19), shift(two, 10));
  return [
    ...put(one, load(at, WORDS - 15 * 4)),
    ...put(two, load(at, WORDS - 2 * 4)),
    ...store(at, add(load(at, WORDS - 16 * 4), early, load(at, WORDS - 7 * 4), late), WORDS),
  ];
}

function round(): Code {
  const chosen = xor(and(e, f), and(xor(e, number(-1)), g));
  const most = xor(and(a, b), and(a, c), and(b, c));
  const mixedE = xor(rotate(e, 6), rotate(e, 11), rotate(e, 25));
  const mixedA = xor(rotate(a, 2), rotate(a, 13), rotate(a, 22));
  return [
    ...put(one, add(h, mixedE, chosen, load(at, CONSTANTS), load(at, WORDS))),
    ...put(two, add(mixedA, most)),
    ...[...put(h, g), ...put(g, f), ...put(f, e), ...put(e, add(d, one))],
    ...[...put(d, c), ...put(c, b), ...put(b, a), ...put(a, add(one, two))],
  ];
}

/** The first 32 bits of the fractions of the cube roots of the first primes. */
function constants(): Code {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes.flatMap((prime) => {
    const word = Math.floor((Math.cbrt(prime) % 1) * 2 ** 32);
    return [0, 8, 16, 24].map((bits) => (word >>> bits) & 0xff);
  });
}

const joined =
  (instruction: number) =>
  (first: Code, ...others: Code[]): Code => [...first, ...others.flatMap((next) => [...next, instruction])];
const add = joined(0x6a);
const and = joined(0x71);
const or = joined(0x72);
const xor = joined(0x73);
const rotateLeft = joined(0x77);
const rotate = (word: Code, bits: number): Code => [...word, ...number(bits), 0x78];
const shift = (word: Code, bits: number): Code => [...word, ...number(bits), 0x76];
const below = (value: Code, limit: number): Code => [...value, ...number(limit), 0x49];
const load = (place: Code, offset: number): Code => [...place, 0x28, 2, ...unsigned(offset)];
const store = (place: Code, value: Code, offset: number): Code => [...place, ...value, 0x36, 2, ...unsigned(offset)];
const put = (variable: Code, value: Code): Code => [...value, 0x21, ...variable.slice(1)];
const repeat = (body: Code, whether: Code): Code => [0x03, 0x40, ...body, ...whether, 0x0d, 0, END];
const number = (value: number): Code => [0x41, ...signed(value | 0)];

const section = (id: number, content: Code): Code => [id, ...sized(content)];
const sized = (content: Code): Code => [...unsigned(content.length), ...content];
const name = (text: string): Code => sized([...text].map((character) => character.charCodeAt(0)));

/** Seven bits a byte, the lowest first. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
