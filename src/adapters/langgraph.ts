import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  copyCheckpoint,
  getCheckpointId,
  INTERRUPT,
  maxChannelVersion,
  type PendingWrite,
  RESUME,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import { Fault, type Holdfast } from '../index.ts';
import { CHECKPOINTS, channelKey, checkpointKey, headKey, writeKey, writesKey } from './langgraph/keys.ts';
import { pruneThread } from './langgraph/prune.ts';
import { askQuestions, readQuestions, settleQuestions, type ThreadQuestion } from './langgraph/questions.ts';
import { reachedBy } from './langgraph/reached.ts';
import { type CheckpointDocument, type PendingEntry, restore, type Stored, store } from './langgraph/stored.ts';
import { openThreads, type Thread, type Threads } from './langgraph/thread.ts';

/** The public entry `holdfast/langgraph`: threads of LangGraph as runs. */

export type { ThreadQuestion } from './langgraph/questions.ts';

type Config = Parameters<BaseCheckpointSaver['getTuple']>[0];

/**
 * Keeps the checkpoints of a graph in Holdfast: `graph.compile({ checkpointer: new HoldfastSaver(hf) })`. A thread is a run; an
 * interrupt is a question of that run, which a person can answer from anywhere, and which `questions` gives back.
 */
export class HoldfastSaver extends BaseCheckpointSaver {
  readonly #threads: Threads;

  constructor(hf: Holdfast, serde?: SerializerProtocol) {
    super(serde);
    this.#threads = openThreads(hf);
  }

