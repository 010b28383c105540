import { asFault, Fault, quoted } from './core/fault.ts';

export interface HoldOptions {
  /** How long the step stays taken if this program stops answering; a minute when left out. */
  leaseMs?: number;
}

export interface Held {
  /** The session that holds the step. */
  session: string;
  /** Aborts with the fault `fenced` when the lease was lost: another worker may have the step by now. */
  signal: AbortSignal;
  /** Records how far the step is. */
  checkpoint(name: string, next?: string): Promise<void>;
}

/** The methods of the library that holding a step needs. */
interface Library {
  session: { start(input: { leaseMs: number }): Promise<{ session: { id: string } }> };
  as(identity: { session: string }): {
    start(input: { key: string }): Promise<unknown>;
    heartbeat(): Promise<unknown>;
    checkpoint(input: { step: string; name: string; next?: string }): Promise<unknown>;
    complete(input: { key: string }): Promise<unknown>;
    release(input: { key: string }): Promise<unknown>;
    session: { end(): Promise<unknown> };
  };
}

/**
 * Takes a step in a session of its own, renews the lease while `work` runs, completes the step when it returns and releases it
 * when it throws.
 */
export async function hold<T>(
  hf: Library,
  step: string,
  work: (held: Held) => Promise<T>,
  { leaseMs = 60_000 }: HoldOptions = {},
): Promise<T> {
  const { session } = await hf.session.start({ leaseMs });
  const mine = hf.as({ session: session.id });
  const lost = new AbortController();
  let renewedAt = performance.now();
  const mustHold = (): void => {
    if (performance.now() - renewedAt >= leaseMs) lose(lost, step);
    lost.signal.throwIfAborted();
  };
  const renew = async (): Promise<void> => {
    const asked = performance.now();
    try {
      mustHold();
      await mine.heartbeat();
      renewedAt = asked;
    } catch (thrown) {
      // A store that is away now may be back before the lease ends.
      if (asFault(thrown).code !== 'unavailable') lose(lost, step);
    }
  };
  const timer = setInterval(() => void renew(), leaseMs / 3);
  timer.unref();
  try {
    await mine.start({ key: step });
    const result = await work({
      session: session.id,
      signal: lost.signal,
      async checkpoint(name, next) {
        mustHold();
        await mine.checkpoint({ step, name, ...(next === undefined ? {} : { next }) });
        renewedAt = performance.now();
      },
    });
    mustHold();
    await mine.complete({ key: step });
    return result;
  } catch (thrown) {
    if (!lost.signal.aborted) await mine.release({ key: step }).catch(() => undefined);
    throw thrown;
  } finally {
    clearInterval(timer);
    if (!lost.signal.aborted) await mine.session.end().catch(() => undefined);
  }
}

function lose(lost: AbortController, step: string): void {
  const message = `The lease on step ${quoted(step)} was not renewed in time; another worker may have it by now.`;
  lost.abort(new Fault('fenced', message, { hints: ['Stop this work, and take the step again if it is free.'] }));
}
