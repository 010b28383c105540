import type { Outcome } from './part.ts';

/** Counts only: nothing in it depends on the machine. */
export function renderReport(outcomes: readonly Outcome[], words: string): string {
  const failures = outcomes.reduce((sum, outcome) => sum + outcome.failures.length, 0);
  return [
    '# What survives faults',
    '',
    `Made by \`npm run test:long faults -- ${words}\`; see [README.md](README.md). ${
      failures === 0 ? 'Everything held.' : `${failures} things did not hold.`
    }`,
    ...outcomes.flatMap(sectionOf),
    '',
  ].join('\n');
}

function sectionOf({ part, rows, failures }: Outcome): string[] {
  const columns = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))];
  return [
    '',
    `## ${part.title}`,
    '',
    part.about,
    '',
    ...tableOf([
      ['what', ...columns],
      ...[...rows].map(([name, row]) => [name, ...columns.map((column) => String(row.get(column) ?? ''))]),
    ]),
    ...(failures.length > 0 ? ['', ...failures.map((failure) => `- did not hold: ${failure}`)] : []),
  ];
}

/** Aligned as the formatter wants it. */
function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const lines = rows.map((row) =>
    lineOf(row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))),
  );
  const rule = lineOf(widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)));
  return [lines[0] ?? '', rule, ...lines.slice(1)];
}
