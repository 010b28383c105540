import { Fault, quoted } from './fault.ts';

/** Names that would pass for a person, for Holdfast itself or for everyone. */
const reserved = [
  'maintainer',
  'admin',
  'administrator',
  'root',
  'system',
  'owner',
  'person',
  'human',
  'user',
  'operator',
  'holdfast',
  'file',
  'import',
  'hook',
  'unknown',
  'all',
  'everyone',
];

/** Refuses a name for a new agent that is reserved, looks like the name of a person, or mixes scripts. */
export function mustBeAgentName(name: string, people: readonly string[] = []): void {
  const problem = agentNameProblem(name, people);
  if (problem === null) return;
  throw new Fault('invalid', `An agent cannot be called ${quoted(name)}: ${problem}.`, {
    hints: ['Choose another name with `--agent` or `HOLDFAST_AGENT`, such as `reviewer`.'],
    data: { agent: name },
  });
}

export function agentNameProblem(name: string, people: readonly string[] = []): string | null {
  if (isMixed(name)) return 'it mixes letters of several scripts';
  const looks = skeletonOf(name);
  if (reserved.some((one) => skeletonOf(one) === looks)) return 'the name is reserved';
  if (people.some((one) => skeletonOf(one) === looks)) return 'it looks like the name of a person';
  return null;
}

/** Whether a name looks like one of these, such as the names of the agents' clients. */
export function looksLikeOneOf(name: string, others: readonly string[]): boolean {
  const looks = skeletonOf(name);
  return others.some((one) => skeletonOf(one) === looks);
}

/**
 * What a name looks like: two names with the same skeleton can be taken for each other. Case, accents, marks and compatible
 * forms of a letter do not tell names apart, nor do letters and digits of the same shape.
 */
export function skeletonOf(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase().normalize('NFD');
  let skeleton = '';
  for (const character of plain) {
    if (character <= '\u007f') skeleton += /[a-z\d@]/.test(character) ? character : '';
    else if (!/\p{M}/u.test(character)) skeleton += lookAlikes.get(character) ?? character;
  }
  return skeleton.replaceAll('rn', 'm').replaceAll('vv', 'w').replace(/[1l|]/g, 'i').replaceAll('0', 'o');
}

/** Letters of other scripts by the Latin letter of the same shape, in lower case. */
const lookAlikes = new Map(
  Object.entries({
    a: 'аɑα',
    b: 'ьƅв',
    c: 'сϲⅽ',
    d: 'ԁɗ',
    e: 'еєҽε',
    f: 'ƒ',
    g: 'ɡց',
    h: 'һհн',
    i: 'іıιӏƖ',
    j: 'јϳ',
    k: 'кκ',
    l: 'ⅼ',
    m: 'мⅿ',
    n: 'ոηпп',
    o: 'оοօσ০०',
    p: 'рρ',
    q: 'ԛգ',
    r: 'гя',
    s: 'ѕʂ',
    t: 'тτ',
    u: 'υսц',
    v: 'ѵν',
    w: 'ԝωѡш',
    x: 'хχ',
    y: 'уγүʏ',
    z: 'ʐ',
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

/** Japanese and Korean are written in several scripts, which count as one. */
const scripts = [
  'Latin',
  'Greek',
  'Cyrillic',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Tamil',
  'Thai',
  'Georgian',
  'Ethiopic',
  'Cherokee',
].map((name) => `\\p{Script=${name}}`);
const eastAsian = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}';

function isMixed(name: string): boolean {
  // Unicode classes take long to build, and most names need none.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (/^[\u0000-\u007f]*$/.test(name)) return false;
  const letters = [...name.normalize('NFKC')].filter((one) => /\p{L}/u.test(one)).join('');
  const found = [...scripts, eastAsian].filter((one) => new RegExp(`[${one}]`, 'u').test(letters));
  const isElse = new RegExp(`[^${scripts.join('')}${eastAsian}\\p{Script=Common}\\p{Script=Inherited}]`, 'u').test(
    letters,
  );
  return found.length + (isElse ? 1 : 0) > 1;
}
