import type { Engine } from '../engine/engine.ts';
import type { Within } from '../store/journal.ts';

/** Counts what this process answered, for `/metrics`. */
export interface RequestCounts {
  count(status: number, ms: number): void;
  lines(): string[];
}

export function createRequestCounts(): RequestCounts {
  const byClass = new Map<string, number>();
  let seconds = 0;
  return {
    count(status, ms) {
      const name = `${Math.floor(status / 100)}xx`;
      byClass.set(name, (byClass.get(name) ?? 0) + 1);
      seconds += ms / 1000;
    },
    lines: () => [
      ...metric(
        'holdfast_http_requests_total',
        'counter',
        'Requests that this process answered, by class of status.',
        [...byClass].sort().map(([name, count]) => [`{status="${name}"}`, count]),
      ),
      ...metric('holdfast_http_request_seconds_total', 'counter', 'Time spent on them.', [['', seconds]]),
    ],
  };
}

/** The numbers of what the caller reaches, in the text format of Prometheus. No recorded text is in it. */
export async function renderMetrics(
  engine: Engine,
  within: Within,
  version: string,
  own: RequestCounts,
): Promise<string> {
  const heads = await engine.heads(within);
  const facts = heads.flatMap(({ position }) => position.facts ?? []);
  const runs = new Map<string, number>();
  for (const { status } of heads) runs.set(status, (runs.get(status) ?? 0) + 1);
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const lines = [
    ...metric('holdfast_info', 'gauge', 'The version of the server.', [[`{version="${label(version)}"}`, 1]]),
    ...metric(
      'holdfast_runs',
      'gauge',
      'Runs by recorded status.',
      [...runs].sort().map(([status, count]) => [`{status="${label(status)}"}`, count]),
    ),
    ...metric('holdfast_events_total', 'counter', 'Recorded events.', [['', sum(heads.map((head) => head.version))]]),
    ...metric('holdfast_sessions_open', 'gauge', 'Sessions that have not ended; some may have stopped responding.', [
      ['', sum(facts.map(({ sessions }) => sessions.length))],
    ]),
    ...metric('holdfast_effects_uncertain', 'gauge', 'Effects that began and have no recorded end.', [
      ['', sum(facts.map(({ uncertain }) => uncertain.length))],
    ]),
    ...metric('holdfast_steps_total', 'gauge', 'Steps in plans.', [
      ['', sum(facts.map(({ progress }) => progress.total))],
    ]),
    ...metric('holdfast_steps_done', 'gauge', 'Steps that are completed or skipped.', [
      ['', sum(facts.map(({ progress }) => progress.done))],
    ]),
    ...own.lines(),
  ];
  return `${lines.join('\n')}\n`;
}

function metric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(([labels, value]) => `${name}${labels} ${value}`),
  ];
}

const label = (text: string): string => text.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`));
