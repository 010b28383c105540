import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { clients, isClient } from '../../clients/index.ts';
import { originOf } from '../../core/brief/resume-page.ts';
import { ACCEPTING, historyLines } from '../../core/brief/sections/history.ts';
import { asFault, notFound, quoted } from '../../core/fault.ts';
import { type Line, quote } from '../../core/line.ts';
import { ERASED } from '../../core/text.ts';
import { inWords, msBetween } from '../../core/time.ts';
import type { ValueProblem } from '../../engine/audit.ts';
import { damageInLog } from '../../store/sqlite/log-check.ts';
import { INBOX, listReports, MOST_REPORTS } from '../../workspace/inbox.ts';
import { isFile, pathExists, readDamaged } from '../../workspace/read.ts';
import { openStateFolder, thisUser } from '../../workspace/state/folder.ts';
import { isOffEverywhere } from '../../workspace/state/recording.ts';
import { currentRun } from '../act.ts';
import type { Context } from '../context.ts';
import { examineFiles } from '../files/parts/repair.ts';
import { InstalledClient, inspectInstallations } from '../install/parts/inspect.ts';
import { acceptHistory, comparedRuns, lookAtHistory } from '../journal/parts/known-heads.ts';
import { defineOperation, described, lineText } from '../operation.ts';
import { saveSnapshot, snapshotPath } from '../snapshot/parts/file.ts';

const Finding = v.object({
  code: v.string(),
  level: v.picklist(['error', 'warning']),
  at: v.string(),
  message: v.string(),
});
type Finding = v.InferOutput<typeof Finding>;

export const doctor = defineOperation({
  name: 'doctor',
  summary: "Verify the journal, its derived data and the installation, or examine other tools' files below a path.",
  scope: 'write',
  by: 'person',
  local: ['path', 'repair', 'acceptHistory'],
  words: ['path'],
  counts: true,
  examples: ['holdfast doctor', 'holdfast doctor .planning', 'holdfast doctor agent-output/shop --repair'],
  input: v.object({
    path: v.optional(
      described(v.string(), 'A folder or state file of another tool; it is not changed without --repair.'),
    ),
    repair: v.optional(described(v.boolean(), 'Repair a damaged file as far as possible; a copy of it is kept.')),
    rebuild: v.optional(described(v.boolean(), 'Rebuild all derived data from the events.')),
    acceptHistory: v.optional(
      described(
        v.boolean(),
        'Accept that recorded events are gone, so that briefs stop saying so; a person does that.',
      ),
    ),
  }),
  output: v.object({
    findings: v.array(Finding),
    runs: v.array(
      v.object({
        run: v.string(),
        events: v.number(),
        records: v.optional(v.number()),
        unchanged: v.optional(v.boolean()),
      }),
    ),
    store: v.string(),
    /** How many of the runs could be compared with a head that this machine remembers. */
    compared: v.optional(v.number()),
    /** What a person has just accepted. */
    accepted: v.optional(v.array(lineText)),
    /** The clients that are set up here; absent where the installation was not looked at. */
    clients: v.optional(v.array(InstalledClient)),
    now: v.optional(v.string()),
  }),
  async run(context, { path, repair = false, rebuild, acceptHistory: accepts = false }) {
    if (path !== undefined) {
      const file = resolve(context.dir, path);
      if (!pathExists(file)) throw notFound('path', path, [], 'Give an existing folder or file.');
      return { data: { findings: await examineFiles(context, file, repair), runs: [], store: path } };
    }
    if (!(await hasJournal(context)))
      return { data: await examineInstallation(context, { findings: [], runs: [], store: '' }) };
    const file = context.journalFile();
    const damage = file === null ? null : damageInLog(`${file}-wal`);
    // If SQLite opened the journal, it would drop everything after the damage.
    if (file !== null && damage !== null) return damagedJournal(context, file, repair, [inLog(file, damage)]);
    try {
      const accepted = accepts ? await acceptHistory(context) : null;
      const data = await examineJournal(context, rebuild ?? false);
      if (accepts) data.accepted = accepted ? historyLines(accepted, context.now()) : [];
      await examineInstallation(context, data);
      data.findings.push(...oldMentions(context), ...fullInbox(context));
      const isDamaged = data.findings.some(({ code }) => code === 'store' || code === 'chain');
      if (!repair || !isDamaged || file === null) return { data };
      return await damagedJournal(context, file, repair, []);
    } catch (thrown) {
      const fault = asFault(thrown);
      if (fault.code !== 'corrupt' || file === null || !isFile(file)) throw fault;
      return damagedJournal(context, file, repair, [
        { code: 'store', level: 'error', at: file, message: fault.message },
      ]);
    }
  },
  say: ({ findings, runs, store, compared, accepted, clients, now }, pen) =>
    [
      ...(accepted ?? []).map((sentence) => `Accepted: ${sentence.replace(ACCEPTING, '')}`),
      accepted?.length === 0 ? 'There was nothing to accept.' : '',
      ...runs.map(({ run, events, records, unchanged }) => {
        const result =
          unchanged === undefined
            ? 'chain and derived data were checked'
            : `${records} rows were rebuilt${unchanged ? ' and nothing changed' : ''}`;
        return `${pen.bold(run)}: ${events} events; ${result}.`;
      }),
      ...findings.map(
        ({ level, at, message }) => `${level === 'error' ? pen.bad('error') : pen.warn('warning')} ${at}: ${message}`,
      ),
      store === '' ? 'Nothing is recorded here yet.' : '',
      store === '' || findings.some((finding) => finding.level === 'error') ? '' : pen.good(`${store} is unbroken.`),
      compared === undefined || runs.length === 0
        ? ''
        : `${compared} of ${runs.length} ${runs.length === 1 ? 'run' : 'runs'} could be compared with the last event that this machine remembers.`,
      ...(clients ?? []).map((client) => installedLine(client, now ?? '')),
      clients?.length === 0 ? 'No client is set up, so only commands are recorded: `holdfast install claude`.' : '',
    ]
      .filter((line) => line !== '')
      .join('\n'),
  verdict: ({ findings }) => (findings.some((finding) => finding.level === 'error') ? 4 : 0),
});

