/** Wide characters take two columns: East Asian scripts and most emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{M}|\u200d|\ufe0f/u.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Text broken into lines of so many columns; every line but the first is indented, since the first stands beside something. */
export function wrapped(text: string, columns: number, indent = 0): string {
  const room = Math.max(20, columns - indent - 1);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`);
}
