import type { Outcome, Part } from './part.ts';

/** Counts only, so that nothing depends on the machine. Sections of parts that were not run stay as they are. */
export function renderReport(
  parts: readonly Part[],
  outcomes: readonly Outcome[],
  command: string,
  former = '',
): string {
  const kept = former.split(/^(?=## )/m).slice(1);
  const sections = parts.flatMap((part) => {
    const fresh = outcomes.find((outcome) => outcome.part === part);
    if (fresh) return [sectionOf(fresh, command).join('\n')];
    return kept.filter((section) => section.startsWith(`## ${part.title}\n`)).map((section) => section.trimEnd());
  });
  const intro = 'Made by `npm run test:long faults -- --report`; see [README.md](README.md).';
  return `${['# What survives faults', intro, ...sections].join('\n\n')}\n`;
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

/** Padded as the formatter does. */
function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const lines = rows.map((row) =>
    lineOf(row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))),
  );
  const rule = lineOf(widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)));
  return [lines[0] ?? '', rule, ...lines.slice(1)];
}
