import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { clientNames, hooksOf } from '../../../src/clients/index.ts';
import { RunModel } from '../../../src/core/model/run-model.ts';
import * as apex from '../../../src/formats/apex/samples.suite.ts';
import * as codewalk from '../../../src/formats/codewalk/samples.suite.ts';
import type { Files, FormatName, Found } from '../../../src/formats/format.ts';
import * as gsd from '../../../src/formats/gsd/samples.suite.ts';
import { formats } from '../../../src/formats/index.ts';
import * as damaged from '../../../src/formats/maestro/damaged.suite.ts';
import * as maestro from '../../../src/formats/maestro/samples.suite.ts';
import { createApp } from '../../../src/http/app.ts';
import { loadOffered } from '../../../src/http/call.ts';
import { hashSecret, makeSecret } from '../../../src/operations/admin/parts/token-secret.ts';
import { openContext } from '../../../src/operations/open.ts';
import { unlimitedToken } from '../../unlimited-token.ts';
import { clientInterfaces, noLimits } from './input-interfaces-clients.ts';
import { mutate, mutateValue } from './mutator.ts';
import { type Place, workedPlace } from './place.ts';
import type { Random } from './random.ts';

/** An interface that takes input from others. To test another, add it to the list. */
export interface InputInterface {
  name: string;
  /** How many inputs it gets, if each takes longer than most. */
  rounds?: { long: number; short: number };
  /** Feeds it one more mutated input; returns the outcome, and throws if that is not allowed. */
  open(): Promise<{ feed(random: Random): Promise<string>; close(): Promise<void> }>;
}

export const interfaces: readonly InputInterface[] = [
  ...(['apex', 'codewalk', 'gsd', 'maestro', 'snap'] as const).map(formatInterface),
  { name: 'hook payloads', open: openHooks },
  { name: 'HTTP bodies', open: openHttp },
  ...clientInterfaces,
];

interface Sample {
  found: Found;
  files: Files;
}

const samplesOf: Record<FormatName, () => Sample[]> = {
  apex: () =>
    [apex.v1, apex.v2, apex.v3, apex.noVersion, apex.logs, apex.findings, apex.gates].map((text) => ({
      found: apex.place(apex.HANDOFF),
      files: apex.files(text, { [apex.HANDOFF]: apex.handoff }),
    })),
  codewalk: () => [...codewalk.samples],
  gsd: () => [...gsd.samples],
  maestro: () =>
    [maestro.seed, maestro.served, maestro.json, maestro.next, damaged.elided, damaged.overEscaped, maestro.tier].map(
      (text) => ({
        found: maestro.place(),
        files: new Map([[maestro.ACTIVE, text]]),
      }),
    ),
  snap: () => {
    const folder = join('test', 'fixtures', 'snap', 'pilot');
    const files = new Map(
      readdirSync(folder)
        .sort()
        .map((name) => [`working-session/${name}`, readFileSync(join(folder, name), 'utf8')]),
    );
    return [{ found: { format: 'snap', main: 'working-session/TURNFILE.yaml', files: [...files.keys()] }, files }];
  },
};

function formatInterface(name: FormatName): InputInterface {
  return {
    name: `files of ${name}`,
    async open() {
      const format = await formats[name]();
      const samples = samplesOf[name]();
      const texts = Object.values(samplesOf).flatMap((make) => make().flatMap(({ files }) => [...files.values()]));
      return {
        async feed(random) {
          const { found, files } = random.pick(samples);
          const path = random.chance(0.7) ? found.main : random.pick([...files.keys()]);
          const mutated = new Map(files).set(path, mutate(files.get(path) ?? '', random, texts));
          const parsed = format.parse(found, mutated);
          if (parsed.model === null) {
            if (parsed.problems.length === 0) throw new Error('no run model, and no problem');
            return 'not understood, with a reason';
          }
          if (!v.is(RunModel, parsed.model)) throw new Error('gives a run model that the journal cannot hold');
          if (!parsed.writable) return 'read, not writable';
          const now = '2026-03-04T05:06:07.000Z';
          const decisions = [
            ...parsed.model.decisions,
            { alias: 'D-999', decision: 'One more', at: now, status: 'active' as const },
          ];
          // An older version is migrated to the newest first, which has no field for some of its texts.
          const migrates = name === 'apex' && parsed.version !== '3.0';
          for (const [written, text] of format.render({ ...parsed.model, decisions }, found, mutated, now))
            if (!migrates) mustKeepWords(mutated.get(written) ?? '', text);
          return 'read and written';
        },
        close: async () => undefined,
      };
    },
  };
}