/** Without a workspace or a named store there is none; the installation can be looked at all the same. */
async function hasJournal(context: Context): Promise<boolean> {
  if (context.workspace()) return true;
  try {
    await context.engine();
    return true;
  } catch (thrown) {
    if (asFault(thrown).code === 'not_found') return false;
    throw thrown;
  }
}

/** Says which clients are set up, and why nothing would be recorded although one is. */
async function examineInstallation(context: Context, data: Examined): Promise<Examined> {
  const { findings, clients } = await inspectInstallations(context);
  data.findings.push(...findings);
  Object.assign(data, { clients, now: context.now() });
  if (context.environment === undefined) return data;
  const warn = (code: string, at: string, message: string) =>
    data.findings.push({ code, level: 'warning', at, message });
  if (isOffEverywhere(openStateFolder(thisUser())))
    warn('capture.off', 'capture', 'Recording is off in all folders: `holdfast capture on --everywhere`.');
  else if (context.workspace()?.config.capture?.off === true)
    warn('capture.off', 'capture', 'Recording is off here: `holdfast capture on`.');
  return data;
}

/** `Claude Code is set up for all your projects; it last reported from here 3 min ago.` */
function installedLine({ client, scope, reportedAt }: InstalledClient, now: string): string {
  const title = isClient(client) ? clients[client].title : client;
  const where = scope === 'user' ? 'for all your projects' : 'in this project';
  const last =
    reportedAt === null
      ? 'it has not reported from here yet: use it here once, then run `holdfast doctor` again'
      : `it last reported from here ${inWords(msBetween(reportedAt, now))} ago`;
  return `${title} is set up ${where}; ${last}.`;
}

/** Hooks drop their reports while so many wait. */
function fullInbox(context: Context): Finding[] {
  const files = context.workspace()?.files;
  const waiting = files ? listReports(files).length : 0;
  if (waiting < MOST_REPORTS) return [];
  const message = `${waiting} reports of hooks wait, and more are dropped. Any other command records them.`;
  return [{ code: 'inbox.full', level: 'warning', at: INBOX, message }];
}

/** Instructions to an agent that name the file of version 0.1, which is no longer written. */
function oldMentions(context: Context): Finding[] {
  const tree = context.workspace()?.tree;
  if (tree === undefined) return [];
  const naming = ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md', 'QWEN.md'].filter((name) =>
    readDamaged(join(tree, name))?.includes('.holdfast/RESUME.md'),
  );
  const message =
    'It names `.holdfast/RESUME.md`, which is no longer written: write `.git/holdfast/RESUME.md`, or `RESUME.md` after `holdfast mirror add resume`.';
  return naming.map((at) => ({ code: 'old_path', level: 'warning', at, message }));
}

interface Examined {
  findings: Finding[];
  runs: { run: string; events: number; records?: number; unchanged?: boolean }[];
  store: string;
  compared?: number;
  accepted?: Line[];
  clients?: InstalledClient[];
  now?: string;
}

function inLog(file: string, message: string): Finding {
  const kept = 'Run no other command before the journal is repaired: it would lose what is there.';
  return {
    code: 'log',
    level: 'error',
    at: `${file}-wal`,
    message: `The log of the journal is damaged. ${message} ${kept}`,
  };
}

async function damagedJournal(context: Context, file: string, repair: boolean, known: readonly Finding[]) {
  const { examineDamage } = await import('../journal/parts/repair.ts');
  const { findings, runs } = await examineDamage(file, repair, context.now());
  return { data: { findings: [...known, ...findings], runs, store: file } };
}

