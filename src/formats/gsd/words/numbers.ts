import { isName } from '../../../core/text.ts';

/** A phase as written in a file: `07`, `2.1`, `3A`, `PROJ-42`, `05-visual-polish`. */
export interface PhaseName {
  key: string;
  /** As written. */
  spelled: string;
  name: string | null;
  total: number | null;
}

/** `3 of 5 (Auth) — EXECUTING`, `07`, `Phase 3: Auth`, `56A`; null unless it begins with a number. */
export function readPhase(text: string): PhaseName | null {
  const words = text
    .slice(0, 400)
    .replace(/[*_`]/g, '')
    .trim()
    .replace(/^(?:phase|fase|阶段|第|단계|フェーズ|фаза|этап)\s*/iu, '');
  const parts =
    /^(\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)(?![\p{L}\p{N}])(?:\s*(?:of|\/|de|von|sur|из|共|／)\s*(\d+)(?!\.\d|-\d))?(.*)$/su.exec(
      words,
    );
  if (!parts) return null;
  const spelled = parts[1] as string;
  // A date or a version is not a phase.
  if (/^\d{4}$/.test(spelled) && /^-\d\d/.test(parts[3] ?? '')) return null;
  return { key: phaseKey(spelled), spelled, name: nameIn(parts[3] ?? ''), total: parts[2] ? Number(parts[2]) : null };
}

/** Files write `07` for what a roadmap calls `7`. */
export function phaseKey(spelled: string): string {
  return spelled.replace(/^0+(?=\d)/, '');
}

/** `07-02`: the phase in two digits, as plan files are named. */
export function planKey(phase: string, plan: string): string {
  return `${padded(phase)}-${padded(plan)}`;
}

export function padded(number: string): string {
  return /^\d(?!\d)/.test(number) ? `0${number}` : number;
}

/** The phase a plan's key belongs to. */
export function phaseOfPlan(key: string): string | null {
  const parts = /^(\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)-(?:\d+[A-Za-z]?|gap-?\d+)$/.exec(key);
  return parts ? phaseKey(parts[1] as string) : null;
}

/** `07-02`, `2.1-03`, `17-gap-03` at the beginning of a text or a file name. */
export function readPlanId(text: string): { key: string; phase: string } | null {
  const parts =
    /^(?:plan\s+)?(\d+[A-Za-z]?(?:\.\d+)*|[A-Z]{2,}-\d+)-(\d{1,3}[A-Za-z]?|gap-?\d+)(?![\p{L}\p{N}]|\.\d)/iu.exec(text);
  if (!parts || /^\d{4}$/.test(parts[1] as string)) return null;
  const phase = phaseKey(parts[1] as string);
  return { key: planKey(phase, parts[2] as string), phase };
}

/** `2 of 3 in current phase`, `1/2`, `4`. */
export function readCount(text: string): { at: number; total: number | null } | null {
  const parts = /^\s*(?:plan\s+)?(\d{1,4})(?:\s*(?:of|\/|de|von|sur|из|共|／)\s*(\d{1,4}))?(?![\d.]|-\d)/iu.exec(
    text.slice(0, 80),
  );
  return parts ? { at: Number(parts[1]), total: parts[2] ? Number(parts[2]) : null } : null;
}

export function readPercent(text: string): number | null {
  const parts = /(\d{1,4}(?:\.\d+)?)\s*%/.exec(text.slice(0, 400));
  return parts ? Number(parts[1]) : null;
}

/** The first date or time in a text, as written. */
export function readDate(text: string): string | null {
  return (
    /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/.exec(text.slice(0, 400))?.[0] ?? null
  );
}

export function isStepKey(text: string): boolean {
  return isName(text, '._-', 64);
}

function nameIn(rest: string): string | null {
  const bracketed = /^\s*[(（]([^)）]{1,200})[)）]/u.exec(rest)?.[1];
  const after = bracketed ?? /^\s*[:：.—–-]+\s*(.{1,200})/su.exec(rest)?.[1]?.split(/\s[—–-]\s/)[0];
  const name = after?.trim();
  if (
    !name ||
    !/\p{L}/u.test(name) ||
    /^(?:of|executing|complete|completed|ready|not started|in progress)\b/i.test(name)
  )
    return null;
  return name;
}