  override async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    const id = threadIn(config);
    if (id === undefined) return undefined;
    const thread = this.#threads.of(id);
    const namespace = namespaceIn(config);
    const checkpoint = getCheckpointId(config) || (await thread.headOf(namespace))?.id;
    if (!checkpoint) return undefined;
    const found = await thread.get<CheckpointDocument>(checkpointKey(namespace, checkpoint));
    return found ? this.#tupleOf(thread, found.value) : undefined;
  }

  override async *list(config: Config, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { before, filter = {} } = options;
    let { limit = Number.POSITIVE_INFINITY } = options;
    const wanted = config.configurable ?? {};
    const given = threadIn(config);
    const beforeId = before && getCheckpointId(before);
    const documents: { thread: Thread; document: CheckpointDocument }[] = [];
    for (const id of given === undefined ? await this.#threads.all() : [given]) {
      const thread = this.#threads.of(id);
      for (const document of await documentsOf(thread)) documents.push({ thread, document });
    }
    documents.sort((a, b) => (a.document.id < b.document.id ? 1 : -1));
    for (const { thread, document } of documents) {
      if (limit <= 0) return;
      if (wanted['checkpoint_ns'] !== undefined && document.namespace !== wanted['checkpoint_ns']) continue;
      if (wanted['checkpoint_id'] && document.id !== wanted['checkpoint_id']) continue;
      if (beforeId && document.id >= beforeId) continue;
      const metadata = (await restore(this.serde, document.metadata)) as Record<string, unknown>;
      if (Object.entries(filter).some(([name, value]) => metadata[name] !== value)) continue;
      limit -= 1;
      yield await this.#tupleOf(thread, document);
    }
  }

  override async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<Config> {
    const thread = this.#threads.of(mustHaveThread(config, 'put a checkpoint'));
    const namespace = namespaceIn(config);
    const parent = getCheckpointId(config) || null;
    const { channel_values: values, ...rest } = copyCheckpoint(checkpoint);
    const [stored, storedMetadata] = await Promise.all([store(this.serde, rest), store(this.serde, metadata)]);
    const changed: { channel: string; key: string; value: Stored }[] = [];
    for (const [channel, version] of Object.entries(newVersions)) {
      if (!Object.hasOwn(values, channel)) continue;
      const key = channelKey(namespace, channel, version, checkpoint.id);
      changed.push({ channel, key, value: await store(this.serde, values[channel]) });
    }
    const asked = await thread.change(async () => {
      const above = parent === null ? null : await thread.get<CheckpointDocument>(checkpointKey(namespace, parent));
      const before = above && ((await restore(this.serde, above.value.checkpoint)) as Checkpoint);
      const document: CheckpointDocument = {
        id: checkpoint.id,
        namespace,
        parent,
        checkpoint: stored,
        metadata: storedMetadata,
        channels: {
          ...carriedOver(above?.value.channels ?? {}, before, checkpoint),
          ...Object.fromEntries(changed.map(({ channel, key }) => [channel, key])),
        },
      };
      const head = await thread.headOf(namespace);
      const isLatest = head === null || head.id <= checkpoint.id;
      await thread.put(
        [
          ...changed.map(({ key, value }) => ({ key, value })),
          { key: checkpointKey(namespace, checkpoint.id), value: document },
          ...(isLatest ? [{ key: headKey(namespace), value: checkpoint.id, expect: head?.version ?? null }] : []),
        ],
        namespace === '' ? reachedBy(metadata, before, checkpoint) : undefined,
      );
      return parent === null ? [] : (await thread.writesOf(namespace, parent)).document.writes;
    });
    await settleQuestions(thread.hf, asked);
    return configOf(thread, namespace, checkpoint.id);
  }

  override async putWrites(config: Config, writes: PendingWrite[], task: string): Promise<void> {
    const thread = this.#threads.of(mustHaveThread(config, 'put writes'));
    const namespace = namespaceIn(config);
    const checkpoint = getCheckpointId(config);
    if (!checkpoint) throw missing('put writes', 'checkpoint_id');
    const stored = await Promise.all(writes.map(([, value]) => store(this.serde, value)));
    const answered = await thread.change(async () => {
      const { document, version } = await thread.writesOf(namespace, checkpoint);
      const ofTask = document.writes.filter((write) => write.task === task);
      const interrupts = writes.filter(([channel]) => channel === INTERRUPT).map(([, value]) => value);
      const earlier = ofTask.flatMap(({ asked = [] }) => asked);
      const asked = interrupts.length > 0 ? await askQuestions(thread.hf, interrupts, earlier) : undefined;
      const entries = new Map(document.writes.map((write) => [`${write.task} ${write.index}`, write]));
      const values: { key: string; value: Stored }[] = [];
      for (const [number, [channel]] of writes.entries()) {
        const index = WRITES_IDX_MAP[channel] ?? number;
        const name = `${task} ${index}`;
        if (index >= 0 && entries.has(name)) continue;
        const key = writeKey(namespace, checkpoint, task, index);
        const entry: PendingEntry = { task, index, channel, key };
        entries.set(name, channel === INTERRUPT && asked ? { ...entry, asked } : entry);
        const at = values.findIndex((value) => value.key === key);
        if (at >= 0) values.splice(at, 1);
        values.push({ key, value: stored[number] as Stored });
      }
      if (values.length > 0) {
        const key = writesKey(namespace, checkpoint);
        await thread.put([...values, { key, value: { writes: [...entries.values()] }, expect: version }]);
      }
      return writes.some(([channel]) => channel === RESUME) ? ofTask : [];
    });
    await settleQuestions(thread.hf, answered);
  }

  /** Drops the run of the thread; what stays is that it was there. */
  override async deleteThread(thread: string): Promise<void> {
    await this.#threads.drop(thread);
  }

  /** Removes all but the latest `keep` checkpoints of each namespace of a thread. */
  async prune(thread: string, { keep }: { keep: number }): Promise<void> {
    if (!Number.isSafeInteger(keep) || keep < 1)
      throw new Fault('invalid', '`keep` must be a whole number of at least 1.', { hints: ['`{ keep: 10 }`'] });
    const opened = this.#threads.of(thread);
    await opened.change(async () => pruneThread(opened, await documentsOf(opened), keep));
  }

  /** What the latest checkpoint of a thread waits for, with the answers that were given in Holdfast. */
  async questions(thread: string): Promise<ThreadQuestion[]> {
    const opened = this.#threads.of(thread);
    const head = await opened.headOf('');
    if (!head) return [];
    const { document } = await opened.writesOf('', head.id);
    return readQuestions(opened.hf, document.writes);
  }

  async #tupleOf(thread: Thread, document: CheckpointDocument): Promise<CheckpointTuple> {
    const { id, namespace, parent } = document;
    const [rest, metadata, pendingWrites] = await Promise.all([
      restore(this.serde, document.checkpoint) as Promise<Omit<Checkpoint, 'channel_values'>>,
      restore(this.serde, document.metadata) as Promise<CheckpointMetadata>,
      this.#pendingWrites(thread, namespace, id),
    ]);
    const checkpoint: Checkpoint = { ...rest, channel_values: await this.#channels(thread, document.channels) };
    if (checkpoint.v < 4 && parent !== null) await this.#attachSends(thread, namespace, parent, checkpoint);
    return {
      config: configOf(thread, namespace, id),
      checkpoint,
      metadata,
      pendingWrites,
      ...(parent === null ? {} : { parentConfig: configOf(thread, namespace, parent) }),
    };
  }

  async #channels(thread: Thread, keys: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
    const values: [string, unknown][] = [];
    for (const [channel, key] of Object.entries(keys)) {
      const found = await thread.get<Stored>(key);
      if (found) values.push([channel, await restore(this.serde, found.value)]);
    }
    return Object.fromEntries(values);
  }

  async #pendingWrites(thread: Thread, namespace: string, checkpoint: string): Promise<CheckpointPendingWrite[]> {
    const { document } = await thread.writesOf(namespace, checkpoint);
    const pending: CheckpointPendingWrite[] = [];
    for (const { task, channel, key } of document.writes) {
      const found = await thread.get<Stored>(key);
      if (found) pending.push([task, channel, await restore(this.serde, found.value)]);
    }
    return pending;
  }

  /** Before version 4 what was sent to tasks was kept with the writes of the checkpoint before. */
  async #attachSends(thread: Thread, namespace: string, parent: string, checkpoint: Checkpoint): Promise<void> {
    const writes = await this.#pendingWrites(thread, namespace, parent);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? (maxChannelVersion(...versions) as number) : this.getNextVersion(undefined);
  }
}

