import { Fault, type Holdfast } from '../../index.ts';
import { sha256 } from './keys.ts';
import type { AskedQuestion, PendingEntry } from './stored.ts';

/** A question that a thread waits for, with its answer once there is one. */
export interface ThreadQuestion {
  /** LangGraph's id of the interrupt, for `new Command({ resume: { [interrupt]: answer } })`. */
  interrupt: string;
  /** Its id in the run, for `holdfast settle Q-1 resolved --note ANSWER`. */
  question: string;
  text: string;
  status: string;
  /** The note that it was settled with; null while it is open. */
  answer: string | null;
}

/**
 * Raises the interrupts of a task as questions of the run. The graph above a subgraph reports the same interrupts again, and so
 * does a task that is run again: each becomes one question. A task that asks once more after an answer asks a new one.
 */
export async function askQuestions(
  hf: Holdfast,
  interrupts: readonly unknown[],
  earlier: readonly AskedQuestion[],
): Promise<AskedQuestion[]> {
  const asked: AskedQuestion[] = [];
  for (const [number, given] of interrupts.entries()) {
    const { id, value } = (given ?? {}) as { id?: unknown; value?: unknown };
    const interrupt = typeof id === 'string' ? id : String(number);
    const text = textOf(value);
    const same = earlier.filter((one) => one.interrupt === interrupt);
    const last = same.at(-1);
    if (last && last.text === text && (await statusOf(hf, last.question)) === 'open') {
      asked.push(last);
      continue;
    }
    const before = last ? last.before + 1 : 0;
    const key = `lg-${sha256(JSON.stringify([interrupt, before, text])).slice(0, 40)}`;
    const { id: question } = await hf.raise({ kind: 'question', text }, { key });
    asked.push({ interrupt, question, text, before });
  }
  return asked;
}

/** The thread continued: what nobody settled is answered. */
export async function settleQuestions(hf: Holdfast, entries: readonly PendingEntry[]): Promise<void> {
  const ids = new Set(entries.flatMap(({ asked = [] }) => asked.map(({ question }) => question)));
  for (const id of ids) {
    if ((await statusOf(hf, id)) !== 'open') continue;
    await hf.settle({ id, as: 'resolved', note: 'The program continued with an answer.' }).catch((thrown: unknown) => {
      // Someone was faster.
      if (!(thrown instanceof Fault) || thrown.code !== 'illegal') throw thrown;
    });
  }
}

export async function readQuestions(hf: Holdfast, entries: readonly PendingEntry[]): Promise<ThreadQuestion[]> {
  const found: ThreadQuestion[] = [];
  for (const { interrupt, question, text } of entries.flatMap(({ asked = [] }) => asked)) {
    const item = await itemOf(hf, question);
    const isOpen = item === null || item.status === 'open';
    const answer = isOpen ? null : (item.resolution ?? '');
    found.push({ interrupt, question, text, status: item?.status ?? 'gone', answer });
  }
  return found;
}

const statusOf = async (hf: Holdfast, id: string): Promise<string | null> => (await itemOf(hf, id))?.status ?? null;

/** Null for a question that was moved or is gone. */
async function itemOf(hf: Holdfast, id: string): Promise<{ status: string | null; resolution: string | null } | null> {
  try {
    const { status, fields } = await hf.show({ id });
    return { status, resolution: 'resolution' in fields ? (fields.resolution ?? null) : null };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

const TEXT_CHARS = 2000;

/** A text as it is, anything else as JSON. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.trim() === '') return 'The graph was interrupted and waits to be resumed.';
  return text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS - 1)}…` : text;
}