/** Every long word of the file is still in it. */
function mustKeepWords(before: string, after: string): void {
  const has = new Set(after.match(/[\p{L}\p{N}]{9,}/gu));
  const lost = (before.match(/[\p{L}\p{N}]{9,}/gu) ?? []).filter((word) => !has.has(word) && !after.includes(word));
  // A format may replace the words of a status or a time that it keeps up to date.
  if (lost.length > 2) throw new Error(`writing lost ${lost.slice(0, 5).join(', ')}`);
}

async function openHooks() {
  const payloads = clientNames.flatMap((client) => {
    const folder = join('test', 'fixtures', 'hooks', client);
    return readdirSync(folder).map((name) => ({
      client,
      event: name.slice(3, -5),
      payload: JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>,
    }));
  });
  return {
    async feed(random: Random) {
      const { client, event, payload } = random.pick(payloads);
      const mutated = mutateValue(payload, random);
      const isObject = typeof mutated === 'object' && mutated !== null && !Array.isArray(mutated);
      const moment = isObject ? (await hooksOf(client)).read(event, mutated as Record<string, unknown>) : null;
      return moment === null ? 'nothing to record' : 'understood';
    },
    close: async () => undefined,
  };
}

async function openHttp() {
  const place: Place = workedPlace();
  const secret = makeSecret();
  const madeAt = '2026-01-01T00:00:00.000Z';
  const token = {
    name: 't',
    hash: hashSecret(secret),
    actor: { kind: 'agent', name: 'ada' },
    scope: 'write',
    madeAt,
    ...unlimitedToken,
  } as const;
  const context = openContext({ dir: place.path, actor: { kind: 'person', name: 'host' }, evidence: 'library' });
  const app = createApp({ context, version: '0.0.0', web: place.path, own: [token], limits: noLimits });
  const offered = (await loadOffered()).filter(({ name }) => name !== 'wait');
  const values: Record<string, unknown> = {
    key: 't1',
    name: 'x',
    text: 'Words',
    id: 'D-1',
    step: 't1',
    kind: 'question',
    to: 'ada',
    limit: 5,
    files: ['a.ts'],
    reason: 'R',
    decision: 'D',
    context: 'C',
  };
  return {
    async feed(random: Random) {
      const operation = random.pick(offered);
      const fields = Object.keys(operation.input.entries).filter((field) => field in values && !random.chance(0.1));
      const value = mutateValue(Object.fromEntries(fields.map((field) => [field, values[field]])), random);
      const body = random.chance(0.1) ? mutate(JSON.stringify(value), random, ['{}']) : JSON.stringify(value);
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'holdfast-run': 'auth' };
      const request = new Request(`http://127.0.0.1:4177/api/${operation.name}`, { method: 'POST', body, headers });
      const response = await app.fetch(request);
      const text = await response.text();
      if (response.status >= 500 && response.status !== 503)
        throw new Error(`${operation.name}: ${response.status} ${text.slice(0, 300)}`);
      JSON.parse(text);
      return response.ok ? 'carried out' : 'refused';
    },
    async close() {
      const { maintenance } = await context.engine();
      const problems = await (await maintenance()).inspect();
      await context.close();
      place.remove();
      if (problems.length > 0) throw new Error(problems.join(' '));
    },
  };
}
