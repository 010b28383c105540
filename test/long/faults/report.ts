import type { Outcome } from './part.ts';

/** Counts only: nothing in it depends on the machine. Sections of a former report that were not made anew stay. */
export function renderReport(outcomes: readonly Outcome[], command: string, former = ''): string {
  const fresh = outcomes.map((outcome) => sectionOf(outcome, command).join('\n'));
  const old = former.split(/^(?=## )/m).slice(1);
  const titleOf = (section: string): string => section.split('\n')[0] ?? '';
  const made = new Map(fresh.map((section) => [titleOf(section), section]));
  const kept = old.map((section) => made.get(titleOf(section)) ?? section.trimEnd());
  const added = fresh.filter((section) => !old.some((one) => titleOf(one) === titleOf(section)));
  const intro = 'Made by `npm run test:long faults -- --report`; see [README.md](README.md).';
  return `${['# What survives faults', intro, ...kept, ...added].join('\n\n')}\n`;
}

function sectionOf({ part, rows, failures }: Outcome, command: string): string[] {
  const columns = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))];
  const held = failures.length === 0 ? 'Everything held.' : `${failures.length} things did not hold.`;
  return [
    `## ${part.title}`,
    '',
    part.about,
    '',
    `\`faults -- ${part.name} ${command}\`: ${held}`,
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
