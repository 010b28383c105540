import fc from 'fast-check';

/** What another tool or a person does to a text, line by line or word by word. */
export const foreignEdits: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.nat().map((at) => byLine(at, () => [])),
  fc.nat().map((at) => byLine(at, (line) => [line, line])),
  fc
    .tuple(fc.nat(), fc.constantFrom('pending', 'completed', 'complete', 'true', 'null', '3', 'Some other words'))
    .map(([at, word]) => byLine(at, (line) => [line.replace(/(:\s*"?)[^",]+("?,?\s*)$/, `$1${word}$2`)])),
  fc.nat().map((at) => (text: string) => {
    const lines = text.split('\n');
    const index = at % Math.max(1, lines.length - 1);
    [lines[index], lines[index + 1]] = [lines[index + 1] ?? '', lines[index] ?? ''];
    return lines.join('\n');
  }),
  fc.constant((text: string) => text.replaceAll('\n', '\r\n').replaceAll('\r\r', '\r')),
  // The same time in another spelling, entries in another order, a key or section that no row has.
  fc.constant((text: string) => text.replace(/(\d\d:\d\d:\d\d)Z/g, '$1.000Z')),
  fc.tuple(fc.nat(), fc.nat()).map(([from, to]) => moved(from, to)),
  fc.nat().map((at) => byLine(at, (line) => (/^\s*"/.test(line) ? ['  "custom": {"a": [1]},', line] : [line]))),
  fc.constant((text: string) => (text.startsWith('{') ? text : `${text}\n## Our own section\n\nKept.\n`)),
);

/** Moves a line to another place. */
function moved(from: number, to: number): (text: string) => string {
  return (text) => {
    const lines = text.split('\n');
    const [line = ''] = lines.splice(from % lines.length, 1);
    lines.splice(to % (lines.length + 1), 0, line);
    return lines.join('\n');
  };
}

export const lineDeletions: fc.Arbitrary<(text: string) => string> = fc.nat().map((at) => byLine(at, () => []));

function byLine(at: number, change: (line: string) => string[]): (text: string) => string {
  return (text) => {
    const lines = text.split('\n');
    const index = at % lines.length;
    lines.splice(index, 1, ...change(lines[index] ?? ''));
    return lines.join('\n');
  };
}
