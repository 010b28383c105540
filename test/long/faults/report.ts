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
    `| what | ${columns.join(' | ')} |`,
    `| --- | ${columns.map(() => '---:').join(' | ')} |`,
    ...[...rows].map(([name, row]) => `| ${name} | ${columns.map((column) => row.get(column) ?? '').join(' | ')} |`),
    ...(failures.length > 0 ? ['', ...failures.map((failure) => `- did not hold: ${failure}`)] : []),
  ];
}
