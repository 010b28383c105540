import type { ModelItem, RunModel } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { editPage, type Page } from '../text/page.ts';
import { changedFields, readRows } from '../text/rows.ts';
import {
  addRows,
  cellOf,
  type Part,
  partIn,
  type Row,
  renderHeader,
  renderRow,
  setCells,
  type Table,
  tablesIn,
  type Values,
  valuesOf,
} from '../text/table.ts';
import { defined } from '../text/values.ts';
import type { Changes } from './changes.ts';
import { label } from './names.ts';
import { type Report, readPage } from './page.ts';
import { cellsFor, questionRows, questionStatuses } from './table.ts';

/** OPEN_QUESTIONS.md as read: a section for each state, with tables read by column name. */
export interface Questions {
  page: Page;
  sound: boolean;
  title: string | undefined;
  updated: { line: number; words: string } | null;
  sections: Readonly<Partial<Record<State, Section>>>;
  rows: ReadonlyMap<ModelItem, { section: State; table: Table; row: Row }>;
  /** The ids of every table, also under unknown headings or columns. */
  ids: ReadonlySet<string>;
}

type State = 'active' | 'deferred' | 'resolved';

interface Section extends Part {
  /** `*No active questions.*` */
  emptyLine: number | null;
}

const states = ['active', 'deferred', 'resolved'] as const satisfies readonly State[];
const titles = ['ID', 'Source PRDs', 'Question', 'Status', 'Resolution'];

export function readQuestions(text: string, report: Report): Questions {
  const { page, sound } = readPage(text, report);
  const sections: Partial<Record<State, Section>> = {};
  const rows = new Map<ModelItem, { section: State; table: Table; row: Row }>();
  const seen = new Set<string>();
  for (const state of states) {
    const part = partIn(page, new RegExp(`^${state}`, 'i'));
    if (!part) continue;
    const { heading, tables } = part;
    let emptyLine: number | null = null;
    for (let line = heading.line + 1; line < heading.end && line < heading.line + 60; line++) {
      if (!page.isQuiet(line) && /^\*No .* questions\.?\*\s*$/i.test(page.line(line))) emptyLine = line;
    }
    sections[state] = { heading, tables, emptyLine };
    for (const table of tables) {
      for (const row of table.rows) {
        const item = readRow(table, row, state, report);
        if (!item) continue;
        if (item.alias !== undefined && seen.has(item.alias))
          report.error('duplicate_id', row.line + 1, `Duplicate id ${item.alias}.`);
        if (item.alias !== undefined) seen.add(item.alias);
        rows.set(item, { section: state, table, row });
      }
    }
  }
  const at = page.lines.slice(0, 30).findIndex((_, line) => /^Last updated:/.test(page.line(line)));
  const top = page.headings[0];
  return {
    page,
    sound,
    title: label(top?.level === 1 ? /[—–]\s+(.*\S)/.exec(top.title)?.[1] : undefined),
    updated: at < 0 ? null : { line: at, words: page.line(at) },
    sections,
    rows,
    ids: new Set(tablesIn(page, 0, page.lines.length).flatMap(idsIn)),
  };
}

