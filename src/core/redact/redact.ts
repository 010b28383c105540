import { addressRules } from './addresses.ts';
import { contextRules } from './context.ts';
import { prefixRules } from './prefixes.ts';
import { applyRule, type Found, type Rule } from './rule.ts';
import { commandRules, commandsIn, type ToolRule, toolRules } from './tools.ts';

/**
 * Removes secrets from text before it is recorded. A redaction names the kind of secret. The rules follow the published
 * patterns of well-known detectors, reduced to forms that hardly anything else has; docs/redaction.md has the list and
 * what was measured.
 */
export interface Redacted {
  text: string;
  /** The kinds that were found, each once. */
  kinds: readonly string[];
}

/** Removes secrets from captured text: requests, messages, commands and their output, paths, errors. */
export function redact(text: string): Redacted {
  return applyGroups(CAPTURED, withinLimit(text));
}

/** Removes from text that is recorded on purpose only what is a secret beyond doubt: known tokens, keys, addresses. */
export function redactRecord(text: string): Redacted {
  if (!MAY_HOLD_A_SECRET.test(text)) return { text, kinds: [] };
  return applyGroups([prefixes, addresses], text);
}

/** What every form of `redactRecord` has. The expression of all hints takes a thirtieth of a command to build. */
const MAY_HOLD_A_SECRET = /[\w.~+/=-]{14}|:\/\/|[?&]|PRIVATE KEY/i;

/** The kinds of secrets that captured text of this form would lose, however long it is. */
export function secretKinds(text: string): readonly string[] {
  return applyGroups(CAPTURED, text).kinds;
}

function applyGroups(groups: readonly (() => Group)[], text: string): Redacted {
  const kinds = new Set<string>();
  let clean = text;
  for (const group of groups) clean = group().redact(clean, (kind) => kinds.add(kind));
  return { text: clean, kinds: [...kinds] };
}

/** Rules whose marks are looked for together: nearly all text has none and costs no more than that look. */
interface Group {
  redact(text: string, found: Found): string;
}

/** Built on first use, and each expression when it is needed: most processes look at one command. */
function lazyGroup<R extends Rule>(rulesOf: () => readonly R[], compile: (rule: R) => Apply = anywhere): () => Group {
  let group: Group | undefined;
  return () => {
    group ??= openGroup(rulesOf(), compile);
    return group;
  };
}

type Apply = (text: string, found: Found) => string;

function openGroup<R extends Rule>(rules: readonly R[], compile: (rule: R) => Apply): Group {
  // Made of the rules' own hints, so that none can be missing.
  const marks = new RegExp(rules.map(({ hint }) => hint).join('|'), 'i');
  const hints = new Map<R, RegExp>();
  const compiled = new Map<R, Apply>();
  return {
    redact(text, found) {
      if (!marks.test(text)) return text;
      let clean = text;
      for (const rule of rules) {
        const hint = remembered(hints, rule, () => new RegExp(rule.hint, 'i'));
        if (hint.test(clean)) clean = remembered(compiled, rule, () => compile(rule))(clean, found);
      }
      return clean;
    },
  };
}

function remembered<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

function anywhere(rule: Rule): Apply {
  const pattern = rule.pattern();
  return (text, found) => applyRule(rule, pattern, text, found);
}

/** Applies a rule for a program to the rest of each command that names it. */
function inCommands(rule: ToolRule): Apply {
  const pattern = rule.pattern();
  const tool = rule.tool();
  return (text, found) => {
    const commands = commandsIn(text).map((command) => {
      const named = tool.exec(command);
      if (!named) return command;
      const end = named.index + named[0].length;
      return command.slice(0, end) + applyRule(rule, pattern, command.slice(end), found);
    });
    return commands.join('');
  };
}

const prefixes = lazyGroup(prefixRules);
const tools = lazyGroup(toolRules, inCommands);
const commands = lazyGroup(commandRules);
const addresses = lazyGroup(addressRules);
const context = lazyGroup(contextRules);
const CAPTURED = [prefixes, tools, commands, addresses, context];

const LIMIT_CHARS = 256 * 1024;
/** How far back from a cut a line end is looked for. */
const CUT_CHARS = 8 * 1024;

/** The beginning and the end of a very long text, cut between lines or words so that no secret is halved. */
function withinLimit(text: string): string {
  if (text.length <= LIMIT_CHARS) return text;
  const head = withoutCutEnd(text.slice(0, LIMIT_CHARS / 2));
  const tail = withoutCutStart(text.slice(-LIMIT_CHARS / 2));
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}

function withoutCutEnd(text: string): string {
  const from = text.length - CUT_CHARS;
  const cut = [text.lastIndexOf('\n'), text.lastIndexOf(' ')].find((at) => at >= from);
  return text.slice(0, cut ?? from);
}

function withoutCutStart(text: string): string {
  const cut = [text.indexOf('\n'), text.indexOf(' ')].find((at) => at >= 0 && at < CUT_CHARS);
  const whole = text.slice(cut === undefined ? CUT_CHARS : cut + 1);
  // The rest of a private key whose beginning was left out.
  const end = /-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(whole);
  const isRest = end !== null && !whole.slice(0, end.index).includes('-----BEGIN ');
  return isRest ? whole.slice(end.index + end[0].length) : whole;
}
