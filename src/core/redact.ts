/**
 * Removes secrets from captured text before it is recorded. The rules follow the published patterns of well-known
 * detectors, reduced to shapes that hardly anything else has; a value that is secret only by its name must also look
 * random. A redaction names the kind of secret.
 */
export interface Redacted {
  text: string;
  /** The kinds that were found, each once. */
  kinds: readonly string[];
}

export function redact(text: string): Redacted {
  if (!mayHoldSecret(text)) return { text, kinds: [] };
  const kinds = new Set<string>();
  let clean = text;
  for (const rule of rules()) {
    if (!rule.hint.test(clean)) continue;
    clean = clean.replace(rule.pattern, (...found: unknown[]) => {
      const [whole, before, secret, after] = found as [string, string, string, string];
      if (rule.isSecret && !rule.isSecret(secret, after)) return whole;
      kinds.add(rule.kind);
      return `${before}[redacted: ${rule.kind}]${after}`;
    });
  }
  return { text: clean, kinds: [...kinds] };
}

/** One test for the marks that the rules need: nearly all captured text has none and costs no more than this test. */
export function mayHoldSecret(text: string): boolean {
  return MARKS.test(text);
}

const MARKS =
  /A[KS]IA[A-Z0-9]|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|hooks\.slack|[rs]k_(?:live|test)_|sk-|AIza|eyJ|PRIVATE KEY|npm_|SG\.|:\/\/[^\s/@]{0,100}:|authorization|bearer|basic |(?:key|token|secret|passwo?r?d|pwd|credential)[\w-]{0,40}["']?\s{0,8}[:=]/i;

interface Rule {
  kind: string;
  /** A cheap test that must match first. */
  hint: RegExp;
  /** Three groups: what stays before, the secret, what stays after. It must not backtrack. */
  pattern: RegExp;
  isSecret?: (secret: string, after: string) => boolean;
}

/** Built on first use: most processes never need them. */
function rules(): readonly Rule[] {
  known ??= [
    {
      kind: 'private key',
      hint: /PRIVATE KEY/,
      pattern: /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)([^-]{0,20000})((?:-----END [A-Z ]{0,40}-----)?)/g,
    },
    whole('aws key', /A[KS]IA/, /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/),
    whole('github token', /gh[pousr]_|github_pat_/, /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})/),
    whole('gitlab token', /glpat-/, /\bglpat-[\w-]{20,64}/),
    whole('slack token', /xox/, /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}/),
    whole('slack webhook', /hooks\.slack/, /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[\w/]{20,120}/),
    whole('stripe key', /[rs]k_/, /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,247}/),
    whole('anthropic key', /sk-ant-/, /\bsk-ant-[\w-]{20,200}/),
    whole('openai key', /sk-/, /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}/, looksRandom),
    whole('google key', /AIza/, /\bAIza[\w-]{35}(?![\w-])/),
    whole('npm token', /npm_/, /\bnpm_[A-Za-z0-9]{36}\b/),
    whole('sendgrid key', /SG\./, /\bSG\.[\w-]{16,32}\.[\w-]{16,64}/),
    whole('jwt', /eyJ/, /\beyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{10,2000}/),
    {
      kind: 'password in address',
      hint: /:\/\//,
      pattern: /(\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/@"'`<>]{0,100}:)([^\s:/@"'`<>]{1,200})(@)/gi,
      isSecret: isRealValue,
    },
    {
      kind: 'authorization',
      hint: /authorization|bearer|basic /i,
      pattern:
        /(\b(?:authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer |basic |token )?|bearer ))([\w.~+/=-]{16,4000})(["']?)/gi,
      isSecret: (secret) => isRealValue(secret) && /\d/.test(secret),
    },
    {
      kind: 'secret',
      hint: /(?:key|token|secret|passwo?r?d|pwd|credential)/i,
      pattern:
        /(\b[\w-]{0,60}(?:key|token|secret|passwo?r?d|pwd|credentials?)["']?\s{0,4}(?::|=)\s{0,4}["']?)([^\s"'`,;(){}[\]<>]{8,500})(["'(]?)/gi,
      // A value that is called is a function, whatever its name.
      isSecret: (secret, after) => after !== '(' && looksRandom(secret) && isRealValue(secret),
    },
  ];
  return known;
}
let known: readonly Rule[] | undefined;

function whole(kind: string, hint: RegExp, pattern: RegExp, isSecret?: Rule['isSecret']): Rule {
  return { kind, hint, pattern: new RegExp(`()(${pattern.source})()`, 'g'), ...(isSecret ? { isSecret } : {}) };
}

/** False for a placeholder: `$TOKEN`, `%s`, `xxxx`, `your-key-here`, `process.env.KEY`, `***`. */
function isRealValue(secret: string): boolean {
  return !/^[$%{<*]|^(.)\1*$|x{4}|\*{3}|\.{3}|your|example|placeholder|changeme|redacted|dummy|process\.env|secrets\./i.test(
    secret,
  );
}

const RANDOM_CHARS = 12;
const RANDOM_BITS = 3.2;

/** Letters and digits mixed, with much variety: words, paths, versions, dates and identifiers are not random. */
function looksRandom(secret: string): boolean {
  if (secret.length < RANDOM_CHARS || !/\d.*\d/s.test(secret) || !/[a-z]/i.test(secret)) return false;
  if (/^[a-z]+(?:[-_./:][a-z0-9]+)*$/i.test(secret) && longestRun(secret) < RANDOM_CHARS) return false;
  return bitsPerChar(secret) >= RANDOM_BITS;
}

/** The longest piece without punctuation that has both letters and digits. */
function longestRun(text: string): number {
  let longest = 0;
  for (const piece of text.split(/[-_./:]/)) {
    if (piece.length > longest && /\d/.test(piece) && /[a-z]/i.test(piece)) longest = piece.length;
  }
  return longest;
}

function bitsPerChar(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