function idsIn(table: Table): string[] {
  return table.rows.flatMap((row) => {
    const id = (cellOf(table, row, 'id') ?? row.cells[0] ?? '').replace(/[*`]/g, '').trim();
    return /^(?:OQ|Q)-[\w-]{1,40}$/.test(id) ? [id] : [];
  });
}

function readRow(table: Table, row: Row, state: State, report: Report): ModelItem | null {
  const values = valuesOf(table, row);
  const said = readRows(questionRows, values);
  const { alias, text } = said;
  if (text === undefined) {
    if (alias !== undefined) report('missing_field', row.line + 1, `${alias} has no question.`);
    return null;
  }
  const written = values['status']?.toLowerCase();
  if (written !== undefined && said.status === undefined && written !== 'active')
    report(
      'unknown_status',
      row.line + 1,
      `${alias ?? 'A question'} has the status ${written.slice(0, 60)}, which is not one of ${questionStatuses.join(', ')}.`,
    );
  const status = said.status ?? (state === 'active' ? 'open' : state);
  if (stateOf(status) !== state)
    report(
      'wrong_section',
      row.line + 1,
      `${alias ?? 'A question'} is ${status} but listed among the ${state} questions.`,
    );
  const { raisedAt, ...item } = said;
  return {
    ...item,
    kind: 'question',
    text,
    status,
    ...defined(state === 'resolved' ? { settledAt: raisedAt } : { raisedAt }),
  };
}

function stateOf(status: ModelItem['status']): State {
  return status === 'deferred' ? 'deferred' : status === 'resolved' || status === 'withdrawn' ? 'resolved' : 'active';
}

export function checkQuestions({ sections, rows, updated }: Questions, report: Report): void {
  for (const state of states) {
    if (!sections[state]) report('missing_section', null, `There is no section for ${state} questions.`);
  }
  if (!updated) return;
  for (const state of states) {
    const stated = new RegExp(`(\\d{1,6}) ${state}\\b`).exec(updated.words)?.[1];
    const count = [...rows.values()].filter((one) => one.section === state).length;
    if (stated !== undefined && Number(stated) !== count)
      report('count_disagrees', updated.line + 1, `It says ${stated} ${state} questions; the tables have ${count}.`);
  }
}

export function newQuestions({ run }: RunModel): string {
  const section = (state: State): string[] => ['', `## ${capital(state)} Questions`, '', `*No ${state} questions.*`];
  return [`# Open Questions — ${flat(run.title)}`, ...states.flatMap(section), ''].join('\n');
}

/** The text after the changes; null when no question changed. New questions have their ids. */
export function changeQuestions(questions: Questions, changes: Changes, now: string): string | null {
  const { page, rows, sections, updated, sound } = questions;
  if (!sound) return null;
  const edit = editPage(page);
  const incoming: Record<State, Values[]> = { active: [], deferred: [], resolved: [] };
  const counts: Record<State, number> = { active: 0, deferred: 0, resolved: 0 };
  for (const { section } of rows.values()) counts[section]++;
  for (const { before, after } of changes.items.kept) {
    const place = rows.get(before);
    if (!place || before.kind !== 'question') continue;
    const { section, table, row } = place;
    const changed = changedFields(questionRows, valuesOf(table, row), before, after, null) as Values;
    // A question stays where a person put it as long as nothing about it changes.
    if (stateOf(after.status) === section || Object.keys(changed).length === 0)
      setCells(edit, page, table, row, changed);
    else {
      counts[section]--;
      edit.remove(row.line);
      incoming[stateOf(after.status)].push({
        ...cellsFor(questionRows, { ...before, ...after }),
        ...rowWith(table, row, changed),
      });
    }
  }
  for (const item of changes.items.added)
    if (item.kind === 'question') incoming[stateOf(item.status)].push(cellsFor(questionRows, item));
  for (const state of states) {
    counts[state] += incoming[state].length;
    const section = sections[state];
    const heading = `## ${capital(state)} Questions`;
    if (section && section.emptyLine !== null && section.tables.length === 0 && incoming[state].length > 0) {
      const names = titles.map((title) => title.toLowerCase());
      const lines = incoming[state].map((one) => renderRow(names, one));
      edit.replace(section.emptyLine, section.emptyLine + 1, [...renderHeader(titles), ...lines]);
    } else addRows(edit, page, section, { heading, titles, at: page.lines.length }, incoming[state], 'end');
  }
  if (!edit.changed) return null;
  const words = `Last updated: ${now.slice(0, 10)} (${states.map((state) => `${counts[state]} ${state}`).join(', ')}.)`;
  if (updated) edit.set(updated.line, words);
  return edit.apply();
}

/** What a row says, with changes. */
const rowWith = (table: Table, row: Row, changed: Values): Values => defined({ ...valuesOf(table, row), ...changed });

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