async function examineJournal(context: Context, rebuild: boolean): Promise<Examined> {
  const engine = await context.engine();
  const maintenance = await engine.maintenance();
  const findings: Finding[] = (await maintenance.inspect()).map((message) => ({
    code: 'store',
    level: 'error',
    at: engine.place,
    message,
  }));
  const workspace = context.workspace()?.ids;
  // A run that was named must exist, or a typo would pass as an unbroken run.
  const only = context.run === undefined ? undefined : await currentRun(context);
  const heads = await engine.heads(only !== undefined ? { run: only } : workspace === undefined ? {} : { workspace });
  const runs: { run: string; events: number; records?: number; unchanged?: boolean }[] = [];
  for (const { run, version } of heads) {
    findings.push(...(await lostSnapshots(context, run, rebuild ?? false)));
    const shown = (doing: string) => (done: number) => context.progress?.({ doing, done, total: version, at: run });
    const before = await maintenance.audit(run, shown('Checking'));
    findings.push(...lostEnd(context, run, before.events));
    findings.push(
      ...before.chain.map(
        ({ version, message }): Finding => ({
          code: 'chain',
          level: 'error',
          at: `${run} event ${version}`,
          message,
        }),
      ),
    );
    findings.push(...before.values.map((one) => valueFinding(run, one)));
    if (!rebuild || !before.complete) {
      findings.push(
        ...before.derived.map(
          (message): Finding => ({
            code: 'derived',
            level: 'error',
            at: run,
            message: `${message} \`holdfast doctor --rebuild\` rebuilds it.`,
          }),
        ),
      );
      runs.push({ run, events: before.events });
      continue;
    }
    const { events, records } = await maintenance.rebuild(run, shown('Rebuilding'));
    const after = await maintenance.audit(run);
    findings.push(...after.derived.map((message): Finding => ({ code: 'derived', level: 'error', at: run, message })));
    findings.push(
      ...before.derived.map(
        (message): Finding => ({
          code: 'rebuilt',
          level: 'warning',
          at: run,
          message: `${message} Rebuilt.`,
        }),
      ),
    );
    runs.push({ run, events, records, unchanged: before.derived.length === 0 && after.derived.length === 0 });
  }
  const names = runs.map(({ run }) => run);
  return { findings, runs, store: engine.place, ...(await examineHistory(context, names, findings)) };
}

/** Bytes may be missing on purpose: an import can leave them out. */
function valueFinding(run: string, { key, version, problem }: ValueProblem): Finding {
  const at = `${run} event ${version}`;
  return problem === 'missing'
    ? { code: 'value.missing', level: 'warning', at, message: `The bytes of the value ${quoted(key)} are not here.` }
    : {
        code: 'value.changed',
        level: 'error',
        at,
        message: `The bytes of the value ${quoted(key)} are not those that were recorded.`,
      };
}

/** The chain shows that nothing in the middle was changed; that its end was not cut off, only a known head shows. */
async function examineHistory(
  context: Context,
  runs: readonly string[],
  findings: Finding[],
): Promise<{ compared?: number }> {
  if (!context.workspace()?.state) return {};
  const compared = await comparedRuns(context, runs);
  const history = await lookAtHistory(context);
  const at = (await context.engine()).place;
  const sentences = history ? historyLines(history, context.now()) : [];
  findings.push(...sentences.map((message): Finding => ({ code: 'history', level: 'warning', at, message })));
  return { compared };
}

/** A journal that lost its last events still verifies, but RESUME.md may have been written after them. */
function lostEnd(context: Context, run: string, events: number): Finding[] {
  const workspace = context.workspace();
  const file = workspace && join(workspace.folder, 'RESUME.md');
  const origin = originOf((file && readDamaged(file)) ?? '');
  if (!file || origin?.run !== quote(run, 'title') || origin.version <= events) return [];
  const message = `It was written at event ${origin.version} of ${run}, and the journal ends at ${events}: the last events were lost, or the file was written from another journal.`;
  return [{ code: 'lost_end', level: 'warning', at: file, message }];
}

/** Snapshot files that are missing or not as recorded. A changed file is reported and left alone. */
async function lostSnapshots(context: Context, run: string, rebuild: boolean): Promise<Finding[]> {
  const workspace = context.workspace();
  const engine = await context.engine();
  const [head] = await engine.heads({ run });
  if (!workspace || !head || !workspace.ids.includes(head.workspace)) return [];
  const findings: Finding[] = [];
  for (const { version } of await engine.savedRows(run, { kind: 'snapshot', limit: SNAPSHOTS_LIMIT })) {
    const event = await engine.event(run, version);
    if (event?.type !== 'snapshot.taken' || event.body.text === undefined || event.body.text === ERASED) continue;
    const { id, text } = event.body;
    const file = snapshotPath(workspace.folder, run, event.body);
    const found = readDamaged(file);
    if (found === text) continue;
    const written = found === null && rebuild ? saveSnapshot(context, run, event.body) : null;
    const help = `\`holdfast snapshot --again ${id}\` writes it as recorded.`;
    const what = found === null ? 'is missing' : 'is not as recorded';
    const message = written
      ? `The file of ${id} was missing and was written again.`
      : `The file of ${id} ${what}; ${help}`;
    findings.push({ code: 'snapshot', level: 'warning', at: file, message });
  }
  return findings;
}

/** Older snapshots are superseded many times over. */
const SNAPSHOTS_LIMIT = 1000;
