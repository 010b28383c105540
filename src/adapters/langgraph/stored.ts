import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

/** What a serializer gave, as JSON: most of it is JSON text already. */
export type Stored = { type: 'json'; text: string } | { type: string; base64: string };

export async function store(serde: SerializerProtocol, value: unknown): Promise<Stored> {
  const [type, bytes] = await serde.dumpsTyped(value);
  return type === 'json'
    ? { type, text: new TextDecoder().decode(bytes) }
    : { type, base64: Buffer.from(bytes).toString('base64') };
}

export function restore(serde: SerializerProtocol, stored: Stored): Promise<unknown> {
  const bytes = 'text' in stored ? new TextEncoder().encode(stored.text) : Buffer.from(stored.base64, 'base64');
  return Promise.resolve(serde.loadsTyped(stored.type, bytes));
}

/** A checkpoint without the values of its channels, which are stored once for each version. */
export interface CheckpointDocument {
  id: string;
  namespace: string;
  parent: string | null;
  checkpoint: Stored;
  metadata: Stored;
  /** The key of each channel's value. */
  channels: Record<string, string>;
}

/** The writes of tasks to a checkpoint, in the order in which they came. */
export interface WritesDocument {
  writes: PendingEntry[];
}

export interface PendingEntry {
  task: string;
  /** The number of the write in its task; negative ones are special and are replaced. */
  index: number;
  channel: string;
  key: string;
  /** Of an interrupt: the questions that it became. */
  asked?: AskedQuestion[];
}

export interface AskedQuestion {
  /** LangGraph's id of the interrupt, for `new Command({ resume: { [interrupt]: answer } })`. */
  interrupt: string;
  /** The id of the question in the run: `Q-1`. */
  question: string;
  text: string;
  /** How many questions its task asked before. */
  before: number;
}
