import { expect, it } from 'vitest';
import { openProgressBar } from './progress.ts';

function drawing(columns: number) {
  let text = '';
  let time = 1000;
  const bar = openProgressBar(
    (more) => {
      text += more;
    },
    () => time,
    columns,
  );
  const after = (ms: number, done: number, at = 'a/STATE.md'): string => {
    text = '';
    time += ms;
    bar.update({ doing: 'Reading', done, total: 4, at });
    return text;
  };
  return { bar, after, shown: () => text };
}

it('shows nothing for a short command', () => {
  const { bar, after, shown } = drawing(80);
  expect(after(10, 1) + after(100, 4)).toBe('');
  bar.clear();
  expect(shown()).toBe('');
});

it('overwrites one line, not more often than it can be read, and clears it at the end', () => {
  const { bar, after, shown } = drawing(80);
  expect(after(300, 1)).toBe(`\r\u001b[KReading ${'█'.repeat(5)}${'░'.repeat(15)} 1 of 4 a/STATE.md`);
  expect(after(10, 2)).toBe('');
  expect(after(100, 4)).toBe(`\r\u001b[KReading ${'█'.repeat(20)} 4 of 4 a/STATE.md`);
  bar.clear();
  expect(shown().endsWith('\r\u001b[K')).toBe(true);
});

it('fits the terminal, and no file name reaches it as an escape sequence', () => {
  const { after } = drawing(60);
  const line = after(300, 1, `\u001b]0;x\u0007${'deep/'.repeat(40)}`).replace('\r\u001b[K', '');
  expect(line.length).toBeLessThan(60);
  expect(line).not.toContain('\u001b');
  expect(drawing(20).after(300, 1).length).toBeLessThan(25);
});
