import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { narrate, type } from './terminal.ts';

/** What the first agent knows when it is killed. Only the journal and the final check of this demo get it. */
export interface Recorded {
  session: string;
  step: string;
  checkpoint: string;
  next: string;
  decision: string;
  constraint: string;
  effect: string;
}

/** Stands for production: each time the irreversible effect happens, it gets a line. */
export const PRODUCTION = 'production.log';

/** Plays an agent until it is killed, in its own process: it leaves what a crash leaves. */
export async function playFirstAgent(workspace: string): Promise<never> {
  const variables: Record<string, string> = { HOLDFAST_PID: String(process.pid) };
  const shell = { workspace, variables };
  const recorded: Omit<Recorded, 'session'> = {
    step: 'p2.2',
    checkpoint: 'rehearsed',
    next: 'Apply migration 42 to production, once, then compare the row counts',
    decision: 'Refresh tokens rotate on every use',
    constraint: 'Never write a token to a log',
    effect: 'apply migration 42 to production',
  };
  await narrate('Agent one, claude, starts a session and works through the plan.');
  const { stdout } = await type(shell, 'session', 'start', '--agent', 'claude');
  const session = /S-\d+/.exec(stdout)?.[0] ?? '';
  variables['HOLDFAST_SESSION'] = session;
  await type(shell, 'note', recorded.constraint, '--kind', 'constraint');
  await type(shell, 'start', 'p1.1');
  await type(shell, 'complete', '--summary', 'Table refresh_tokens with an index on the family');
  await type(shell, 'start', 'p2.1');
  await type(shell, 'checkpoint', 'drafted');
  const reason = 'A stolen token then shows at its second use';
  const context = 'How long a refresh token lives';
  const decision = ['--context', context, '--decision', recorded.decision, '--reason', reason];
  await type(shell, 'decide', ...decision, '--affects', 'p2');
  await type(shell, 'complete', '--summary', 'POST /refresh rotates the token and ends the family on reuse');

  await narrate('In the middle of the next step it is about to do something irreversible.');
  await type(shell, 'start', recorded.step);
  await type(shell, 'checkpoint', recorded.checkpoint, '--next', recorded.next);
  await type(shell, 'effect', 'begin', recorded.effect, '--class', 'irreversible', '--key', 'migration-42');
  appendFileSync(join(workspace, PRODUCTION), 'migration 42 applied\n');
  process.send?.({ session, ...recorded } satisfies Recorded);
  // Ends by itself if its parent does not kill it.
  process.once('disconnect', () => process.exit());
  return new Promise<never>(() => undefined);
}