async function documentsOf(thread: Thread): Promise<CheckpointDocument[]> {
  const listed = await thread.hf.state.list({ prefix: CHECKPOINTS }).catch((thrown: unknown) => {
    if (thrown instanceof Fault && thrown.code === 'not_found') return [];
    throw thrown;
  });
  const documents: CheckpointDocument[] = [];
  for (const { key } of listed) {
    const found = await thread.get<CheckpointDocument>(key);
    if (found) documents.push(found.value);
  }
  return documents;
}

/** The channels that the checkpoint has in the version of the one before it. */
function carriedOver(
  channels: Readonly<Record<string, string>>,
  before: Checkpoint | null,
  { channel_versions: versions }: Checkpoint,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(channels).filter(
      ([channel]) => Object.hasOwn(versions, channel) && before?.channel_versions[channel] === versions[channel],
    ),
  );
}

const configOf = ({ id }: Thread, namespace: string, checkpoint: string): Config => ({
  configurable: { thread_id: id, checkpoint_ns: namespace, checkpoint_id: checkpoint },
});

const namespaceIn = (config: Config): string => String(config.configurable?.['checkpoint_ns'] ?? '');

function threadIn(config: Config): string | undefined {
  const id: unknown = config.configurable?.['thread_id'];
  return id === undefined || id === null || id === '' ? undefined : String(id);
}

function mustHaveThread(config: Config, what: string): string {
  const id = threadIn(config);
  if (id === undefined) throw missing(what, 'thread_id');
  return id;
}

function missing(what: string, field: string): Fault {
  return new Fault('invalid', `Cannot ${what}: \`configurable.${field}\` is missing.`, {
    hints: ['`graph.invoke(input, { configurable: { thread_id: "order-42" } })`'],
    data: { field },
  });
}
