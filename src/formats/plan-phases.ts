import { isName } from '../core/text.ts';
import type { Heading, Page } from './text/page.ts';

/** A phase of a plan in Markdown: `## Phase 2: Endpoints`, with what the lines below it say of it. */
export interface PlannedPhase {
  key: string;
  title: string;
  heading: Heading;
  agents: string[];
  parallel: boolean;
  /** The phases that block it. */
  after: string[];
}

export function readPhases(page: Page): PlannedPhase[] {
  const phases = new Map<string, PlannedPhase>();
  for (const heading of page.headings) {
    const [, key = '', title = ''] =
      /^(?:Phase|Stage)\s+([^\s:]{1,64}?)\s*(?:[:.–—-]\s*(.*))?$/iu.exec(heading.title) ?? [];
    if (!isName(key, '._-', 64) || phases.has(key)) continue;
    const phase = { key, title: title.replace(/\*\*|__/g, '').trim() || `Phase ${key}`, heading };
    phases.set(key, { ...phase, agents: [], parallel: false, after: [] });
  }
  for (const phase of phases.values()) {
    for (let line = phase.heading.line + 1; line < phase.heading.end; line++)
      if (!page.isQuiet(line)) readAttribute(phase, page.line(line), phases);
  }
  return [...phases.values()];
}

function readAttribute(phase: PlannedPhase, text: string, phases: ReadonlyMap<string, unknown>): void {
  const parts =
    /^\s*(?:#{3,6}\s+|[-*+]\s+)?\**(Agents?|Parallel|Blocked by|Depends on|Dependencies)\**\s*:\s*\**\s*(.*?)\s*$/i.exec(
      text.slice(0, 500),
    );
  const value = parts?.[2]?.replace(/[`*]/g, '') ?? '';
  const words = /^(?:none|n\/a|-|–|\[\])?\.?$/i.test(value)
    ? []
    : value.replace(/^\[|\]$/g, '').split(/\s*(?:,|\band\b|&)\s*/);
  switch (parts?.[1]?.toLowerCase().slice(0, 5)) {
    case 'agent':
      phase.agents = words.filter((name) => name !== '' && name.length <= 200);
      break;
    case 'paral':
      phase.parallel = /^(?:yes|true)\b/i.test(value);
      break;
    case undefined:
      break;
    default:
      phase.after = words
        .map((name) => name.replace(/^(?:phase|stage)\s+/i, '').trim())
        .filter((key) => phases.has(key) && key !== phase.key);
  }
}
